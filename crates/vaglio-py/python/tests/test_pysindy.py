"""The optimizer for pysindy that the book shows."""

import pytest

pytest.importorskip("pysindy")

from pysindy_subsets import TRUE, CertifiedSubsets, found  # noqa: E402


def test_equations_of_the_lorenz_system_are_found_and_proven():
    optimizer = CertifiedSubsets()
    terms = found(optimizer, noise=0.05, rows=1000)
    assert [set(own) for own in terms] == [set(true) for true in TRUE]
    for own, true in zip(terms, TRUE):
        assert all(abs(own[name] - value) < 0.05 * abs(value) + 0.3 for name, value in true.items()), terms
    assert [certificate["optimal"] for certificate in optimizer.certificates_] == [True] * 3
