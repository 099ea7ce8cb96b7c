//! Targets as linfa datasets hold them, and their codes.

use linfa::dataset::{AsTargets, TargetDim};
use ndarray::{Array, Array2, Axis};
use vaglio_core::{ClassOrder, Error, Result, Task};

/// A target as linfa datasets hold it: a number (`f64`, `f32`), or the label of a class (`bool`, `String`, `&str`, whole
/// numbers of any type).
///
/// Two classes are one output, ±1, of which the larger label is the positive one; more are one output each.
pub trait TargetValue: Clone + Default + PartialOrd + Send + Sync {
    /// The number that it is; `None`: it is a label.
    fn number(&self) -> Option<f64> {
        None
    }

    /// The value of a predicted number; `None`: values are labels.
    fn of_number(_number: f64) -> Option<Self> {
        None
    }

    /// The value as text.
    fn label(&self) -> String;

    /// The value of such a text; `None` where it has none.
    fn of_label(label: &str) -> Option<Self>;
}

/// Implements [`TargetValue`] for types whose text is read as it is written.
macro_rules! target_values {
    (numbers: $($number:ty)*; labels: $($label:ty)*) => {
        $(impl TargetValue for $number {
            fn number(&self) -> Option<f64> {
                Some(f64::from(*self))
            }

            fn of_number(number: f64) -> Option<Self> {
                Some(number as $number)
            }

            fn label(&self) -> String {
                self.to_string()
            }

            fn of_label(label: &str) -> Option<Self> {
                label.parse().ok()
            }
        })*
        $(impl TargetValue for $label {
            fn label(&self) -> String {
                self.to_string()
            }

            fn of_label(label: &str) -> Option<Self> {
                label.parse().ok()
            }
        })*
    };
}

target_values!(numbers: f64 f32; labels: bool String u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl TargetValue for &str {
    fn label(&self) -> String {
        (*self).to_owned()
    }

    /// A saved model has no text of its own to borrow; its labels are read as `String`.
    fn of_label(_: &str) -> Option<Self> {
        None
    }
}

/// Classes that a target may have, at most.
const MOST_CLASSES: usize = 1000;

/// Targets as numbers, with what they are.
pub(super) struct Coded<E> {
    pub task: Task,
    /// Outputs × rows.
    pub targets: Array2<f64>,
    /// In the order of their probabilities; none of numbers.
    pub classes: Vec<E>,
}

impl<E: TargetValue> Coded<E> {
    /// # Errors
    /// [`Error::Setting`] for classes that are one, too many, or in several columns.
    pub fn of<T: AsTargets<Elem = E>>(targets: &T) -> Result<Self> {
        let targets = targets.as_targets();
        // Row by row.
        let values: Vec<&E> = targets.iter().collect();
        let columns = if targets.ndim() == 2 { targets.len_of(Axis(1)) } else { 1 };
        if E::of_number(0.0).is_some() {
            let value = |(output, row): (usize, usize)| values[row * columns + output].number().unwrap_or(f64::NAN);
            let targets = Array2::from_shape_fn((columns, targets.len_of(Axis(0))), value);
            return Ok(Coded { task: Task::Regression, targets, classes: Vec::new() });
        }
        let refused = |message: String| Err(Error::setting("targets", message));
        if columns != 1 {
            return refused("several target columns are for regression; give one column of classes".into());
        }
        let mut classes: Vec<E> = values.iter().map(|value| (*value).clone()).collect();
        classes.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        classes.dedup();
        let labels = classes.iter().map(E::label).collect();
        let (task, outputs) = match &classes[..] {
            [] => return Err(Error::Shape("the data have no rows".into())),
            [only] => return refused(format!("there is a single class, `{}`; two are needed", only.label())),
            [negative, positive] => (Task::Binary { negative: Some(negative.label()), positive: positive.label() }, 1),
            several if several.len() > MOST_CLASSES => {
                return refused(format!("there are {} classes; at most {MOST_CLASSES} are taken", several.len()));
            }
            several => (Task::Multiclass { labels }, several.len()),
        };
        // Of two classes the output is that of the second.
        let first = usize::from(outputs == 1);
        let code = |(output, row): (usize, usize)| if *values[row] == classes[output + first] { 1.0 } else { -1.0 };
        let targets = Array2::from_shape_fn((outputs, values.len()), code);
        Ok(Coded { task, targets, classes })
    }
}

/// The classes of a task as values; none of numbers.
///
/// # Errors
/// Why these values cannot be the targets of the task.
pub(super) fn classes_of<E: TargetValue>(task: &Task) -> std::result::Result<Vec<E>, String> {
    let is_number = E::of_number(0.0).is_some();
    let labels: Vec<String> = match task {
        Task::Regression if is_number => return Ok(Vec::new()),
        Task::Regression => return Err("its targets are numbers; load it with `f64` targets".into()),
        _ if is_number => return Err("its targets are classes; load it with `String` targets".into()),
        Task::Binary { negative, positive } => {
            vec![negative.clone().unwrap_or_else(|| format!("not {positive}")), positive.clone()]
        }
        Task::Multiclass { labels } => labels.clone(),
    };
    let value = |label: &String| {
        E::of_label(label).ok_or_else(|| format!("its class `{label}` is none of these targets; load it with `String`"))
    };
    labels.iter().map(value).collect()
}

/// Predictions, outputs × rows, as targets; of numbers there are no classes.
pub(super) fn write<E: TargetValue, I: TargetDim>(
    predictions: &Array2<f64>,
    order: &ClassOrder,
    classes: &[E],
    y: &mut Array<E, I>,
) {
    assert_eq!(y.len_of(Axis(0)), predictions.ncols(), "one target a row");
    for (row, mut to) in y.axis_iter_mut(Axis(0)).enumerate() {
        let of_row = predictions.column(row);
        let class = classes.get(order.class_of(of_row));
        for (output, to) in to.iter_mut().enumerate() {
            *to = class.cloned().or_else(|| E::of_number(of_row[output])).unwrap_or_default();
        }
    }
}
