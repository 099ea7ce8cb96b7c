//! Tests of the vaglio program against its contract; they are in `tests/`. Here is what they share with the fuzz targets.

pub mod hostile;
