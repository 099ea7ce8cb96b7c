"""Types of the parts, made by ``python -m vaglio._stubs``."""

from typing import Any

from vaglio._parts import Part

class Clip(Part):
    lower: float | None
    upper: float | None
    quantiles: Any
    columns: Any
    scope: Any
    def __init__(
        self,
        lower: float | None = ...,
        upper: float | None = ...,
        quantiles: Any = ...,
        columns: Any = ...,
        scope: Any = ...,
    ) -> None: ...

class Constant(Part):
    name: str
    value: float
    def __init__(
        self,
        name: str = ...,
        value: float = ...,
    ) -> None: ...

class DateParts(Part):
    columns: Any
    parts: Any
    cyclic: Any
    def __init__(
        self,
        columns: Any = ...,
        parts: Any = ...,
        cyclic: Any = ...,
    ) -> None: ...

class Impute(Part):
    how: Any
    indicator: Any
    columns: Any
    scope: Any
    def __init__(
        self,
        how: Any = ...,
        indicator: Any = ...,
        columns: Any = ...,
        scope: Any = ...,
    ) -> None: ...

class Interactions(Part):
    columns: Any
    def __init__(
        self,
        columns: Any,
    ) -> None: ...

class Log1p(Part):
    columns: Any
    def __init__(
        self,
        columns: Any = ...,
    ) -> None: ...

class OneHot(Part):
    rare: int
    unknown: Any
    drop: Any
    columns: Any
    scope: Any
    def __init__(
        self,
        rare: int = ...,
        unknown: Any = ...,
        drop: Any = ...,
        columns: Any = ...,
        scope: Any = ...,
    ) -> None: ...

class Ordinal(Part):
    columns: Any
    order: Any
    unknown: Any
    scope: Any
    def __init__(
        self,
        columns: Any = ...,
        order: Any = ...,
        unknown: Any = ...,
        scope: Any = ...,
    ) -> None: ...

class Polynomial(Part):
    degree: int
    columns: Any
    def __init__(
        self,
        degree: int = ...,
        columns: Any = ...,
    ) -> None: ...

class Power(Part):
    method: Any
    lambda_: Any
    columns: Any
    scope: Any
    def __init__(
        self,
        method: Any = ...,
        lambda_: Any = ...,
        columns: Any = ...,
        scope: Any = ...,
    ) -> None: ...

class Standardize(Part):
    scope: Any
    target: Any
    center: Any
    def __init__(
        self,
        scope: Any = ...,
        target: Any = ...,
        center: Any = ...,
    ) -> None: ...

class TargetEncode(Part):
    smoothing: float
    folds: int
    seed: int | None
    columns: Any
    scope: Any
    def __init__(
        self,
        smoothing: float = ...,
        folds: int = ...,
        seed: int | None = ...,
        columns: Any = ...,
        scope: Any = ...,
    ) -> None: ...

class Window(Part):
    lags: Any
    columns: Any
    horizons: Any
    def __init__(
        self,
        lags: Any = ...,
        columns: Any = ...,
        horizons: Any = ...,
    ) -> None: ...

class Within(Part):
    columns: Any
    def __init__(
        self,
        columns: Any = ...,
    ) -> None: ...
