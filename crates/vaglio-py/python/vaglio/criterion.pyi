"""Types of the parts, made by ``python -m vaglio._stubs``."""

from typing import Any

from vaglio._parts import Part

class External(Part):
    program: Any
    settings: Any
    compares_with_empty: Any
    def __init__(
        self,
        program: Any = ...,
        settings: Any = ...,
        compares_with_empty: Any = ...,
    ) -> None: ...

class Fcbf(Part):
    bins: Any
    threshold: float
    def __init__(
        self,
        bins: Any = ...,
        threshold: float = ...,
    ) -> None: ...

class HitonPc(Part):
    test: Any
    level: float
    conditions: int
    bins: Any
    def __init__(
        self,
        test: Any = ...,
        level: float = ...,
        conditions: int = ...,
        bins: Any = ...,
    ) -> None: ...

class Hsfs(Part):
    kernel: Any
    steps: int
    def __init__(
        self,
        kernel: Any = ...,
        steps: int = ...,
    ) -> None: ...

class Hsic(Part):
    kernel: Any
    estimator: Any
    def __init__(
        self,
        kernel: Any = ...,
        estimator: Any = ...,
    ) -> None: ...

class Information(Part):
    measure: Any
    variance: float | None
    def __init__(
        self,
        measure: Any = ...,
        variance: float | None = ...,
    ) -> None: ...

class Kfold(Part):
    folds: Any
    shuffle: Any
    stratified: Any
    by: Any
    assignment: str | None
    splits: Any
    loss: Any
    engine: Any
    def __init__(
        self,
        folds: Any = ...,
        shuffle: Any = ...,
        stratified: Any = ...,
        by: Any = ...,
        assignment: str | None = ...,
        splits: Any = ...,
        loss: Any = ...,
        engine: Any = ...,
    ) -> None: ...

class Loo(Part):
    loss: Any
    def __init__(
        self,
        loss: Any = ...,
    ) -> None: ...

class Mrmr(Part):
    scheme: Any
    def __init__(
        self,
        scheme: Any = ...,
    ) -> None: ...

class MrmrInformation(Part):
    scheme: Any
    bins: Any
    def __init__(
        self,
        scheme: Any = ...,
        bins: Any = ...,
    ) -> None: ...

class Nhsic(Part):
    kernel: Any
    normalize: Any
    normalise: Any
    def __init__(
        self,
        kernel: Any = ...,
        normalize: Any = ...,
        normalise: Any = ...,
    ) -> None: ...

class Python(Part):
    name: str
    compares_with_empty: Any
    def __init__(
        self,
        name: str = ...,
        compares_with_empty: Any = ...,
    ) -> None: ...

class Qpfs(Part):
    similarity: Any
    alpha: Any
    bins: Any
    nystrom: int | None
    def __init__(
        self,
        similarity: Any = ...,
        alpha: Any = ...,
        bins: Any = ...,
        nystrom: int | None = ...,
    ) -> None: ...

class Spam(Part):
    knots: int
    penalties: int
    least: float
    def __init__(
        self,
        knots: int = ...,
        penalties: int = ...,
        least: float = ...,
    ) -> None: ...
