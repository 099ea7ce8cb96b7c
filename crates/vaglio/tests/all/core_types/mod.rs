//! Settings, losses and data against plain loops and known values.

mod brent;
mod classes;
mod concordance;
mod exact_float;
mod formatting;
mod geometry;
mod lambda;
mod loss_classes;
mod model;
mod numbers;
mod numerals;
mod penalty;
mod power_of_two;
mod prediction_units;
mod probability;
mod problem;
mod ridge;
mod round;
mod standard_error;
mod stop_reason;
mod suggestion;
mod table;
