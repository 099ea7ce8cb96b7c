//! Predictions and transformations of a fitted pipeline.

use super::fitted::FittedPipeline;
use super::rows::{TableRecords, are_named, table};
use super::targets::{TargetValue, write};
use crate::pipeline::saved::chain::Predicted;
use linfa::Float;
use linfa::dataset::{AsTargets, DatasetBase, Pr, TargetDim};
use linfa::traits::{PredictInplace, Transformer};
use ndarray::{Array, Array2, ArrayBase, Data, Ix2};
use vaglio_core::{Error, Result, Table, Task};

/// Rows that [`FittedPipeline::predict`] takes: an array, whose columns stand as in the dataset that the pipeline was fitted
/// on, or a dataset, whose columns are found by their names; by reference, or by value, which gives a dataset.
pub trait Given<E, I> {
    /// Targets, or a dataset with targets.
    type Predicted;
    /// The predictions of a fitted pipeline for these rows.
    #[track_caller]
    fn predicted_by(self, fitted: &FittedPipeline<E, I>) -> Self::Predicted;
}

/// Records with the names of their columns, if they have any.
type Named<'a, R> = (&'a R, &'a [String]);

impl<E, I> FittedPipeline<E, I> {
    /// The columns that a dataset must have: those that the pipeline was fitted on, or those that a model of the program
    /// reads.
    pub fn columns(&self) -> &[String] {
        self.saved.columns.as_ref().unwrap_or(&self.saved.sources)
    }

    /// The columns that the model reads, by name where both have names, else by place.
    fn sources<R: TableRecords>(&self, (records, names): Named<'_, R>) -> Result<Table> {
        let (known, sources) = (self.columns(), &self.saved.sources);
        let is_by_name = !names.is_empty() && are_named(known);
        if !is_by_name && records.nfeatures() != known.len() {
            let (was, is) = (known.len(), records.nfeatures());
            return Err(Error::Shape(format!("the pipeline was fitted on {was} columns, and these rows have {is}")));
        }
        let among = if is_by_name { names } else { known };
        let place = |name: &String| {
            let place = among.iter().position(|other| other == name);
            let missing = || Error::unknown("dataset", "column", name, among.iter().map(String::as_str));
            Ok((name.clone(), place.ok_or_else(missing)?))
        };
        table(sources.iter().map(place).collect::<Result<Vec<_>>>()?.into_iter(), records)
    }

    pub(super) fn predicted<R: TableRecords>(&self, given: Named<'_, R>) -> Result<Array2<f64>> {
        let (Predicted { values, rows }, _) = self.saved.chain().predict(self.sources(given)?)?;
        unless_dropped(rows.len(), given.0.nsamples())?;
        Ok(values)
    }

    fn features<F: Float>(&self, given: Named<'_, impl TableRecords>) -> Result<Array2<F>> {
        let inputs = self.saved.chain().inputs_of(self.sources(given)?)?.0;
        unless_dropped(inputs.rows(), given.0.nsamples())?;
        let features = self.saved.model.features(&inputs, None)?;
        Ok(Array2::from_shape_fn((features.rows(), features.len()), |(row, k)| F::cast(features.column(k).get(row))))
    }

    /// Decision values, rows × outputs: predicted numbers, or how far each row is on the side of a class, ±1 being where the
    /// classes were; of two classes, one, positive for the second of [`FittedPipeline::classes`].
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of columns, [`Error::UnknownName`] for a dataset without one that is read; numbers
    /// that are not finite.
    pub fn decision_values<'a, F: Float, D: Data<Elem = F> + 'a>(
        &self,
        rows: impl Into<NamedRows<'a, D>>,
    ) -> Result<Array2<f64>> {
        let NamedRows(records, names) = rows.into();
        Ok(self.predicted((records, names))?.reversed_axes())
    }

    /// The probability of each class, rows × [`FittedPipeline::classes`], which add up to 1 but for rounding; `None` of
    /// numbers, and of models that were not calibrated.
    ///
    /// These are those of `vaglio predict --proba`: a logistic map of the decision value of each class (Platt's), fitted on
    /// predictions of rows held out, and of several classes divided by their sum.
    ///
    /// # Errors
    /// Those of [`FittedPipeline::decision_values`].
    pub fn probabilities<'a, F: Float, D: Data<Elem = F> + 'a>(
        &self,
        rows: impl Into<NamedRows<'a, D>>,
    ) -> Result<Option<Array2<Pr>>> {
        let Some(calibration) = &self.saved.calibration else { return Ok(None) };
        let NamedRows(records, names) = rows.into();
        let probabilities = calibration.probabilities(self.predicted((records, names))?.view());
        Ok(Some(probabilities.reversed_axes().mapv(|p| Pr::new_unchecked((p as f32).clamp(0.0, 1.0)))))
    }

