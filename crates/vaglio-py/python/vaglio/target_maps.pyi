"""Types of the parts, made by ``python -m vaglio._stubs``."""

from typing import Any

from vaglio._parts import Part

class Log(Part):
    smear: Any
    def __init__(
        self,
        smear: Any = ...,
    ) -> None: ...

class Log1p(Part):
    smear: Any
    def __init__(
        self,
        smear: Any = ...,
    ) -> None: ...

class Power(Part):
    method: Any
    lambda_: Any
    smear: Any
    def __init__(
        self,
        method: Any = ...,
        lambda_: Any = ...,
        smear: Any = ...,
    ) -> None: ...

class Rank(Part):
    scores: Any
    smear: Any
    def __init__(
        self,
        scores: Any = ...,
        smear: Any = ...,
    ) -> None: ...
