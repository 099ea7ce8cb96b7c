//! linfa's traits on selections: `ParamGuard`, `Fit`, `PredictInplace`, `Transformer`.

use crate::selector::{Selection, Selector, ValidSelector};
use linfa::dataset::{AsTargets, DatasetBase, TargetDim};
use linfa::traits::{Fit, PredictInplace, Transformer};
use linfa::{Float, ParamGuard};
use ndarray::{Array, Array2, ArrayBase, Axis, Data, Ix2};
use std::borrow::Cow;
use std::marker::PhantomData;
use vaglio_core::{Columns, Error, Feature, Path, Problem, Silent, Task};

/// Why a fit through linfa failed.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Settings or data that cannot be fitted.
    #[error(transparent)]
    Vaglio(#[from] Error),
    /// An error of linfa itself.
    #[error(transparent)]
    Linfa(#[from] linfa::Error),
}

/// A target as linfa datasets hold it: numbers, two classes (`bool`), or classes counted from 0 (`usize`).
pub trait TargetValue: Copy + Default + PartialEq + Send + Sync + 'static {
    /// The task that one target column of these values is.
    ///
    /// # Errors
    /// [`Error::Shape`] for classes that cannot be told apart.
    fn task(values: &[Self]) -> Result<Task, Error>;
    /// The codes of the value, one per output of the task.
    fn encode(self, task: &Task) -> Vec<f64>;
    /// The value of predictions, one per output of the task.
    fn decode(predictions: &[f64], task: &Task) -> Self;
}

macro_rules! number {
    ($type:ty) => {
        impl TargetValue for $type {
            fn task(_: &[Self]) -> Result<Task, Error> {
                Ok(Task::Regression)
            }
            fn encode(self, _: &Task) -> Vec<f64> {
                vec![f64::from(self)]
            }
            fn decode(predictions: &[f64], _: &Task) -> Self {
                predictions.first().map_or(0.0, |p| *p as $type)
            }
        }
    };
}
number!(f64);
number!(f32);

impl TargetValue for bool {
    fn task(values: &[Self]) -> Result<Task, Error> {
        if values.windows(2).all(|w| w[0] == w[1]) {
            return Err(Error::setting("targets", "there is a single class; two are needed"));
        }
        Ok(Task::Binary { negative: Some("false".into()), positive: "true".into() })
    }

    fn encode(self, _: &Task) -> Vec<f64> {
        vec![if self { 1.0 } else { -1.0 }]
    }

    fn decode(predictions: &[f64], _: &Task) -> Self {
        predictions.first().is_some_and(|p| *p > 0.0)
    }
}

impl TargetValue for usize {
    fn task(values: &[Self]) -> Result<Task, Error> {
        let mut classes = values.to_vec();
        classes.sort_unstable();
        classes.dedup();
        if classes.len() < 2 {
            return Err(Error::setting("targets", "there is a single class; two are needed"));
        }
        Ok(Task::Multiclass { labels: classes.iter().map(usize::to_string).collect() })
    }

    fn encode(self, task: &Task) -> Vec<f64> {
        let Task::Multiclass { labels } = task else { return Vec::new() };
        labels.iter().map(|label| if *label == self.to_string() { 1.0 } else { -1.0 }).collect()
    }

    fn decode(predictions: &[f64], task: &Task) -> Self {
        let Task::Multiclass { labels } = task else { return 0 };
        labels.get(largest(predictions)).and_then(|l| l.parse().ok()).unwrap_or(0)
    }
}