    /// Predictions: targets for an array or a dataset by reference, a dataset with these for one by value.
    ///
    /// A dataset with names is matched by these, in any order, columns that are not read being ignored; linfa's own
    /// [`Predict`](linfa::traits::Predict), which generic code calls, sees no names and takes columns by place.
    ///
    /// # Panics
    /// As linfa's predictions do: for another number of columns, a dataset without a column that is read, and numbers that
    /// are not finite. [`FittedPipeline::decision_values`] gives an error in their place. The panic's place is that of the call:
    /// ```standalone_crate
    /// use linfa::prelude::*;
    /// use ndarray::array;
    /// use vaglio::prelude::*;
    ///
    /// let dataset = Dataset::new(array![[1.0, 0.3], [2.0, -0.1], [3.0, 0.2], [4.0, 0.0]], array![1.1, 2.0, 2.9, 4.2]);
    /// let fitted = Pipeline::new(Loo::default(), Greedy::new(1), Rls::default()).fit(&dataset)?;
    /// # use std::sync::atomic::{AtomicU32, Ordering};
    /// # static LINE: AtomicU32 = AtomicU32::new(0);
    /// # std::panic::set_hook(Box::new(|panic| {
    /// #     let here = panic.location().filter(|place| place.file() == file!());
    /// #     LINE.store(here.map_or(0, |place| place.line()), Ordering::SeqCst);
    /// # }));
    /// // A fitted pipeline is `UnwindSafe`, so a service can go on.
    /// let (line, outcome) = (line!(), std::panic::catch_unwind(|| fitted.predict(&array![[1.0, 0.3, 5.0]])));
    /// assert!(outcome.is_err());
    /// # assert_eq!(LINE.load(Ordering::SeqCst), line);
    /// # Ok::<(), vaglio::FitError>(())
    /// ```
    #[track_caller]
    pub fn predict<X: Given<E, I>>(&self, rows: X) -> X::Predicted {
        rows.predicted_by(self)
    }
}

/// Refuses maps that drop rows.
fn unless_dropped(left: usize, given: usize) -> Result<()> {
    match left == given {
        true => Ok(()),
        false => Err(Error::Shape("maps drop rows, which a dataset cannot follow; use `SavedModel::predict`".into())),
    }
}

/// The value, or a panic with the sentence of the error, as linfa's traits have no other way to fail.
#[track_caller]
pub(super) fn unless_failed<T: Default>(made: Result<T>) -> T {
    let error = made.as_ref().err().map(ToString::to_string);
    assert!(error.is_none(), "{}", error.unwrap_or_default());
    made.unwrap_or_default()
}

/// Rows of an array or a dataset.
pub struct NamedRows<'a, D: Data>(&'a ArrayBase<D, Ix2>, &'a [String]);

impl<'a, D: Data> From<&'a ArrayBase<D, Ix2>> for NamedRows<'a, D> {
    fn from(records: &'a ArrayBase<D, Ix2>) -> Self {
        NamedRows(records, &[])
    }
}

impl<'a, D: Data, T> From<&'a DatasetBase<ArrayBase<D, Ix2>, T>> for NamedRows<'a, D> {
    fn from(dataset: &'a DatasetBase<ArrayBase<D, Ix2>, T>) -> Self {
        NamedRows(dataset.records(), dataset.feature_names())
    }
}

impl<E: TargetValue, I: TargetDim> FittedPipeline<E, I> {
    pub(super) fn targets(&self, predictions: &Array2<f64>) -> Array<E, I> {
        let mut y = self.no_targets(predictions.ncols());
        write(predictions, &self.saved.task, &self.classes, &mut y);
        y
    }

    fn no_targets(&self, rows: usize) -> Array<E, I> {
        let mut dim = I::zeros(I::NDIM.unwrap_or(1));
        dim[0] = rows;
        if dim.ndim() == 2 {
            dim[1] = if self.saved.task == Task::Regression { self.saved.outputs.len() } else { 1 };
        }
        Array::from_elem(dim, E::default())
    }
}

impl<F: Float, D: Data<Elem = F>, E: TargetValue, I: TargetDim> Given<E, I> for &ArrayBase<D, Ix2> {
    type Predicted = Array<E, I>;

