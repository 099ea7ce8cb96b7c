//! Tests of the vaglio program against its contract, in `tests/`. This library is shared with the fuzz targets.

pub mod hostile;
