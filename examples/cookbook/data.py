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


def trial():
    """speff2trial 1.0.5 of R: the columns of ACTG175 known before treatment, the treatment, and the CD4 count after 20 weeks."""
    table = pd.read_csv(SOURCES / "ACTG175.txt", sep=" ")
    before = "age wtkg hemo homo drugs karnof oprior z30 preanti race gender str2 strat symptom cd40 cd80".split()
    write(table[["treat", *before, "cd420"]].rename(columns={"cd420": "cd4_week20"}), "trial.csv")


def horses():
    """omersenocak/Horse-Colic-Dataset at 4a8aee3: findings at admission, with the words of the UCI page for codes without an order."""
    table = pd.read_csv(SOURCES / "horse-colic.data", sep=r"\s*;\s*", engine="python", na_values="?", dtype=str)
    table.columns = [name.strip().lower().replace(" ", "_") for name in table.columns]
    table = table.rename(columns={"abdomcentesis_total_protein": "abdominocentesis_protein"})
    words = {
        "surgery": "yes no",
        "temperature_of_extremities": "normal warm cool cold",
        "mucous_membranes": "normal_pink bright_pink pale_pink pale_cyanotic bright_red dark_cyanotic",
        "rectal_examination": "normal increased decreased absent",
        "abdomen": "normal other firm distended_small distended_large",
        "abdominocentesis_appearance": "clear cloudy serosanguinous",
        "outcome": "lived died died",
    }
    for name, said in words.items():
        table[name] = table[name].map({str(code): word for code, word in enumerate(said.split(), 1)})
    table["age"] = table["age"].map({"1": "adult", "9": "young"})
    after = ["hospital_number", "surgical_lesion", "lesion_1", "lesion_2", "lesion_3", "pathology_data"]
    table = table.drop(columns=after).dropna(subset="outcome")
    write(table[[name for name in table if name != "outcome"] + ["outcome"]].drop_duplicates(), "horses.csv")


def weather():
    """vega_datasets 0.9.0: seattle-weather, without the word for the weather, with a sine and a cosine of the year."""
    table = pd.read_csv(SOURCES / "vega_datasets/_data/seattle-weather.csv").drop(columns="weather")
    date = pd.to_datetime(table["date"])
    year = 2 * np.pi * date.dt.day_of_year / 365.25
    table["date"] = date.dt.strftime("%Y-%m-%d")
    table["season_sine"], table["season_cosine"] = np.sin(year).round(4), np.cos(year).round(4)
    write(table[[name for name in table if name != "temp_max"] + ["temp_max"]], "weather.csv")


def papers():
    """ariddell/corpora-mosteller-wallace-federalist at be5fa0f: papers of Hamilton and Madison, and those in dispute.

    The 300 most frequent words of these papers, per thousand words.
    """
    table = pd.read_csv(SOURCES / "federalist.csv")
    table = table[table["author"].isin(["HAMILTON", "MADISON", "HAMILTON OR MADISON"])]
    words = table["text"].str.replace("<[^>]*>", " ", regex=True).str.lower().str.findall("[a-z]+")
    frequent = words.explode().value_counts().index[:300]
    counts = [[1000 * list_.count(word) / len(list_) for word in frequent] for list_ in words]
    rates = pd.DataFrame(counts, columns=frequent, index=table.index).round(2)
    rates.insert(0, "paper", table["number"])
    disputed = table["author"] == "HAMILTON OR MADISON"
    write(rates[disputed], "papers_disputed.csv")
    write(rates[~disputed].assign(author=table["author"].str.capitalize()), "papers.csv")


if __name__ == "__main__":
    for part in sys.argv[2:]:
        globals()[part]()
