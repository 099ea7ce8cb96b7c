"""Equations of a dynamical system by best subsets that are proven, as an optimizer of pysindy.

python pysindy_subsets.py [NOISE]: the Lorenz system from noisy derivatives, beside the optimizers of pysindy.
"""

import sys

import numpy as np
from pysindy.optimizers.base import BaseOptimizer

import vaglio


# ANCHOR: optimizer
class CertifiedSubsets(BaseOptimizer):
    """For each equation the best subset of terms of every size up to `max_terms`, and of these sizes that of the least BIC."""

    def __init__(self, max_terms=6, lambda_=1e-9, normalize_columns=False, copy_X=True, unbias=True):
        super().__init__(normalize_columns=normalize_columns, copy_X=copy_X, unbias=unbias)
        self.max_terms = max_terms
        self.lambda_ = lambda_

    def _reduce(self, x, y):
        self.coef_ = np.zeros((y.shape[1], x.shape[1]))
        self.certificates_ = []
        for equation, target in zip(self.coef_, y.T):
            selector = vaglio.Selector(
                vaglio.criterion.Information(measure="bic"),
                vaglio.search.Exhaustive(max_features=self.max_terms, choose="best"),
                vaglio.learner.Rls(lambda_=self.lambda_, intercept=False),
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


def found(optimizer, noise, degree=3, rows=2000):
    """The terms that an optimizer finds, for each equation, among products up to a degree."""
    import pysindy

    times, states, slopes = lorenz(noise, rows)
    library = pysindy.PolynomialLibrary(degree=degree, include_bias=False)
    model = pysindy.SINDy(optimizer=optimizer, feature_library=library)
    model.fit(states, t=times, x_dot=slopes, feature_names=["x", "y", "z"])
    names = model.get_feature_names()
    return [{name: c for name, c in zip(names, row) if c} for row in model.coefficients()]


def main(noise):
    """Print how many terms each optimizer gets right and wrong."""
    import pysindy

    for optimizer in (CertifiedSubsets(), pysindy.STLSQ(threshold=0.1), pysindy.SR3(), pysindy.SSR()):
        terms = found(optimizer, noise)
        right = sum(len(own.keys() & true.keys()) for own, true in zip(terms, TRUE))
        wrong = sum(len(own.keys() - true.keys()) for own, true in zip(terms, TRUE))
        print(f"{type(optimizer).__name__}: {right} of 7 terms, {wrong} others")
        if isinstance(optimizer, CertifiedSubsets):
            print(f"  proven: {[certificate['optimal'] for certificate in optimizer.certificates_]}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.1)
