"""vaglio and its peers in turn, on the same tables."""
import json
import os
import statistics
from pathlib import Path

import agreement
import programs

HERE = Path(__file__).resolve().parent
LONG = 900


class Bench:
    """Where tables lie, which programs run, how often, and how much time a peer may take."""

    def __init__(self, vaglio, environment, cache, threads, repeats, patience):
        self.vaglio, self.environment, self.cache, self.threads = vaglio, environment, cache, threads
        self.repeats, self.patience = repeats, patience

    def table(self, data, csv=False):
        """The path of a table, without its ending; it is made where it is not there."""
        shape = f"{data['rows']}x{data['columns']}" if "columns" in data else str(data["rows"])
        more = [f"{k}{v}" for k, v in data.items() if k not in ("kind", "rows", "columns", "seed")]
        name = "-".join([data["kind"], shape, *more, str(data["seed"])])
        made = programs.run([self.environment.python, HERE / "data.py", self.cache, json.dumps({"name": name, "csv": csv, **data})])
        if made.code != 0:
            raise RuntimeError(f"{name} cannot be made: {made.err.strip()[-600:]}")
        return self.cache / name

    def peer(self, peer, table, settings=None, **more):
        """One run of a peer: what it prints, with the peak of its process."""
        path = self.cache / "job.json"
        path.write_text(json.dumps({"peer": peer, "table": str(table), "settings": settings, **more}))
        finished = programs.run([self.environment.python, HERE / "peer.py", path], self.threads, LONG)
        return {"peak": finished.peak, **programs.answer(finished)}

    def lm_subsets(self, table, settings):
        command = ["Rscript", HERE / "lm_subsets.R", f"{table}.csv", settings["steps"], self.environment.r_library]
        finished = programs.run(command, self.threads, LONG)
        return {"peak": finished.peak, **programs.answer(finished)}

    def ask(self, peer, table, settings, rescore):
        settings = {**settings, **peer.settings}
        if peer.function == "lm_subsets":
            return self.lm_subsets(table, settings)
        return self.peer(peer.function, table, settings, rescore=rescore)

    def workload(self, workload, tell):
        """All repeats of a workload; the answer of every side, the least seconds, and what does not agree."""
        table = self.table(workload.data, csv=any(p.function == "lm_subsets" for p in workload.peers))
        pipeline = {"data": {"train": f"{table}.parquet", "target": "y"}, **workload.pipeline}
        peers = [p for p in workload.peers if p.package not in self.environment.missing]
        spent, runs, answers, failed = {}, [], {}, {}
        for repeat in range(self.repeats):
            finished, selection = self.vaglio.run(workload.name, pipeline)
            runs.append({
                "search": selection["seconds"]["search"],
                "seconds": finished.seconds,
                "cpu": finished.cpu,
                "peak": finished.peak,
                "load": os.getloadavg()[0],
            })
            settings = self.with_model(workload, workload.settings)
            for peer in peers:
                name = peer.function
                if name in failed or spent.get(name, 0.0) > self.patience:
                    continue
                try:
                    answer = self.ask(peer, table, settings, workload.rescore)
                except RuntimeError as error:
                    failed[name] = str(error)
                    continue
                answers.setdefault(name, []).append(answer)
                spent[name] = spent.get(name, 0.0) + answer.get("measured", answer["seconds"])
            tell(f"{workload.name}: {repeat + 1} of {self.repeats}")
        row = {
            "name": workload.name,
            "title": workload.title,
            "bytes": 8 * workload.data["rows"] * (workload.data.get("columns", 1) + 1),
            "vaglio": {**least(runs), "score": selection["score"], "lambda": selection.get("lambda"), "runs": runs},
            "peers": [],
            "faults": [],
        }
        whole = next((a[0]["curve"] for p in peers if p.agree == "penalty" and (a := answers.get(p.function))), [])
        for peer in workload.peers:
            name = peer.function
            row["peers"].append(self.told(peer, answers.get(name), failed.get(name), selection, row, whole))
        if workload.rescore:
            row["retrained"] = self.retrained(workload, table, selection, row)
        return row

    def with_model(self, workload, settings):
        """Random neurons and nodes are vaglio's: peers get them from the model that it wrote."""
        wanted = settings.get("model")
        if not wanted:
            return settings
        return {**settings, wanted: find(self.vaglio.model(workload.name), wanted)}

    def told(self, peer, answers, failure, selection, row, whole):
        """The line of one peer, with its ratio and whether it agrees; `whole` has scores of all λ, where known."""
        line = {"function": peer.function, "label": peer.label, "package": peer.package}
        line["version"] = self.environment.versions.get(peer.package)
        if peer.package in self.environment.missing:
            return {**line, "missing": self.environment.missing[peer.package]}
        if not answers:
            row["faults"].append(f"{peer.label}: {failure}")
            return {**line, "failed": failure}
        difference, said = agreement.compare(peer.agree, {"reference": whole, **answers[0]}, selection, peer.tolerance)
        if difference:
            row["faults"].append(f"{peer.label}: {difference}")
        best = least([{k: a[k] for k in ("seconds", "cpu", "peak")} for a in answers])
        ratio = best["seconds"] / max(row["vaglio"]["search"], 1e-4)
        part = answers[0].get("part")
        return {**line, **best, "ratio": ratio, "part": part, "runs": len(answers), "agrees": difference or said}

    def retrained(self, workload, table, selection, row):
        """The relative difference of vaglio's score to plain retraining on the columns that it chose."""
        sets = [agreement.chosen(selection)]
        found = self.peer("rescore", table, rescore=workload.rescore, sets=sets)["losses"][0]
        off = agreement.worst([(found, selection["score"])])
        if off > 1e-9:
            row["faults"].append(f"plain retraining has {found!r}, vaglio {selection['score']!r}")
        return off

    def reading(self, data, tell):
        """Seconds until a search can begin: vaglio from the start of its process, pyarrow from opening to NumPy arrays."""
        table = self.table(data)
        pipeline = {
            "data": {"train": f"{table}.parquet", "target": "y"},
            "criterion": {"kind": "loo", "loss": "squared"},
            "search": {"kind": "rank", "max_features": 1, "choose": "last"},
            "learner": {"kind": "rls", "lambda": 1.0, "intercept": False},
        }
        ours, whole, peak, theirs, their_peak = [], [], [], [], []
        for _ in range(self.repeats):
            finished, selection = self.vaglio.run("reading", pipeline)
            seconds = selection["seconds"]
            ours.append(seconds["read"])
            whole.append(finished.seconds - (seconds["total"] - seconds["read"]))
            peak.append(finished.peak)
            answer = self.peer("reading", table)
            theirs.append(answer["seconds"])
            their_peak.append(answer["peak"])
        tell("reading: done")
        return {
            "rows": data["rows"],
            "columns": data["columns"],
            "bytes": 8 * data["rows"] * (data["columns"] + 1),
            "vaglio": min(ours),
            "vaglio_from_start": min(whole),
            "vaglio_peak": statistics.median(peak),
            "pyarrow": min(theirs),
            "pyarrow_peak": statistics.median(their_peak),
        }


def least(runs):
    """Of several runs the least seconds, and the median of the peaks."""
    made = {key: min(run[key] for run in runs) for key in runs[0] if key != "load"}
    return {**made, "peak": statistics.median(run["peak"] for run in runs)}


def find(document, key):
    """The first value of a key, anywhere in a document."""
    if isinstance(document, dict):
        if key in document:
            return document[key]
        document = list(document.values())
    if isinstance(document, list):
        for value in document:
            found = find(value, key)
            if found is not None:
                return found
    return None