/// The columns and targets of a linfa dataset as a problem.
pub(crate) fn problem<F: Float, D: Data<Elem = F>, T: AsTargets<Elem = E>, E: TargetValue>(
    dataset: &DatasetBase<ArrayBase<D, Ix2>, T>,
) -> Result<Problem, Error> {
    let records = dataset.records();
    let mut columns = Columns::new(records.nrows());
    for column in records.columns() {
        columns.push(column.iter().map(|v| v.to_f64().unwrap_or(f64::NAN)).collect::<Vec<_>>());
    }
    let names = match dataset.feature_names() {
        names if names.len() == records.ncols() => names.to_vec(),
        _ => (0..records.ncols()).map(|i| format!("feature-{i}")).collect(),
    };
    let targets = dataset.as_targets();
    let several = targets.ndim() == 2 && targets.len_of(Axis(1)) != 1;
    let rows: Vec<Vec<E>> = targets.axis_iter(Axis(0)).map(|row| row.iter().copied().collect()).collect();
    let first: Vec<E> = rows.iter().filter_map(|row| row.first().copied()).collect();
    let task = E::task(&first)?;
    if several && !matches!(task, Task::Regression) {
        return Err(Error::setting("targets", "several target columns are for regression; give one column of classes"));
    }
    let coded: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().flat_map(|v| v.encode(&task)).collect()).collect();
    let outputs = coded.first().map_or(0, Vec::len);
    let matrix = Array2::from_shape_fn((outputs, coded.len()), |(o, j)| coded[j][o]);
    let target_names = (0..outputs).map(|o| format!("target-{o}")).collect();
    let problem = Problem::new(columns, names, matrix, target_names, task)?;
    match dataset.weights() {
        Some(weights) => problem.with_weights(weights.iter().map(|w| f64::from(*w)).collect()),
        None => Ok(problem),
    }
}

impl ParamGuard for Selector {
    type Checked = ValidSelector;
    type Error = Error;

    fn check_ref(&self) -> Result<&ValidSelector, Error> {
        self.0.learner.check().map_err(|e| e.under("learner"))?;
        Ok(&self.0)
    }

    fn check(self) -> Result<ValidSelector, Error> {
        self.check_ref()?;
        Ok(self.0)
    }
}

impl<F: Float, D: Data<Elem = F>, T: AsTargets<Elem = E>, E: TargetValue> Fit<ArrayBase<D, Ix2>, T, FitError>
    for ValidSelector
{
    type Object = FittedSelector<E, T::Ix>;

    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, T>) -> Result<Self::Object, FitError> {
        let problem = problem(dataset)?;
        let selection = self.select(&problem, &mut Silent)?;
        let targets = dataset.as_targets();
        let width = (targets.ndim() == 2).then(|| targets.len_of(Axis(1)));
        Ok(FittedSelector { task: problem.task().clone(), width, selection, marker: PhantomData })
    }
}

/// A fitted selection: keeps the chosen columns ([`Transformer`]) and predicts with them ([`PredictInplace`]).
///
/// Of a learner with a map, such as hidden neurons, the chosen columns are those that the map makes.
///
/// `E` is the type of a target, `I` whether targets are one column or several.
#[derive(Debug)]
pub struct FittedSelector<E, I> {
    task: Task,
    width: Option<usize>,
    selection: Selection,
    marker: PhantomData<fn() -> (E, I)>,
}

impl<E, I> FittedSelector<E, I> {
    /// The chosen columns, in order of entry.
    pub fn selected(&self) -> &[Feature] {
        self.path().result().map_or(&[], |entry| &entry.subset)
    }

    /// The steps of the search and the best subset of each size.
    pub fn path(&self) -> &Path {
        &self.selection.path
    }

    /// The selection with its model.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }
}

/// The columns of `x` that a model takes.
fn inputs<F: Float, D: Data<Elem = F>>(selection: &Selection, x: &ArrayBase<D, Ix2>) -> Columns {
    let mut inputs = Columns::new(x.nrows());
    for &feature in selection.model.inputs() {
        inputs.push(x.column(feature).iter().map(|v| v.to_f64().unwrap_or(f64::NAN)).collect::<Vec<_>>());
    }
    inputs
}

/// Predictions of a model for the rows of `x`, outputs × rows.
fn predictions<F: Float, D: Data<Elem = F>>(selection: &Selection, x: &ArrayBase<D, Ix2>) -> Array2<f64> {
    let made = selection.model.predict(&inputs(selection, x), None);
    assert!(made.is_ok(), "the model takes the columns it names: {:?}", made.err());
    made.unwrap_or_default()
}

