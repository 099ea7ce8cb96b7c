"""Types of the parts, made by ``python -m vaglio._stubs``."""

from typing import Any

from vaglio._parts import Part

class Absolute(Part):
    def __init__(
        self,
    ) -> None: ...

class Auc(Part):
    def __init__(
        self,
    ) -> None: ...

class BalancedError(Part):
    def __init__(
        self,
    ) -> None: ...

class BalancedSquared(Part):
    def __init__(
        self,
    ) -> None: ...

class Concordance(Part):
    def __init__(
        self,
    ) -> None: ...

class External(Part):
    program: Any
    settings: Any
    classes: Any
    def __init__(
        self,
        program: Any = ...,
        settings: Any = ...,
        classes: Any = ...,
    ) -> None: ...

class Huber(Part):
    delta: Any
    def __init__(
        self,
        delta: Any = ...,
    ) -> None: ...

class LogLoss(Part):
    clip: Any
    def __init__(
        self,
        clip: Any = ...,
    ) -> None: ...

class Pinball(Part):
    quantile: Any
    def __init__(
        self,
        quantile: Any = ...,
    ) -> None: ...

class Python(Part):
    name: str
    classes: Any
    def __init__(
        self,
        name: str = ...,
        classes: Any = ...,
    ) -> None: ...

class Squared(Part):
    def __init__(
        self,
    ) -> None: ...

class ZeroOne(Part):
    def __init__(
        self,
    ) -> None: ...
