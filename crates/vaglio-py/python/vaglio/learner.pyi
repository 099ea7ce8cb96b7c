"""Types of the parts, made by ``python -m vaglio._stubs``."""

from typing import Any

from vaglio._parts import Part

class Crrr(Part):
    lambda_: Any
    intercept: Any
    def __init__(
        self,
        lambda_: Any = ...,
        intercept: Any = ...,
    ) -> None: ...

class Elm(Part):
    units: int
    activation: Any
    input_scaling: float
    bias_scaling: float
    direct: Any
    seed: int | None
    lambda_: Any
    intercept: Any
    def __init__(
        self,
        units: int = ...,
        activation: Any = ...,
        input_scaling: float = ...,
        bias_scaling: float = ...,
        direct: Any = ...,
        seed: int | None = ...,
        lambda_: Any = ...,
        intercept: Any = ...,
    ) -> None: ...

class External(Part):
    program: Any
    settings: Any
    def __init__(
        self,
        program: Any = ...,
        settings: Any = ...,
    ) -> None: ...

class FsLsSvm(Part):
    landmarks: int
    kernel: Any
    scaling: Any
    seed: int | None
    lambda_: Any
    intercept: Any
    def __init__(
        self,
        landmarks: int = ...,
        kernel: Any = ...,
        scaling: Any = ...,
        seed: int | None = ...,
        lambda_: Any = ...,
        intercept: Any = ...,
    ) -> None: ...

class KernelLogistic(Part):
    lambda_: float
    bandwidth: Any
    def __init__(
        self,
        lambda_: float = ...,
        bandwidth: Any = ...,
    ) -> None: ...

class Knn(Part):
    neighbours: int
    weights: Any
    def __init__(
        self,
        neighbours: int = ...,
        weights: Any = ...,
    ) -> None: ...

class Reservoir(Part):
    units: int
    spectral_radius: float
    connectivity: float
    leak_rate: float
    input_scaling: float
    bias_scaling: float
    warmup: int
    direct: Any
    decision: Any
    balanced: Any
    seed: int | None
    lambda_: Any
    intercept: Any
    def __init__(
        self,
        units: int = ...,
        spectral_radius: float = ...,
        connectivity: float = ...,
        leak_rate: float = ...,
        input_scaling: float = ...,
        bias_scaling: float = ...,
        warmup: int = ...,
        direct: Any = ...,
        decision: Any = ...,
        balanced: Any = ...,
        seed: int | None = ...,
        lambda_: Any = ...,
        intercept: Any = ...,
    ) -> None: ...

class Rls(Part):
    lambda_: Any
    intercept: Any
    def __init__(
        self,
        lambda_: Any = ...,
        intercept: Any = ...,
    ) -> None: ...