/// The chosen columns of `columns`, rows × chosen: those that the model's map makes where it has one.
pub(crate) fn chosen<F: Float>(selection: &Selection, inputs: &Columns, plain: impl Fn() -> Array2<F>) -> Array2<F> {
    let made = selection.model.features(inputs, None);
    assert!(made.is_ok(), "the model takes the columns it names: {:?}", made.err());
    match made.unwrap_or_default() {
        Cow::Owned(made) => {
            Array2::from_shape_fn((made.rows(), made.len()), |(row, k)| F::cast(made.column(k).get(row)))
        }
        Cow::Borrowed(_) => plain(),
    }
}

pub(crate) fn write<E: TargetValue, I: TargetDim>(predictions: &Array2<f64>, task: &Task, y: &mut Array<E, I>) {
    assert_eq!(y.len_of(Axis(0)), predictions.ncols(), "one target a row");
    let single = matches!(task, Task::Regression);
    for (row, mut to) in y.axis_iter_mut(Axis(0)).enumerate() {
        let column = predictions.column(row).to_vec();
        for (k, to) in to.iter_mut().enumerate() {
            *to = if single { E::decode(&column[k..=k], task) } else { E::decode(&column, task) };
        }
    }
}

/// Targets to be filled in: `width` columns, or one when absent.
pub(crate) fn default_target<E: TargetValue, I: TargetDim>(rows: usize, width: Option<usize>) -> Array<E, I> {
    let mut dim = I::zeros(I::NDIM.unwrap_or(1));
    dim[0] = rows;
    if let Some(width) = width {
        dim[1] = width;
    }
    Array::from_elem(dim, E::default())
}

/// The position of the largest prediction, the first among equals.
pub(crate) fn largest(predictions: &[f64]) -> usize {
    let better = |best: usize, k: usize| if predictions[k] > predictions[best] { k } else { best };
    (0..predictions.len()).fold(0, better)
}

impl<F: Float, D: Data<Elem = F>, E: TargetValue, I: TargetDim> PredictInplace<ArrayBase<D, Ix2>, Array<E, I>>
    for FittedSelector<E, I>
{
    fn predict_inplace<'a>(&'a self, x: &'a ArrayBase<D, Ix2>, y: &mut Array<E, I>) {
        write(&predictions(&self.selection, x), &self.task, y);
    }

    fn default_target(&self, x: &ArrayBase<D, Ix2>) -> Array<E, I> {
        default_target(x.nrows(), self.width)
    }
}

impl<F: Float, D: Data<Elem = F>, E, I> Transformer<ArrayBase<D, Ix2>, Array2<F>> for FittedSelector<E, I> {
    fn transform(&self, x: ArrayBase<D, Ix2>) -> Array2<F> {
        chosen(&self.selection, &inputs(&self.selection, &x), || x.select(Axis(1), self.selected()))
    }
}

impl<F: Float, D: Data<Elem = F>, T: AsTargets, E, I>
    Transformer<DatasetBase<ArrayBase<D, Ix2>, T>, DatasetBase<Array2<F>, T>> for FittedSelector<E, I>
{
    fn transform(&self, dataset: DatasetBase<ArrayBase<D, Ix2>, T>) -> DatasetBase<Array2<F>, T> {
        let records = dataset.records();
        let plain = || records.select(Axis(1), self.selected());
        let records = chosen(&self.selection, &inputs(&self.selection, records), plain);
        let names = self.selected().iter().filter_map(|&f| self.selection.names.get(f)).cloned().collect();
        let weights = dataset.weights().map(<[f32]>::to_vec);
        let DatasetBase { targets, .. } = dataset;
        let smaller = DatasetBase::new(records, targets).with_feature_names(names);
        match weights {
            Some(weights) => smaller.with_weights(weights.into()),
            None => smaller,
        }
    }
}
