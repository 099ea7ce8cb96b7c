"""The searches in plain NumPy, by the formulas of the book. Runs in the environment of the peers.

Each function has the columns (columns x rows), the target, the settings of the workload and a clock. It runs the clock
while it computes, and returns the columns in the order in which they came or went, with their scores.
"""
import numpy as np


def starts(rows, folds):
    """Where contiguous folds begin, and the end of the last; the first rows mod folds of them have one row more."""
    return np.cumsum([0] + [rows // folds + (k < rows % folds) for k in range(folds)])


def grid(settings):
    """The penalties: one, or a geometric grid with both ends."""
    penalty = settings["lambda"]
    return np.geomspace(*penalty) if isinstance(penalty, list) else np.array([float(penalty)])


def moments(x, y, folds):
    """Of each fold: A_t, A_v (folds x n x n), B_t, B_v (folds x n), c_v; t trained on, v held out."""
    ends = starts(len(y), folds)
    parts = [(x[:, a:b], y[a:b]) for a, b in zip(ends, ends[1:])]
    held, held_y = np.array([u @ u.T for u, _ in parts]), np.array([u @ v for u, v in parts])
    return held.sum(0) - held, held, held_y.sum(0) - held_y, held_y, np.array([v @ v for _, v in parts])


def greedy(x, y, settings, clock, block=32):
    """Greedy search by leave-one-out as published: G X' is kept and brought up to date, O(mn) a step."""
    (n, m), penalty = x.shape, settings["lambda"]
    chosen, scores = [], []
    with clock:
        a, d, c = y / penalty, np.full(m, 1 / penalty), x / penalty
        for _ in range(settings["steps"]):
            trial = np.empty(n)
            for s in range(0, n, block):
                xs, cs = x[s : s + block], c[s : s + block]
                u = cs / (1 + np.einsum("ij,ij->i", xs, cs))[:, None]
                r = a - u * (xs @ a)[:, None]
                u *= cs
                np.subtract(d, u, out=u)
                r /= u
                trial[s : s + block] = np.einsum("ij,ij->i", r, r)
            trial[chosen] = np.inf
            b = int(np.argmin(trial))
            u = c[b] / (1 + x[b] @ c[b])
            w = c @ x[b]
            a, d = a - u * (x[b] @ a), d - u * c[b]
            for s in range(0, n, block):
                c[s : s + block] -= w[s : s + block, None] * u
            chosen.append(b)
            scores.append(trial[b] / m)
    return {"columns": chosen, "scores": scores}


def greedy_pruned(x, y, settings, clock):
    """The same without G X'. The diagonal of G only falls, which bounds each trial from below by products of X with
    vectors; only trials whose bound lies below the best so far are made."""
    m, penalty, steps = len(y), settings["lambda"], settings["steps"]
    us, gs, chosen, scores = np.empty((steps, m)), np.empty((steps, m)), [], []

    def times_g(v, j):
        return v / penalty - us[:j].T @ (gs[:j] @ v)

    with clock:
        a, d = y / penalty, np.full(m, 1 / penalty)
        s = np.einsum("ij,ij->i", x, x) / penalty
        q = s / penalty
        for j in range(steps):
            weighed = a / (d * d)
            t, r = (x @ np.stack([a, times_g(weighed, j)], 1)).T
            f = t / (1 + s)
            bound = weighed @ a - 2 * f * r + (penalty * f) ** 2 * q
            bound[chosen] = np.inf
            best, b = np.inf, -1
            for i in np.argsort(bound, kind="stable"):
                if bound[i] * (1 - 1e-10) > best:
                    break
                g = times_g(x[i], j)
                u = g / (1 + x[i] @ g)
                z = (a - u * t[i]) / (d - u * g)
                if (z @ z, i) < (best, b):
                    best, b, kept = z @ z, int(i), (g, u)
            g, u = kept
            w, h = (x @ np.stack([g, times_g(g, j)], 1)).T
            c = 1 / (1 + x[b] @ g)
            q += -2 * c * w * h + (c * w) ** 2 * (g @ g)
            s -= c * w * w
            a, d = a - u * t[b], d - u * g
            us[j], gs[j] = u, g
            chosen.append(b)
            scores.append(best / m)
    return {"columns": chosen, "scores": scores}


def forward(x, y, settings, clock):
    """Greedy search by folds, each subset with its own penalty: three products a trial, from the moments."""
    lambdas, steps, m = grid(settings), settings["steps"], len(y)
    chosen, scores, taken = [], [], []
    with clock:
        at, av, bt, bv, c = moments(x, y, settings["folds"])
        (folds, n, _), count = at.shape, len(lambdas)
        diagonal = np.einsum("kii->ki", at)[:, None] + lambdas[None, :, None]
        g, h = np.repeat(bt[:, None], count, 1), np.repeat(-bv[:, None], count, 1)
        q = np.repeat(np.einsum("kii->ki", av)[:, None], count, 1)
        loss = np.repeat(c[:, None], count, 1)
        rows, directions = np.empty((folds, count, steps, n)), np.zeros((folds, count, steps, steps))
        for s in range(steps):
            delta = g / diagonal
            trial = (loss[..., None] + 2 * delta * h + delta**2 * q).sum(0).min(0)
            trial[chosen] = np.inf
            b = int(np.argmin(trial))
            chosen.append(b)
            root = np.sqrt(diagonal[..., b])
            p = np.zeros((folds, count, s + 1))
            p[..., :s] = -(rows[:, :, :s, b][:, :, None] @ directions[:, :, :s, :s])[:, :, 0]
            p[..., s] = 1
            p /= root[..., None]
            r, v = p @ at[:, chosen], p @ av[:, chosen]
            r[..., chosen] += lambdas[None, :, None] * p
            pi = (p * v[..., chosen]).sum(-1)
            along = (directions[:, :, :s, :s] @ v[..., chosen[:s], None])[..., 0]
            z = v - (along[:, :, None] @ rows[:, :, :s])[:, :, 0]
            gamma, eta = g[..., b] / root, h[..., b] / root
            loss = loss + 2 * gamma * eta + gamma**2 * pi
            h += gamma[..., None] * (z - r * pi[..., None]) - r * eta[..., None]
            q += r**2 * pi[..., None] - 2 * r * z
            g -= gamma[..., None] * r
            diagonal -= r**2
            rows[:, :, s], directions[:, :, s, : s + 1] = r, p
            of_lambda = loss.sum(0)
            scores.append(of_lambda.min() / m)
            taken.append(lambdas[np.argmin(of_lambda)])
    return {"columns": chosen, "scores": scores, "lambdas": taken}


def backward(x, y, settings, clock):
    """Backward search by folds from the inverses of all columns, for as many removals as are measured; the rest is scaled by
    the squares of the sizes."""
    lambdas, m, n, removals = grid(settings), len(y), len(x), settings["removals"]
    removed, scores = [], []
    with clock:
        at, av, bt, bv, c = moments(x, y, settings["folds"])
        folds, count = len(at), len(lambdas)
        h, v = np.empty((folds, count, n, n)), np.empty((folds, count, n, n))
        for k in range(folds):
            d, u = np.linalg.eigh(at[k])
            for l, penalty in enumerate(lambdas):
                h[k, l] = (u / (d + penalty)) @ u.T
                v[k, l] = h[k, l] @ av[k] @ h[k, l]
        w = (h @ bt[:, None, :, None])[..., 0]
        residual = w @ av - bv[:, None]
        loss = c[:, None] + (w * (residual - bv[:, None])).sum(-1)
        f = (h @ residual[..., None])[..., 0]
    of_size = [size * size for size in range(n, 1, -1)]
    left = np.arange(n)
    with clock.scaled(sum(of_size) / sum(of_size[:removals])):
        for size in range(n, max(n - removals, 1), -1):
            dh, dv = np.einsum("klii->kli", h), np.einsum("klii->kli", v)
            delta = w / dh
            b = int(np.argmin((loss[..., None] - 2 * delta * f + delta**2 * dv).sum(0).min(0)))
            keep = np.delete(np.arange(size), b)
            r, delta, vb, vbb = h[..., b] / dh[..., b, None], delta[..., b], v[..., b], dv[..., b].copy()
            loss = loss - 2 * delta * f[..., b] + delta**2 * vbb
            f = f - delta[..., None] * vb
            f, w = f - r * f[..., b, None], w - h[..., b] * delta[..., None]
            f, w = f[..., keep], w[..., keep]
            shape = (folds, count, size - 1, size - 1)
            h_new, v_new = np.empty(shape), np.empty(shape)
            for k in range(folds):
                for l in range(count):
                    rk, vk, hk = r[k, l, keep], vb[k, l, keep], h[k, l, keep, b]
                    cross = np.outer(rk, vk - 0.5 * vbb[k, l] * rk)
                    h_new[k, l] = h[k, l][np.ix_(keep, keep)] - np.outer(hk, rk)
                    v_new[k, l] = v[k, l][np.ix_(keep, keep)] - cross - cross.T
            h, v = h_new, v_new
            removed.append(int(left[b]))
            left = left[keep]
            scores.append(loss.sum(0).min() / m)
    return {"columns": removed, "scores": scores, "part": f"{len(removed)} of {n - 1} removals"}


def of_lambdas(x, y, lambdas, folds):
    """The mean loss for each penalty: an eigendecomposition for each fold."""
    at, av, bt, bv, c = moments(x, y, folds)
    loss = np.zeros(len(lambdas))
    for k in range(folds):
        d, u = np.linalg.eigh(at[k])
        w = u @ ((u.T @ bt[k])[:, None] / (d[:, None] + lambdas))
        loss += c[k] - 2 * (bv[k] @ w) + np.einsum("ij,ij->j", w, av[k] @ w)
    return loss / len(y)


def backward_each(x, y, settings, clock):
    """Backward search where every candidate is decomposed in every fold; a few are measured, and scaled by the cubes of
    the sizes."""
    lambdas, n, tried = grid(settings), len(x), settings["candidates"]
    scale = sum(size * (size - 1.0) ** 3 for size in range(2, n + 1)) / (tried * (n - 1.0) ** 3)
    with clock:
        at, av, bt, bv, c = moments(x, y, settings["folds"])
    losses = []
    with clock.scaled(scale):
        for j in range(tried):
            keep = np.delete(np.arange(n), j)
            inner, loss = np.ix_(keep, keep), np.zeros(len(lambdas))
            for k in range(len(at)):
                d, u = np.linalg.eigh(at[k][inner])
                w = u @ ((u.T @ bt[k][keep])[:, None] / (d[:, None] + lambdas))
                loss += c[k] - 2 * (bv[k][keep] @ w) + np.einsum("ij,ij->j", w, av[k][inner] @ w)
            losses.append(loss.min() / len(y))
    return {"first_trials": losses, "part": f"{tried} of {n * (n + 1) // 2 - 1} trials"}


def least(lambdas, curve):
    best = int(np.argmin(curve))
    return {"lambda": lambdas[best], "score": curve[best], "curve": [[l, c] for l, c in zip(lambdas, curve)]}


def penalties(x, y, settings, clock):
    """All columns, the penalty alone."""
    lambdas = grid(settings)
    with clock:
        curve = of_lambdas(x, y, lambdas, settings["folds"])
    return least(lambdas, curve)


def tree(x, y, settings, clock):
    """All subsets, depth first, over the later columns, from the moments of folds."""
    n = len(x)
    with clock:
        at, av, bt, bv, c = moments(x, y, settings["folds"])
        best, best_columns = c.sum(), []
        nodes = [(at + settings["lambda"] * np.eye(n), av, bt, -bv, c, [], 0)]
        while nodes:
            t, q, g, h, loss, columns, first = nodes.pop()
            size = t.shape[1]
            dt, dq = np.einsum("kii->ki", t), np.einsum("kii->ki", q)
            step = g / dt
            trials = (loss[:, None] + 2 * step * h + step**2 * dq).sum(0)
            if trials.min() < best:
                best, best_columns = trials.min(), columns + [first + int(np.argmin(trials))]
            for b in range(size - 1):
                later = slice(b + 1, size)
                rho, delta = t[:, b, later] / dt[:, b, None], step[:, b, None]
                qb, qbb = q[:, b, later], dq[:, b, None]
                cross = rho[:, :, None] * (qb - 0.5 * qbb * rho)[:, None]
                hb = h[:, b, None] + delta * qbb
                nodes.append((
                    t[:, later, later] - rho[:, :, None] * t[:, b, None, later],
                    q[:, later, later] - cross - cross.transpose(0, 2, 1),
                    g[:, later] - rho * g[:, b, None],
                    h[:, later] + delta * qb - rho * hb,
                    loss + 2 * step[:, b] * h[:, b] + step[:, b] ** 2 * dq[:, b],
                    columns + [first + b],
                    first + b + 1,
                ))
    return {"columns": best_columns, "score": best / len(y)}


def elm(x, y, settings, clock):
    """The extreme learning machine with the hidden neurons of `settings`, and its penalty by folds."""
    bias = np.array([unit["bias"] for unit in settings["units"]])
    weights = np.array([unit["weights"] for unit in settings["units"]])
    lambdas = grid(settings)
    with clock:
        curve = of_lambdas(np.tanh(weights @ x + bias[:, None]), y, lambdas, settings["folds"])
    return least(lambdas, curve)


def reservoir(x, y, settings, clock):
    """The echo-state network of `settings`, and its penalty by folds."""
    network, leak, lambdas = settings["network"], settings["leak_rate"], grid(settings)
    bias = np.array(network["bias"])
    inputs, n = np.array(network["input"]).reshape(len(x), -1), len(bias)
    w = np.zeros((n, n))
    for node, (a, b) in enumerate(zip(network["starts"], network["starts"][1:])):
        w[node, network["sources"][a:b]] = network["weights"][a:b]
    with clock:
        driven = x.T @ inputs + bias
        state, states = np.zeros(n), np.empty((len(y), n))
        for t, drive in enumerate(driven):
            state = (1 - leak) * state + leak * np.tanh(w @ state + drive)
            states[t] = state
        curve = of_lambdas(np.ascontiguousarray(states.T), y, lambdas, settings["folds"])
    return least(lambdas, curve)
