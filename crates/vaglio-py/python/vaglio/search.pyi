"""Types of the parts, made by ``python -m vaglio._stubs``."""

from typing import Any

from vaglio._parts import Part

class All(Part):
    max_features: int | None
    min_features: int | None
    tolerance: float | None
    patience: int | None
    forced: Any
    excluded: Any
    choose: Any
    blocks: Any
    polish: Any
    constraints: Any
    def __init__(
        self,
        max_features: int | None = ...,
        min_features: int | None = ...,
        tolerance: float | None = ...,
        patience: int | None = ...,
        forced: Any = ...,
        excluded: Any = ...,
        choose: Any = ...,
        blocks: Any = ...,
        polish: Any = ...,
        constraints: Any = ...,
    ) -> None: ...

class Backward(Part):
    max_features: int | None
    min_features: int | None
    step: int | float
    tolerance: float | None
    patience: int | None
    forced: Any
    excluded: Any
    choose: Any
    blocks: Any
    polish: Any
    constraints: Any
    def __init__(
        self,
        max_features: int | None = ...,
        min_features: int | None = ...,
        step: int | float = ...,
        tolerance: float | None = ...,
        patience: int | None = ...,
        forced: Any = ...,
        excluded: Any = ...,
        choose: Any = ...,
        blocks: Any = ...,
        polish: Any = ...,
        constraints: Any = ...,
    ) -> None: ...

class Beam(Part):
    max_features: int | None
    min_features: int | None
    width: int
    tolerance: float | None
    patience: int | None
    forced: Any
    excluded: Any
    choose: Any
    blocks: Any
    polish: Any
    constraints: Any
    def __init__(
        self,
        max_features: int | None = ...,
        min_features: int | None = ...,
        width: int = ...,
        tolerance: float | None = ...,
        patience: int | None = ...,
        forced: Any = ...,
        excluded: Any = ...,
        choose: Any = ...,
        blocks: Any = ...,
        polish: Any = ...,
        constraints: Any = ...,
    ) -> None: ...

class Exhaustive(Part):
    max_features: int | None
    min_features: int | None
    alternatives: Any
    tolerance: float | None
    patience: int | None
    forced: Any
    excluded: Any
    choose: Any
    blocks: Any
    polish: Any
    constraints: Any
    def __init__(
        self,
        max_features: int | None = ...,
        min_features: int | None = ...,
        alternatives: Any = ...,
        tolerance: float | None = ...,
        patience: int | None = ...,
        forced: Any = ...,
        excluded: Any = ...,
        choose: Any = ...,
        blocks: Any = ...,
        polish: Any = ...,
        constraints: Any = ...,
    ) -> None: ...

class Floating(Part):
    max_features: int | None
    min_features: int | None
    tolerance: float | None
    patience: int | None
    forced: Any
    excluded: Any
    choose: Any
    blocks: Any
    polish: Any
    constraints: Any
    def __init__(
        self,
        max_features: int | None = ...,
        min_features: int | None = ...,
        tolerance: float | None = ...,
        patience: int | None = ...,
        forced: Any = ...,
        excluded: Any = ...,
        choose: Any = ...,
        blocks: Any = ...,
        polish: Any = ...,
        constraints: Any = ...,
    ) -> None: ...

class Greedy(Part):
    max_features: int | None
    min_features: int | None
    tolerance: float | None
    patience: int | None
    forced: Any
    excluded: Any
    choose: Any
    blocks: Any
    polish: Any
    constraints: Any
    def __init__(
        self,
        max_features: int | None = ...,
        min_features: int | None = ...,
        tolerance: float | None = ...,
        patience: int | None = ...,
        forced: Any = ...,
        excluded: Any = ...,
        choose: Any = ...,
        blocks: Any = ...,
        polish: Any = ...,
        constraints: Any = ...,
    ) -> None: ...

class Lars(Part):
    max_features: int | None
    min_features: int | None
    lasso: Any
    coefficients: Any
    penalties: Any
    tolerance: float | None
    patience: int | None
    forced: Any
    excluded: Any
    choose: Any
    blocks: Any
    polish: Any
    constraints: Any
    def __init__(
        self,
        max_features: int | None = ...,
        min_features: int | None = ...,
        lasso: Any = ...,
        coefficients: Any = ...,
        penalties: Any = ...,
        tolerance: float | None = ...,
        patience: int | None = ...,
        forced: Any = ...,
        excluded: Any = ...,
        choose: Any = ...,
        blocks: Any = ...,
        polish: Any = ...,
        constraints: Any = ...,
    ) -> None: ...

class Random(Part):
    max_features: int | None
    min_features: int | None
    repeats: int
    seed: int | None
    tolerance: float | None
    patience: int | None
    forced: Any
    excluded: Any
    choose: Any
    blocks: Any
    polish: Any
    constraints: Any
    def __init__(
        self,
        max_features: int | None = ...,
        min_features: int | None = ...,
        repeats: int = ...,
        seed: int | None = ...,
        tolerance: float | None = ...,
        patience: int | None = ...,
        forced: Any = ...,
        excluded: Any = ...,
        choose: Any = ...,
        blocks: Any = ...,
        polish: Any = ...,
        constraints: Any = ...,
    ) -> None: ...

class Rank(Part):
    max_features: int | None
    min_features: int | None
    tolerance: float | None
    patience: int | None
    forced: Any
    excluded: Any
    choose: Any
    blocks: Any
    polish: Any
    constraints: Any
    def __init__(
        self,
        max_features: int | None = ...,
        min_features: int | None = ...,
        tolerance: float | None = ...,
        patience: int | None = ...,
        forced: Any = ...,
        excluded: Any = ...,
        choose: Any = ...,
        blocks: Any = ...,
        polish: Any = ...,
        constraints: Any = ...,
    ) -> None: ...
