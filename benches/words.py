"""Fifty words of Reuters-21578: vaglio beside scikit-learn and abess on the same split, with seconds and memory of each way.

python benches/words.py --vaglio target/release/vaglio --data ../shared/data [--topics earn,acq,money_fx] [--abess FOLDER]

Needs scikit-learn and pandas. Every way runs alone, in a process of one thread, on the same training documents; F1 and AUC are
of the test documents. Seconds are of the processor: of vaglio those of the whole run, reading and report included, of others
those of the fit. scikit-learn's SequentialFeatureSelector would take hours: its seconds are those of a few of its fits, times
as many as it makes. `--abess` is a folder that `pip install --target FOLDER abess` filled.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

THREADS = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
WORDS = 50
RIDGE = 1.0
SCREENED = 1000
CRITERIA = {"vaglio, loo": "loo", "vaglio, kfold": "{kind: kfold, folds: 10, stratified: true}"}
WAYS = ["chi2", "lasso", "abess", "sequential"]


def documents(data, topic):
    """Counts of words (CSC), +1 or -1 of each document, and which are tested."""
    import numpy as np
    import pandas as pd
    import scipy.sparse as sparse

    counts = sparse.load_npz(data / "reuters_words.npz").astype(float).tocsc()
    topics = pd.read_csv(data / "reuters_topics.csv")
    return counts, np.where(topics[topic] == 1, 1.0, -1.0), (topics["part"] == "test").to_numpy()


def ridge_on(columns, counts, y, test):
    """Scores of test documents by a ridge regression on some words."""
    from sklearn.linear_model import Ridge

    dense = counts[:, columns].toarray()
    return Ridge(alpha=RIDGE).fit(dense[~test], y[~test]).predict(dense[test])


def chi2(counts, y, test):
    import numpy as np
    from sklearn.feature_selection import SelectKBest
    from sklearn.feature_selection import chi2 as statistic

    chosen = np.flatnonzero(SelectKBest(statistic, k=WORDS).fit(counts[~test], y[~test]).get_support())
    return ridge_on(chosen, counts, y, test), len(chosen)


def lasso(counts, y, test):
    from sklearn.linear_model import LassoCV

    # Below a thirtieth of the largest penalty its fits take minutes each.
    model = LassoCV(cv=10, alphas=20, eps=0.03).fit(counts[~test], y[~test])
    return model.predict(counts[test]), int((model.coef_ != 0).sum())


def abess(counts, y, test):
    """Of the words that are most correlated with the target: given all of them, abess does not end in four minutes."""
    import numpy as np
    from abess.linear import LinearRegression
    from sklearn.feature_selection import SelectKBest, r_regression

    def correlation(x, y):
        return np.abs(r_regression(x, y))

    screened = np.flatnonzero(SelectKBest(correlation, k=SCREENED).fit(counts[~test], y[~test]).get_support())
    model = LinearRegression(support_size=WORDS, thread=1).fit(counts[~test][:, screened].toarray(), y[~test])
    chosen = screened[np.flatnonzero(model.coef_)]
    return ridge_on(chosen, counts, y, test), len(chosen)


def sequential(counts, y, test):
    """No scores: the seconds that fifty steps of ten folds would take, from fits of a few candidates."""
    import numpy as np
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import cross_val_score

    training, random = counts[~test], np.random.default_rng(0)
    seconds, few = 0.0, 8
    for size in (1, 10, 20, 30, 40, 50):
        start = time.process_time()
        for _ in range(few):
            columns = random.choice(counts.shape[1], size, replace=False)
            cross_val_score(Ridge(alpha=RIDGE), training[:, columns], y[~test], cv=10)
        seconds += (time.process_time() - start) / few * counts.shape[1] * WORDS / 6
    return None, seconds


def one_way(way, data, topic):
    """Runs a way in this process; prints its figures as JSON."""
    counts, y, test = documents(data, topic)
    start = time.process_time()
    scores, size = globals()[way](counts, y, test)
    found = {"seconds": time.process_time() - start}
    if scores is None:
        found.update(seconds=size, estimated=True)
    else:
        f1, auc = f1_and_auc(y[test], scores)
        found.update(words=size, f1=f1, auc=auc)
    print(json.dumps(found))


def f1_and_auc(truth, scores):
    from sklearn.metrics import f1_score, roc_auc_score

    return f1_score(truth > 0, scores > 0), roc_auc_score(truth > 0, scores)


def measured(command, **more):
    """What a command prints, its seconds of the processor and its peak memory in MB."""
    environment = {**os.environ, **dict.fromkeys(THREADS, "1"), **more}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError(f"{command[0]} failed")
    return out, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def vaglio(program, data, topic, criterion):
    """Seconds of all and of the search alone, memory, words, F1 and AUC."""
    import pandas as pd

    _, y, test = documents(data, topic)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "p.yaml").write_text(
            f"version: 1\ndata:\n  train: {data / 'reuters_words.npz'}\n"
            f"  target: {{file: {data / 'reuters_topics.csv'}, column: {topic}}}\n"
            f'  test_rows: {{column: part, is: test}}\n  task: binary\n  positive: "1"\n'
            f"learner: {{kind: rls, lambda: {RIDGE}}}\ncriterion: {criterion}\n"
            f"search: {{kind: greedy, max_features: {WORDS}, choose: last}}\n"
        )
        run = [program, "run", folder / "p.yaml", "--out", folder / "o", "--threads", "1", "--quiet"]
        # What the system says of memory counts this process until the program stands in its place.
        _, seconds, _ = measured(run)
        record = json.loads((folder / "o" / "selection.json").read_text())
        predict = [program, "predict", "--model", folder / "o" / "model.json", "--out", folder / "p.csv"]
        subprocess.run([*predict, "--data", data / "reuters_words.npz"], check=True, capture_output=True)
        scores = pd.read_csv(folder / "p.csv")["prediction"].to_numpy()[test]
    f1, auc = f1_and_auc(y[test], scores)
    search, memory = record["seconds"]["search"], record["peak_memory_bytes"] / 1e6
    return {"seconds": seconds, "search": search, "memory": memory, "words": len(record["selected"]), "f1": f1, "auc": auc}


def row(topic, way, found):
    def figure(key, form):
        return form.format(found[key]) if key in found else ""

    seconds = f"about {found['seconds']:.0f}" if found.get("estimated") else f"{found['seconds']:.2f}"
    cells = [f"`{topic}`", way, figure("words", "{}"), figure("f1", "{:.3f}"), figure("auc", "{:.3f}"), seconds]
    return "| " + " | ".join([*cells, figure("memory", "{:.0f}")]) + " |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vaglio", default="target/release/vaglio")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--topics", default="earn,acq,money_fx")
    parser.add_argument("--ways", default=",".join([*CRITERIA, *WAYS]).replace("vaglio, ", ""))
    parser.add_argument("--abess")
    parser.add_argument("--way", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.data = arguments.data.resolve()
    if arguments.way:
        return one_way(arguments.way, arguments.data, arguments.topics)
    wanted = arguments.ways.split(",")
    print("| topic | way | words | F1 | AUC | CPU seconds | MB |\n|---|---|---:|---:|---:|---:|---:|", flush=True)
    for topic in arguments.topics.split(","):
        for way, criterion in CRITERIA.items():
            if way.removeprefix("vaglio, ") in wanted:
                found = vaglio(arguments.vaglio, arguments.data, topic, criterion)
                print(row(topic, f"{way} (search {found['search']:.2f} s)", found), flush=True)
        for way in [way for way in WAYS if way in wanted]:
            path = os.pathsep.join(filter(None, [arguments.abess if way == "abess" else None, os.environ.get("PYTHONPATH")]))
            command = [sys.executable, __file__, "--data", str(arguments.data), "--topics", topic, "--way", way]
            try:
                out, _, memory = measured(command, PYTHONPATH=path)
            except RuntimeError as error:
                print(f"| `{topic}` | {way} | {error} |", flush=True)
                continue
            print(row(topic, way, {**json.loads(out), "memory": memory}), flush=True)


if __name__ == "__main__":
    main()
