"""Types of the parts, made by ``python -m vaglio._stubs``."""

from typing import Any

from vaglio._parts import Part

class Forward(Part):
    folds: Any
    gap: int
    window: Any
    def __init__(
        self,
        folds: Any = ...,
        gap: int = ...,
        window: Any = ...,
    ) -> None: ...

class Given(Part):
    column: str
    def __init__(
        self,
        column: str,
    ) -> None: ...

class MonteCarlo(Part):
    repeats: Any
    fraction: Any
    def __init__(
        self,
        repeats: Any = ...,
        fraction: Any = ...,
    ) -> None: ...

class Repeated(Part):
    folds: Any
    repeats: Any
    def __init__(
        self,
        folds: Any = ...,
        repeats: Any = ...,
    ) -> None: ...
