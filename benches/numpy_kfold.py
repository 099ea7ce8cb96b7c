"""K-fold ridge searches by moments in NumPy: the same data, formulas and output as the Rust benchmark `kfold`.

OMP_NUM_THREADS=1 python benches/numpy_kfold.py [forward] [backward] [tree]
"""
import argparse
import time

import numpy as np


def uniform(seed, count):
    """Noise of unit variance from splitmix64, entry t from seed + (t + 1) * odd constant."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return ((z >> np.uint64(11)).astype(float) * 2.0**-53 * 2 - 1) * np.sqrt(3)


def sparse_linear(seed, rows, columns, effects, noise):
    x = uniform(seed, rows * columns).reshape(rows, columns)
    for j in range(1, columns):
        x[:, j] = 0.5 * x[:, j - 1] + np.sqrt(0.75) * x[:, j]
    y = noise * uniform(seed + 1000, rows)
    for t in range(min(effects, columns)):
        y += (-1) ** t / (1 + 0.1 * t) * x[:, (t * 37 + 5) % columns]
    return x, y


def moments(x, y, folds):
    """Of each fold: A_t, A_v (folds x n x n), B_t, B_v (folds x n), c_v."""
    of_row = np.arange(len(y)) * folds // len(y)
    starts = np.searchsorted(of_row, np.arange(folds + 1))
    parts = [(x[a:b], y[a:b]) for a, b in zip(starts, starts[1:])]
    held, held_y = np.array([u.T @ u for u, _ in parts]), np.array([u.T @ v for u, v in parts])
    return held.sum(0) - held, held, held_y.sum(0) - held_y, held_y, np.array([v @ v for _, v in parts])


def forward(moments, lambdas, steps):
    """Each step adds the column with the least loss over lambda; returns the last losses."""
    at, av, bt, bv, c = moments
    (folds, n, _), count = at.shape, len(lambdas)
    diagonal = np.einsum("kii->ki", at)[:, None] + lambdas[None, :, None]
    g, h = np.repeat(bt[:, None], count, 1), np.repeat(-bv[:, None], count, 1)
    q = np.repeat(np.einsum("kii->ki", av)[:, None], count, 1)
    loss = np.repeat(c[:, None], count, 1)
    rows, directions, chosen = np.empty((folds, count, steps, n)), np.zeros((folds, count, steps, steps)), []
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
        r = p @ at[:, chosen]
        v = p @ av[:, chosen]
        r[..., chosen] += lambdas[None, :, None] * p
        pi = (p * v[..., chosen]).sum(-1)
        along = (directions[:, :, :s, :s] @ v[..., chosen[:s], None])[..., 0]
        x = v - (along[:, :, None] @ rows[:, :, :s])[:, :, 0]
        gamma, eta = g[..., b] / root, h[..., b] / root
        loss = loss + 2 * gamma * eta + gamma**2 * pi
        h += gamma[..., None] * (x - r * pi[..., None]) - r * eta[..., None]
        q += r**2 * pi[..., None] - 2 * r * x
        g -= gamma[..., None] * r
        diagonal -= r**2
        rows[:, :, s], directions[:, :, s, : s + 1] = r, p
    return loss.sum(0)


def backward(moments, lambdas, limit):
    """Removes the column with the least loss over lambda until one is left, or `limit` seconds are over."""
    at, av, bt, bv, c = moments
    (folds, n, _), count = at.shape, len(lambdas)
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
    start, size = time.perf_counter(), n
    while size > 1 and time.perf_counter() - start < limit:
        dh, dv = np.einsum("klii->kli", h), np.einsum("klii->kli", v)
        delta = w / dh
        b = int(np.argmin((loss[..., None] - 2 * delta * f + delta**2 * dv).sum(0).min(0)))
        keep = np.delete(np.arange(size), b)
        r, delta, vb, vbb = h[..., b] / dh[..., b, None], delta[..., b], v[..., b], dv[..., b].copy()
        loss = loss - 2 * delta * f[..., b] + delta**2 * vbb
        f = f - delta[..., None] * vb
        f, w = f - r * f[..., b, None], w - h[..., b] * delta[..., None]
        f, w = f[..., keep], w[..., keep]
        h_new, v_new = np.empty((folds, count, size - 1, size - 1)), np.empty((folds, count, size - 1, size - 1))
        for k in range(folds):
            for l in range(count):
                rk, vk, hk = r[k, l, keep], vb[k, l, keep], h[k, l, keep, b]
                cross = np.outer(rk, vk - 0.5 * vbb[k, l] * rk)
                h_new[k, l] = h[k, l][np.ix_(keep, keep)] - np.outer(hk, rk)
                v_new[k, l] = v[k, l][np.ix_(keep, keep)] - cross - cross.T
        h, v, size = h_new, v_new, size - 1
    return loss.sum(0), size


def tree(moments, penalty):
    """All subsets, depth first, over the later columns; returns the least loss and how many."""
    at, av, bt, bv, c = moments
    n = at.shape[1]
    best, subsets = c.sum(), 1
    open_nodes = [(at + penalty * np.eye(n), av, bt, -bv, c)]
    while open_nodes:
        t, q, g, h, loss = open_nodes.pop()
        size = t.shape[1]
        dt, dq = np.einsum("kii->ki", t), np.einsum("kii->ki", q)
        step = g / dt
        best = min(best, (loss[:, None] + 2 * step * h + step**2 * dq).sum(0).min())
        subsets += size
        for b in range(size - 1):
            later = slice(b + 1, size)
            rho, delta = t[:, b, later] / dt[:, b, None], step[:, b, None]
            qb, qbb = q[:, b, later], dq[:, b, None]
            cross = rho[:, :, None] * (qb - 0.5 * qbb * rho)[:, None]
            hb = h[:, b, None] + delta * qbb
            open_nodes.append((
                t[:, later, later] - rho[:, :, None] * t[:, b, None, later],
                q[:, later, later] - cross - cross.transpose(0, 2, 1),
                g[:, later] - rho * g[:, b, None],
                h[:, later] + delta * qb - rho * hb,
                loss + 2 * step[:, b] * h[:, b] + step[:, b] ** 2 * dq[:, b],
            ))
    return best, subsets


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("searches", nargs="*", default=["forward", "backward", "tree"])
    parser.add_argument("--limit", type=float, default=120, help="seconds after which backward stops")
    arguments = parser.parse_args()
    for search in arguments.searches:
        seed, rows, n, folds, effects, noise = {
            "forward": (2, 16281, 400, 10, 50, 1.0),
            "backward": (3, 345000, 200, 23, 50, 1.0),
            "tree": (6, 500, 20, 10, 10, 2.0),
        }[search]
        x, y = sparse_linear(seed, rows, n, effects, noise)
        start = time.perf_counter()
        products = moments(x, y, folds)
        made = time.perf_counter()
        if search == "forward":
            loss, note = forward(products, np.logspace(-4, 6, 50), 100).min(), "100 columns"
        elif search == "backward":
            loss, left = backward(products, np.logspace(-4, 6, 60), arguments.limit)
            loss, note = loss.min(), f"{left} left"
        else:
            loss, subsets = tree(products, 1.0)
            note = f"{subsets} subsets"
        end = time.perf_counter()
        print(f"{search:9} moments {made - start:.3f} + {end - made:.3f} = {end - start:.3f}; {note}; error {loss / rows:.9f}")


if __name__ == "__main__":
    main()
