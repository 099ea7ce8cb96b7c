//! Target types of linfa datasets, and their codes.

use linfa::dataset::{AsTargets, TargetDim};
use ndarray::{Array, Array2, Axis};
use std::fmt::Display;
use vaglio_core::{ClassOrder, Error, Result, Task};

/// A target type of linfa datasets: a number (`f64`, `f32`) or a class label (`bool`, `String`, `&str`, any integer).
///
/// Two classes have one output, ±1, with the larger label positive; more have one output each.
pub trait TargetValue: Clone + Default + PartialOrd + Display + Send + Sync {
    /// The target as a number; `None` for labels.
    fn number(&self) -> Option<f64> {
        None
    }

    /// A target from a predicted number; `None` if the type is a label.
    fn from_number(_number: f64) -> Option<Self> {
        None
    }

    /// A target from its text; `None` if the text is not valid.
    fn from_label(_label: &str) -> Option<Self> {
        None
    }
}

/// Implements [`TargetValue`] for types whose text parses back.
macro_rules! target_values {
    (numbers: $($number:ty)*; labels: $($label:ty)*) => {
        $(impl TargetValue for $number {
            fn number(&self) -> Option<f64> {
                Some(f64::from(*self))
            }

            fn from_number(number: f64) -> Option<Self> {
                Some(number as $number)
            }

            fn from_label(label: &str) -> Option<Self> {
                label.parse().ok()
            }
        })*
        $(impl TargetValue for $label {
            fn from_label(label: &str) -> Option<Self> {
                label.parse().ok()
            }
        })*
    };
}

target_values!(numbers: f64 f32; labels: bool String u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// A saved model has no text to borrow from; load its labels as `String`.
impl TargetValue for &str {}

/// Largest number of classes of a target.
const MOST_CLASSES: usize = 1000;

/// Targets of a dataset as numbers, outputs × rows, with their task and the classes in the order of their probabilities;
/// numbers have none.
///
/// # Errors
/// [`Error::Setting`] for a single class, too many classes, or classes in several columns.
pub fn encode<T: AsTargets<Elem = E>, E: TargetValue>(targets: &T) -> Result<(Task, Array2<f64>, Vec<E>)> {
    let targets = targets.as_targets();
    // Iteration is row by row.
    let values: Vec<&E> = targets.iter().collect();
    let columns = if targets.ndim() == 2 { targets.len_of(Axis(1)) } else { 1 };
    if E::from_number(0.0).is_some() {
        let value = |(output, row): (usize, usize)| values[row * columns + output].number().unwrap_or(f64::NAN);
        let targets = Array2::from_shape_fn((columns, targets.len_of(Axis(0))), value);
        return Ok((Task::Regression, targets, Vec::new()));
    }
    let refused = |message: String| Err(Error::setting("targets", message));
    if columns != 1 {
        return refused("several target columns are for regression; give one column of classes".into());
    }
    let mut classes: Vec<E> = values.iter().map(|value| (*value).clone()).collect();
    classes.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    classes.dedup();
    let labels = classes.iter().map(E::to_string).collect();
    let (task, outputs) = match &classes[..] {
        [] => return Err(Error::Shape("the data have no rows".into())),
        [only] => return refused(format!("there is a single class, `{only}`; two are needed")),
        [negative, positive] => {
            (Task::Binary { negative: Some(negative.to_string()), positive: positive.to_string() }, 1)
        }
        several if several.len() > MOST_CLASSES => {
            return refused(format!("there are {} classes; at most {MOST_CLASSES} are taken", several.len()));
        }
        several => (Task::Multiclass { labels }, several.len()),
    };
    // Two classes have one output, for the second of them.
    let first = usize::from(outputs == 1);
    let code = |(output, row): (usize, usize)| if *values[row] == classes[output + first] { 1.0 } else { -1.0 };
    let targets = Array2::from_shape_fn((outputs, values.len()), code);
    Ok((task, targets, classes))
}

/// The classes of a task as values of type `E`; empty for numbers.
///
/// # Errors
/// Says why arrays of `E` with the dimension `I` cannot hold the targets of the task.
pub fn classes_for<E: TargetValue, I: TargetDim>(task: &Task, outputs: usize) -> Result<Vec<E>, String> {
    let is_number = E::from_number(0.0).is_some();
    let labels: Vec<String> = match task {
        Task::Regression if !is_number => return Err("the targets are numbers; use the type `f64`".into()),
        Task::Regression if I::NDIM == Some(1) && outputs > 1 => {
            return Err(format!("there are {outputs} target columns; use the dimension `Ix2`"));
        }
        Task::Regression => return Ok(Vec::new()),
        _ if is_number => return Err("the targets are classes; use the type `String`".into()),
        Task::Binary { .. } | Task::Multiclass { .. } => task.classes(),
    };
    let value = |label: &String| {
        E::from_label(label).ok_or_else(|| format!("the class `{label}` is no value of this type; use `String`"))
    };
    labels.iter().map(value).collect()
}

/// Writes predictions, outputs × rows, as targets; `classes` is empty for numbers.
pub fn write<E: TargetValue, I: TargetDim>(
    predictions: &Array2<f64>,
    order: &ClassOrder,
    classes: &[E],
    y: &mut Array<E, I>,
) {
    assert_eq!(y.len_of(Axis(0)), predictions.ncols(), "one target a row");
    for (row, mut to) in y.axis_iter_mut(Axis(0)).enumerate() {
        let outputs_of_row = predictions.column(row);
        let class = classes.get(order.class_of(outputs_of_row));
        for (output, to) in to.iter_mut().enumerate() {
            *to = class.cloned().or_else(|| E::from_number(outputs_of_row[output])).unwrap_or_default();
        }
    }
}
