"""Makes the tables of the cookbook in `../data` from the packages that hold the originals.

    python data.py SOURCES KIND...

SOURCES is a folder with the unpacked packages; what each part reads below it is said there. Needs numpy, pandas and, for
files of R, rdata.
"""

import gzip
import io
import pathlib
import sys

import numpy as np
import pandas as pd

SOURCES = pathlib.Path(sys.argv[1])
HERE = pathlib.Path(__file__).parent.parent / "data"


def write(table, name):
    """A CSV file, compressed where the name says so, the same bytes each time."""
    text = table.to_csv(index=False, lineterminator="\n").encode()
    if name.endswith(".gz"):
        held = io.BytesIO()
        with gzip.GzipFile(fileobj=held, mode="wb", mtime=0, filename="", compresslevel=9) as packed:
            packed.write(text)
        text = held.getvalue()
    (HERE / name).write_bytes(text)


def hitters():
    """ISLP 0.6.0, unchanged."""
    (HERE / "hitters.csv").write_bytes((SOURCES / "ISLP/data/Hitters.csv").read_bytes())


def tumors():
    """ISLP 0.6.0: both parts of Khan; 1000 of 2308 genes, those that vary most over the training samples; two decimals."""
    read = lambda name: pd.read_csv(SOURCES / f"ISLP/data/Khan_{name}.csv")
    train, test = read("xtrain"), read("xtest")
    genes = sorted(train.var().nlargest(1000).index, key=lambda name: int(name[1:]))
    kinds = {1: "BL", 2: "EWS", 3: "NB", 4: "RMS"}
    kind = pd.concat([read("ytrain"), read("ytest")]).iloc[:, 0].map(kinds).to_numpy()
    table = pd.concat([train, test])[genes].round(2)
    table.insert(0, "part", np.repeat(["train", "test"], [len(train), len(test)]))
    table["tumor"] = kind
    write(table, "tumors.csv.gz")


def raman():
    """chemotools 0.5.0: the 21 mixtures of the fermentation set; all 1047 wavenumbers, and the 410 from 950 to 1500 per cm."""
    of = SOURCES / "chemotools/datasets/data"
    spectra, glucose = pd.read_csv(of / "train_spectra.csv"), pd.read_csv(of / "train_hplc.csv")
    wave = spectra.columns.astype(float).astype(int)
    spectra.columns = [f"w{number}" for number in wave]
    write(spectra.join(glucose), "raman.csv.gz")
    write(spectra.loc[:, (950 <= wave) & (wave <= 1500)].join(glucose), "raman_range.csv.gz")


def counties():
    """pydataset 0.2.0: Crime of the R package plm; crimes and police per thousand persons, the target last."""
    table = pd.read_csv(SOURCES / "resources/rdata/csv/plm/Crime.csv", index_col=0)
    table["polpc"] = (1000 * table["polpc"]).round(6)
    table["crimes"] = (1000 * table.pop("crmrte")).round(6)
    write(table, "counties.csv")


def schools():
    """survey 4.1 of R: the stratified sample apistrat, and of apipop the schools outside of it; complete rows."""
    import rdata

    held = rdata.read_rda(SOURCES / "survey/data/api.rda")
    columns = "stype meals ell mobility not.hsg hsg some.col col.grad grad.sch full emer enroll".split()
    sample, rest = held["apistrat"], held["apipop"]
    rest = rest[~rest["cds"].isin(sample["cds"])].assign(pw=1.0)
    table = pd.concat([sample.assign(part="sample"), rest.assign(part="rest")])
    table = table[["part", "pw", *columns, "api00"]].dropna()
    write(table.rename(columns=lambda name: name.replace(".", "_")), "schools.csv.gz")


if __name__ == "__main__":
    for part in sys.argv[2:]:
        globals()[part]()
