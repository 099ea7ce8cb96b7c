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
    def __init__(
        self,
        similarity: Any = ...,
        alpha: Any = ...,
        bins: Any = ...,
    ) -> None: ...
