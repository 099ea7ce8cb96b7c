"""Tables of what was measured, as Markdown."""
import re

BEGIN, END = "<!-- peers -->", "<!-- /peers -->"


def seconds(value):
    """Two or three digits, in the unit that fits."""
    if value >= 7200:
        return f"{value / 3600:.1f} h"
    if value >= 10:
        return f"{value:.0f} s"
    if value >= 0.1:
        return f"{value:.1f} s" if value >= 1 else f"{value:.2f} s"
    return f"{value * 1000:.0f} ms" if value >= 0.01 else f"{value * 1000:.1f} ms"


def megabytes(value):
    return f"{value / 1e6:.0f} MB" if value < 1e10 else f"{value / 1e9:.0f} GB"


def ratio(value):
    if value >= 1:
        return f"{value:.0f}" if value >= 10 else f"{value:.1f}"
    return f"{value:.2g}"


def peer_table(rows):
    """Seconds of vaglio's search and of each peer's computation with their ratio, and the peaks of both processes."""
    lines = [
        "| | vaglio: search | whole run | beside it | ratio | memory: data, vaglio, peer |",
        "|---|---:|---:|---|---:|---|",
    ]
    for row in rows:
        ours, title = row["vaglio"], row["title"]
        for peer in row["peers"]:
            if "seconds" not in peer:
                told, of, memory = f"{peer['label']}: {absent(peer)}", "", ""
            else:
                part = f" (from {peer['part']})" if peer["part"] else ""
                told = f"{seconds(peer['seconds'])}: {peer['label']}{part}"
                of = ratio(peer["ratio"])
                memory = ", ".join(megabytes(v) for v in (row["bytes"], ours["peak"], peer["peak"]))
            times = f"{seconds(ours['search'])} | {seconds(ours['seconds'])}" if title else " | "
            lines.append(f"| {title} | {times} | {told} | {of} | {memory} |")
            title = ""
    return "\n".join(lines)


def reading_line(found):
    return (
        f"Reading {found['rows']} rows of {found['columns']} columns of Parquet takes vaglio {seconds(found['vaglio'])}, "
        f"{seconds(found['vaglio_from_start'])} from the start of the program to that of the search, the file's hash included; "
        f"pyarrow to NumPy arrays {seconds(found['pyarrow'])}. Peaks are {megabytes(found['vaglio_peak'])} and "
        f"{megabytes(found['pyarrow_peak'])}."
    )


def scaling_table(growths):
    lines = ["| seconds of the search grow with | theory | fitted | between the last two | sizes |", "|---|---:|---:|---:|---|"]
    for g in growths:
        sizes = ", ".join(f"{s}: {seconds(t)}" for s, t in zip(g["sizes"], g["seconds"]))
        lines.append(f"| {g['what']} | {g['theory']} | {g['slope']:.2f} | {g['last']:.2f} | {sizes} |")
    return "\n".join(lines)


def absent(peer):
    """Why a peer has no figures."""
    return f"failed: {peer['failed']}" if "failed" in peer else f"not installed: {peer['missing']}"


def agreement_table(rows):
    lines = []
    for row in rows:
        for peer in row["peers"]:
            told = peer.get("agrees") or absent(peer)
            lines.append(f"{row['name']:11} {peer['label']}: {told}")
        if "retrained" in row:
            lines.append(f"{row['name']:11} plain retraining: score within {row['retrained']:.0e}")
    return "\n".join(lines)


def markdown(result):
    """What goes between the marks of BENCHMARKS.md."""
    versions = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    threads = "1 thread" if result["threads"] == 1 else f"{result['threads']} threads"
    parts = [f"On {threads} each; {versions}."]
    if result["rows"]:
        parts.append(peer_table(result["rows"]))
    if result["reading"]:
        parts.append(reading_line(result["reading"]))
    return "\n\n".join(parts)


def into(path, text):
    """Replaces what stands between the marks of a file."""
    page = path.read_text()
    if BEGIN not in page or END not in page:
        raise SystemExit(f"{path} has no {BEGIN} … {END}")
    path.write_text(re.sub(f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n{text}\n{END}", page, flags=re.DOTALL))
