"""vaglio beside other programs on the same data: python3 benches/peers/run.py

Makes an environment with the other packages, builds vaglio, makes seeded tables, and runs both sides in turn, each in a
process of its own. The answers must agree; where they do not, the exit code is 1. Seconds of vaglio are those of its
search (`seconds.search` of selection.json), seconds of a peer those of its computation, without imports and reading;
of all repeats the least counts. A peer that would take hours is measured in part, and its seconds are scaled by the
number of fits, which the table says.

--quick tries everything on small tables, --only NAME runs some of it (`reading` and `scaling` are names too).
--write writes the table between the marks of BENCHMARKS.md, --out FILE everything as JSON.
"""
import argparse
import json
import os
import platform
import sys
from pathlib import Path

import measure
import programs
import report
import scaling
from environment import Environment
from workloads import sparse, workloads


def tell(text):
    print(text, file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    target = programs.ROOT / "target"
    parser.add_argument("--quick", action="store_true", help="small tables, to try it")
    parser.add_argument("--only", action="append", metavar="NAME", help="this workload; may be given again")
    parser.add_argument("--vaglio", type=Path, help="the program, in place of a release build")
    parser.add_argument("--env", type=Path, default=target / "peers-env", help="folder of the other packages")
    parser.add_argument("--cache", type=Path, default=target / "peers-data", help="folder of tables and runs")
    parser.add_argument("--sources", type=Path, help="folder with sources of packages that no index has, by their names")
    parser.add_argument("--install-r", action="store_true", help="install R by apt-get where it is not there")
    parser.add_argument("--threads", type=int, default=1, help="threads of each side")
    parser.add_argument("--repeats", type=int, default=None, help="runs of each side: 5, with --quick 2")
    parser.add_argument("--patience", type=float, default=60, help="seconds after which a peer is not repeated")
    parser.add_argument("--write", action="store_true", help="write the table into BENCHMARKS.md")
    parser.add_argument("--out", type=Path, help="write everything as JSON")
    return parser.parse_args()


def main():
    options = arguments()
    made = workloads(options.quick)
    names = [workload.name for workload in made] + ["reading", "scaling"]
    wanted = options.only or names
    unknown = [name for name in wanted if name not in names]
    if unknown:
        sys.exit(f"{', '.join(unknown)}: not one of {', '.join(names)}")
    environment = Environment(options.env.resolve(), options.sources and options.sources.resolve(), options.install_r)
    environment.make(tell)
    program = (options.vaglio or programs.build()).resolve()
    cache = options.cache.resolve()
    cache.mkdir(parents=True, exist_ok=True)
    vaglio = programs.Vaglio(program, cache, options.threads)
    repeats = options.repeats or (2 if options.quick else 5)
    bench = measure.Bench(vaglio, environment, cache, options.threads, repeats, options.patience)
    result = {
        "vaglio": vaglio.version(),
        "versions": environment.versions,
        "missing": environment.missing,
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}",
        "threads": options.threads,
        "quick": options.quick,
        "load": os.getloadavg(),
        "rows": [],
        "reading": None,
        "scaling": [],
        "faults": [],
    }
    for workload in made:
        if workload.name in wanted:
            attempt(result, workload.name, lambda w=workload: result["rows"].append(bench.workload(w, tell)), options.out)
    if "reading" in wanted:
        data = sparse(*((3000, 80) if options.quick else (60000, 780)), 1)
        attempt(result, "reading", lambda: result.update(reading=bench.reading(data, tell)), options.out)
    for growth in scaling.growths(options.quick) if "scaling" in wanted else []:
        measured = lambda g=growth: result["scaling"].append(scaling.measure(bench, g, tell))
        attempt(result, growth.name, measured, options.out)
    finish(options, result)


def attempt(result, name, measured, out):
    """Measures one thing and writes what there is so far; what cannot be measured is a fault, and the rest goes on."""
    try:
        measured()
    except RuntimeError as error:
        result["faults"].append(f"{name}: {error}")
    if out:
        out.write_text(json.dumps(result, indent=1))


def finish(options, result):
    """Prints what was measured, and ends with 1 where answers do not agree."""
    text = report.markdown(result)
    grown = [report.scaling_table(result["scaling"])] if result["scaling"] else []
    print(text, *grown, report.agreement_table(result["rows"]), sep="\n\n")
    load = max([result["load"][0], *(run["load"] for row in result["rows"] for run in row["vaglio"]["runs"])])
    if load > options.threads + 0.8:
        tell(f"the load was up to {load:.1f}: other programs ran, and seconds are too large")
    differences = [f"{row['name']}: {fault}" for row in result["rows"] for fault in row["faults"]]
    faults = [*result["faults"], *(f"does not agree: {difference}" for difference in differences)]
    for fault in faults:
        tell(fault)
    if faults:
        sys.exit(1)
    if options.write:
        report.into(programs.ROOT / "BENCHMARKS.md", text)


if __name__ == "__main__":
    main()
