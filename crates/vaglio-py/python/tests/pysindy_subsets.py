"""Equations of a dynamical system by best subsets that are proven, as an optimizer of pysindy.

python pysindy_subsets.py [NOISE…]: the Lorenz system from noisy derivatives, beside the optimizers of pysindy.
"""

import sys
import time

import numpy as np
from pysindy.optimizers.base import BaseOptimizer

import vaglio


# ANCHOR: optimizer
class CertifiedSubsets(BaseOptimizer):
    """For each equation the best subset of terms of every size up to `max_terms` by leave-one-out errors, and of these sizes the
    smallest within one standard error of the lowest cross-validated error."""

    def __init__(self, max_terms=6, lambda_=1e-9, normalize_columns=False, copy_X=True, unbias=True):
        super().__init__(normalize_columns=normalize_columns, copy_X=copy_X, unbias=unbias)
        self.max_terms = max_terms
        self.lambda_ = lambda_

    def _reduce(self, x, y):
        self.coef_ = np.zeros((y.shape[1], x.shape[1]))
        self.certificates_ = []
        for equation, target in zip(self.coef_, y.T):
            selector = vaglio.Selector(
                search=vaglio.search.Exhaustive(max_features=self.max_terms, choose="one_se"),
                learner=vaglio.learner.Rls(lambda_=self.lambda_, intercept=False),
            ).fit(x, target)
            equation[:] = selector.coef_
            self.certificates_.append(selector.certificate_)
# ANCHOR_END: optimizer


def lorenz(noise, rows=2000, seed=0):
    """States of the Lorenz system and their derivatives, with so much noise in these, in parts of their deviation."""
    from scipy.integrate import solve_ivp

    def slope(_, u):
        return [10 * (u[1] - u[0]), u[0] * (28 - u[2]) - u[1], u[0] * u[1] - 8 / 3 * u[2]]

    times = np.linspace(0, 20, rows)
    states = solve_ivp(slope, (0, 20), [-8.0, 8.0, 27.0], t_eval=times, rtol=1e-10, atol=1e-10).y.T
    slopes = np.array([slope(0, u) for u in states])
    return times, states, slopes + noise * slopes.std(axis=0) * np.random.default_rng(seed).normal(size=slopes.shape)


#: Which of x, y and z each term of an equation is of, with its coefficient.
TRUE = [{"x": -10.0, "y": 10.0}, {"x": 28.0, "y": -1.0, "x z": -1.0}, {"z": -8 / 3, "x y": 1.0}]


def found(optimizer, noise, degree=3, rows=2000, seed=0):
    """The terms that an optimizer finds, for each equation, among products up to a degree."""
    import pysindy

    times, states, slopes = lorenz(noise, rows, seed)
    library = pysindy.PolynomialLibrary(degree=degree, include_bias=False)
    model = pysindy.SINDy(optimizer=optimizer, feature_library=library)
    model.fit(states, t=times, x_dot=slopes, feature_names=["x", "y", "z"])
    names = model.get_feature_names()
    return [{name: c for name, c in zip(names, row) if c} for row in model.coefficients()]


def main(noises, seeds=5):
    """Print, for each noise, how many of the 7 terms each optimizer finds, and how many others, on average over draws of noise."""
    import pysindy

    optimizers = {
        "`CertifiedSubsets()`": CertifiedSubsets,
        "`STLSQ(threshold=0.1)`": lambda: pysindy.STLSQ(threshold=0.1),
        "`SR3()`": pysindy.SR3,
        "`SSR()`": pysindy.SSR,
    }
    print("| optimizer |", *(f"noise {noise:g} |" for noise in noises), "seconds |")
    print("|---|" + "---|" * (len(noises) + 1))
    for name, make in optimizers.items():
        cells, start = [], time.perf_counter()
        for noise in noises:
            right = wrong = 0
            for seed in range(seeds):
                for own, true in zip(found(make(), noise, seed=seed), TRUE):
                    right, wrong = right + len(own.keys() & true.keys()), wrong + len(own.keys() - true.keys())
            cells.append(f"{right / seeds:.1f} of 7, {wrong / seeds:.1f} others |")
        print(f"| {name} |", *cells, f"{(time.perf_counter() - start) / seeds / len(noises):.2g} |")


if __name__ == "__main__":
    main([float(noise) for noise in sys.argv[1:]] or [0.05, 0.3, 1.0])
