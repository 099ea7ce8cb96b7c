"""Whether a peer and vaglio found the same. Every function returns what differs, or None, and what to say of it."""
import math


def near(a, b, tolerance):
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=0.0)


def chosen(selection):
    """The columns of a result, by index."""
    return [entry["index"] for entry in selection["selected"]]


def worst(pairs):
    """The largest relative difference of pairs of numbers."""
    return max((abs(a - b) / max(abs(a), abs(b), 1e-300) for a, b in pairs), default=0.0)


def within(pairs):
    off = worst(pairs)
    return f"within {off:.0e}" if off else "equal"


def steps(peer, selection, tolerance):
    ours = [(step["index"], step["score"]) for step in selection["steps"]]
    theirs = list(zip(peer["columns"], peer["scores"]))
    for number, ((i, a), (j, b)) in enumerate(zip(ours, theirs), 1):
        if i != j or not near(a, b, tolerance):
            return f"step {number}: vaglio takes {i} with {a!r}, the peer {j} with {b!r}", ""
    if len(theirs) != len(ours) and not peer.get("part"):
        return f"vaglio takes {len(ours)} steps, the peer {len(theirs)}", ""
    scores = within((a, b) for (_, a), (_, b) in zip(ours, theirs))
    return None, f"{len(theirs)} steps the same, scores {scores}"


def columns(peer, selection, _):
    if peer.get("part"):
        return None, "only a part was measured; --quick compares"
    ours, theirs = set(chosen(selection)), set(peer["columns"])
    if ours != theirs:
        return f"only vaglio takes {sorted(ours - theirs)}, only the peer {sorted(theirs - ours)}", ""
    return None, "the same columns"


def penalty(peer, selection, tolerance):
    ours = selection["lambda"], selection["score"]
    theirs = peer["lambda"], peer["score"]
    if not all(near(a, b, tolerance) for a, b in zip(ours, theirs)):
        return f"vaglio takes λ {ours[0]} with {ours[1]!r}, the peer {theirs[0]} with {theirs[1]!r}", ""
    return None, f"the same λ, scores {within([(ours[1], theirs[1])])}"


def curve(peer, selection, tolerance):
    """vaglio tells the score of one λ; that of every other is the score of the peer that has them all."""
    known = [[selection["lambda"], selection["score"]], *peer.get("reference", [])]
    pairs = []
    for value, score in peer["curve"]:
        if score < selection["score"] * (1 - tolerance):
            return f"the peer has {score!r} at λ {value}, below vaglio's {selection['score']!r}", ""
        same = [other for at, other in known if near(value, at, 1e-9)]
        pairs += [(score, other) for other in same]
        if any(not near(score, other, tolerance) for other in same):
            return f"at λ {value} the peer has {score!r}, others {same}", ""
    return None, f"{len(peer['curve'])} λ, scores {within(pairs)}"


def score(peer, selection, tolerance):
    if peer.get("part"):
        return None, "only a part was measured; --quick compares"
    ours, theirs = selection["score"], peer.get("score", peer.get("loss"))
    if set(chosen(selection)) != set(peer["columns"]):
        return f"vaglio takes {sorted(chosen(selection))}, the peer {sorted(peer['columns'])}", ""
    if not near(ours, theirs, tolerance):
        return f"vaglio has {ours!r}, the peer {theirs!r}", ""
    return None, f"the same columns, scores {within([(ours, theirs)])}"


def trials(peer, selection, tolerance):
    first = selection["steps"][0]
    for index, found in enumerate(peer["first_trials"]):
        if found < first["score"] * (1 - tolerance):
            return f"without column {index} the peer has {found!r}, vaglio takes {first['score']!r}", ""
        if index == first["index"] and not near(found, first["score"], tolerance):
            return f"without column {index} the peer has {found!r}, vaglio {first['score']!r}", ""
    return None, "none of the peer's trials does better"


def loss(peer, selection, _):
    ours, theirs = selection["score"], peer.get("loss", peer.get("own_score"))
    return None, f"loss {ours:.6g}, the peer's {theirs:.6g}"


def not_better(peer, selection, tolerance):
    ours, theirs = selection["score"], peer["loss"]
    if theirs < ours * (1 - tolerance):
        return f"vaglio's least loss is {ours!r}, the peer's {theirs!r}", ""
    return loss(peer, selection, tolerance)


RULES = {
    "steps": steps,
    "set": columns,
    "penalty": penalty,
    "curve": curve,
    "score": score,
    "trials": trials,
    "loss": loss,
    "not better": not_better,
}


def compare(rule, peer, selection, tolerance):
    return RULES[rule](peer, selection, tolerance)
