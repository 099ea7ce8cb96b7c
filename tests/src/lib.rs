//! Tests of the vaglio program against its contract; they are in `tests/`.