    #[track_caller]
    fn predicted_by(self, fitted: &FittedPipeline<E, I>) -> Array<E, I> {
        fitted.targets(&unless_failed(fitted.predicted((self, &[]))))
    }
}

impl<F: Float, D: Data<Elem = F>, T, E: TargetValue, I: TargetDim> Given<E, I> for &DatasetBase<ArrayBase<D, Ix2>, T> {
    type Predicted = Array<E, I>;

    #[track_caller]
    fn predicted_by(self, fitted: &FittedPipeline<E, I>) -> Array<E, I> {
        fitted.targets(&unless_failed(fitted.predicted((self.records(), self.feature_names()))))
    }
}

impl<F: Float, D: Data<Elem = F>, E: TargetValue, I: TargetDim> Given<E, I> for ArrayBase<D, Ix2> {
    type Predicted = DatasetBase<Self, Array<E, I>>;

    #[track_caller]
    fn predicted_by(self, fitted: &FittedPipeline<E, I>) -> Self::Predicted {
        let targets = fitted.predict(&self);
        DatasetBase::new(self, targets)
    }
}

impl<F: Float, D: Data<Elem = F>, T, E: TargetValue, I: TargetDim> Given<E, I> for DatasetBase<ArrayBase<D, Ix2>, T> {
    type Predicted = DatasetBase<ArrayBase<D, Ix2>, Array<E, I>>;

    #[track_caller]
    fn predicted_by(self, fitted: &FittedPipeline<E, I>) -> Self::Predicted {
        let targets = fitted.predict(&self);
        self.with_targets(targets)
    }
}

impl<F: Float, D: Data<Elem = F>, E: TargetValue, I: TargetDim> PredictInplace<ArrayBase<D, Ix2>, Array<E, I>>
    for FittedPipeline<E, I>
{
    #[track_caller]
    fn predict_inplace<'a>(&'a self, x: &'a ArrayBase<D, Ix2>, y: &mut Array<E, I>) {
        write(&unless_failed(self.predicted((x, &[]))), &self.saved.task, &self.classes, y);
    }

    fn default_target(&self, x: &ArrayBase<D, Ix2>) -> Array<E, I> {
        self.no_targets(x.nrows())
    }
}

/// The chosen features of an array; panics as [`FittedPipeline::predict`] does.
impl<F: Float, D: Data<Elem = F>, E, I> Transformer<ArrayBase<D, Ix2>, Array2<F>> for FittedPipeline<E, I> {
    #[track_caller]
    fn transform(&self, x: ArrayBase<D, Ix2>) -> Array2<F> {
        self.transform(&x)
    }
}

/// The chosen features of an array; panics as [`FittedPipeline::predict`] does.
impl<F: Float, D: Data<Elem = F>, E, I> Transformer<&ArrayBase<D, Ix2>, Array2<F>> for FittedPipeline<E, I> {
    #[track_caller]
    fn transform(&self, x: &ArrayBase<D, Ix2>) -> Array2<F> {
        unless_failed(self.features((x, &[])))
    }
}

/// The chosen features, with targets, weights and names; columns are found as by [`FittedPipeline::predict`], which see for
/// panics.
impl<F: Float, D: Data<Elem = F>, T: AsTargets, E, I>
    Transformer<DatasetBase<ArrayBase<D, Ix2>, T>, DatasetBase<Array2<F>, T>> for FittedPipeline<E, I>
{
    #[track_caller]
    fn transform(&self, dataset: DatasetBase<ArrayBase<D, Ix2>, T>) -> DatasetBase<Array2<F>, T> {
        let features = unless_failed(self.features((dataset.records(), dataset.feature_names())));
        let names = dataset.target_names().to_vec();
        let DatasetBase { targets, weights, .. } = dataset;
        DatasetBase::new(features, targets)
            .with_weights(weights)
            .with_feature_names(self.selected())
            .with_target_names(names)
    }
}

/// The same of a dataset that is kept, whose targets are cloned.
impl<F: Float, D: Data<Elem = F>, T: AsTargets + Clone, E, I>
    Transformer<&DatasetBase<ArrayBase<D, Ix2>, T>, DatasetBase<Array2<F>, T>> for FittedPipeline<E, I>
{
    #[track_caller]
    fn transform(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, T>) -> DatasetBase<Array2<F>, T> {
        let features = unless_failed(self.features((dataset.records(), dataset.feature_names())));
        DatasetBase::new(features, dataset.targets().clone())
            .with_weights(dataset.weights().map(<[f32]>::to_vec).unwrap_or_default().into())
            .with_feature_names(self.selected())
            .with_target_names(dataset.target_names().to_vec())
    }
}
