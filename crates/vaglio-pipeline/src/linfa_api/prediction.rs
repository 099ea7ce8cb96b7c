//! Predictions and transformations of a fitted pipeline.

use super::fitted_pipeline::FittedPipeline;
use super::rows::{Rows, TableRecords, are_named, names, table};
use super::targets::{TargetValue, write};
use crate::pipeline::saved_model::TablePredictions;
use linfa::Float;
use linfa::dataset::{AsTargets, DatasetBase, Pr, Records, TargetDim};
use linfa::traits::{PredictInplace, Transformer};
use ndarray::{Array, Array2, ArrayBase, Data, Ix2};
use std::collections::HashMap;
use vaglio_core::{Error, Result, Table, Task};

/// Rows to predict: an array, a dataset, or a dataset with series and times of its rows.
pub struct NamedRows<'a, R> {
    records: &'a R,
    names: &'a [String],
    known: Option<&'a Rows>,
}

impl<'a, R: TableRecords> From<&'a R> for NamedRows<'a, R> {
    fn from(records: &'a R) -> Self {
        NamedRows { records, names: &[], known: None }
    }
}

impl<'a, R: TableRecords, T> From<&'a DatasetBase<R, T>> for NamedRows<'a, R> {
    fn from(dataset: &'a DatasetBase<R, T>) -> Self {
        NamedRows { records: dataset.records(), names: dataset.feature_names(), known: None }
    }
}

impl Rows {
    /// A dataset with these series and times, for [`FittedPipeline::decision_values`].
    pub fn label<'a, R: TableRecords, T>(&'a self, dataset: &'a DatasetBase<R, T>) -> NamedRows<'a, R> {
        NamedRows { known: Some(self), ..NamedRows::from(dataset) }
    }
}

impl<E, I> FittedPipeline<E, I> {
    /// Columns that a dataset must have: the columns of the fit, or the columns that a model saved by the program
    /// reads.
    pub fn columns(&self) -> &[String] {
        self.saved.columns.as_ref().unwrap_or(&self.saved.sources)
    }

    /// Columns that the model reads.
    fn sources<R: TableRecords>(&self, given: &NamedRows<'_, R>) -> Result<Table> {
        let (known, is) = (self.columns(), given.records.nfeatures());
        let names = if are_named(known) { given.names } else { &[] };
        let remedy = if names.is_empty() { "" } else { "; `by_name` takes the columns of a dataset by their names" };
        if is != known.len() {
            let was = known.len();
            return Err(Error::Shape(format!(
                "the pipeline was fitted on {was} columns, and these rows have {is}{remedy}"
            )));
        }
        let place = |name: &String| {
            let place = known.iter().position(|other| other == name);
            let place = place.ok_or_else(|| Error::unknown("dataset", "column", name, known.iter()))?;
            match names.get(place).filter(|other| *other != name) {
                Some(other) => Err(Error::Shape(format!(
                    "column {} of the dataset is `{other}`, and the pipeline was fitted on `{name}` there{remedy}",
                    place + 1
                ))),
                None => Ok((name.clone(), place)),
            }
        };
        table(self.saved.sources.iter().map(place).collect::<Result<Vec<_>>>()?.into_iter(), given.records)
    }

    fn predict_outputs<R: TableRecords>(&self, given: &NamedRows<'_, R>) -> Result<Array2<f64>> {
        let mut table = self.sources(given)?;
        if let Some(known) = given.known {
            let targets = Array2::zeros((0, table.rows()));
            table = known.label_and_sort(table, targets, None)?.table;
        }
        let TablePredictions { values, rows, .. } = self.saved.chain().predict(table)?;
        check_rows(rows.len(), given.records.nsamples())?;
        Ok(values)
    }

    fn features<F: Float, R: TableRecords>(&self, given: &NamedRows<'_, R>) -> Result<Array2<F>> {
        let inputs = self.saved.chain().transform_inputs(self.sources(given)?)?.0;
        check_rows(inputs.rows(), given.records.nsamples())?;
        let features = self.saved.model.features(&inputs, None)?;
        Ok(Array2::from_shape_fn((features.rows(), features.len()), |(row, k)| F::cast(features.column(k).get(row))))
    }

    /// Copies a dataset with its columns reordered by name to [`columns`](FittedPipeline::columns). Columns that the
    /// model does not read may be missing and become NaN; extra columns are dropped.
    ///
    /// # Errors
    /// [`Error::UnknownName`] if the dataset lacks a column that the model reads.
    ///
    /// # Example
    /// ```
    /// use linfa::prelude::*;
    /// use ndarray::array;
    /// use vaglio::prelude::*;
    ///
    /// let x = array![[1.0, 0.3], [2.0, -0.1], [3.0, 0.2], [4.0, 0.0]];
    /// let dataset = Dataset::new(x.clone(), array![1.1, 2.0, 2.9, 4.2]).with_feature_names(vec!["dose", "noise"]);
    /// let fitted = Pipeline::new(Loo::default(), Greedy::new(1), Rls::default()).fit(&dataset)?;
    ///
    /// let turned = Dataset::new(x.slice_move(ndarray::s![.., ..;-1]), Array1::<f64>::zeros(4)).with_feature_names(vec!["noise", "dose"]);
    /// assert_eq!(fitted.predict(&fitted.by_name(&turned)?), fitted.predict(&dataset));
    /// # Ok::<(), vaglio::FitError>(())
    /// ```
    pub fn by_name<F: Float, D: Data<Elem = F>, T: AsTargets + Clone>(
        &self,
        dataset: &DatasetBase<ArrayBase<D, Ix2>, T>,
    ) -> Result<DatasetBase<Array2<F>, T>> {
        let (known, own) = (self.columns(), names(dataset.feature_names(), dataset.nfeatures()));
        let places: HashMap<&str, usize> = own.iter().map(String::as_str).zip(0..).collect();
        if let Some(name) = self.saved.sources.iter().find(|name| !places.contains_key(name.as_str())) {
            return Err(Error::unknown("dataset", "column", name, own.iter()));
        }
        let mut records = Array2::from_elem((dataset.nsamples(), known.len()), F::nan());
        for (mut to, name) in records.columns_mut().into_iter().zip(known) {
            if let Some(&place) = places.get(name.as_str()) {
                to.assign(&dataset.records().column(place));
            }
        }
        Ok(with_records(dataset, records).with_feature_names(known.to_vec()))
    }

    /// Decision values, rows × outputs: predicted numbers, or scores of classes, which were coded as ±1. Two classes
    /// have one output, positive for the second of [`FittedPipeline::classes`].
    ///
    /// The rows are an array, a dataset, or a dataset with series and times ([`Rows::label`]). Columns are in the order
    /// of [`FittedPipeline::columns`]. A dataset with names in another order is refused; [`FittedPipeline::by_name`]
    /// reorders it.
    ///
    /// # Errors
    /// [`Error::Shape`] for another number of columns, for names in another order, and for series or times of another
    /// length; an error for numbers that are not finite.
    pub fn decision_values<'a, R: TableRecords + 'a>(&self, rows: impl Into<NamedRows<'a, R>>) -> Result<Array2<f64>> {
        Ok(self.predict_outputs(&rows.into())?.reversed_axes())
    }

    /// Probability of each class, rows × [`FittedPipeline::classes`]; they sum to 1 up to rounding. `None` for numbers
    /// and for models without calibration.
    ///
    /// Like `vaglio predict --proba`: a logistic map (Platt scaling) of each class's decision value, fitted on held-out
    /// predictions, then normalized over more than two classes.
    ///
    /// # Errors
    /// Returns the errors of [`FittedPipeline::decision_values`].
    pub fn probabilities<'a, R: TableRecords + 'a>(
        &self,
        rows: impl Into<NamedRows<'a, R>>,
    ) -> Result<Option<Array2<Pr>>> {
        let Some(calibration) = &self.saved.calibration else { return Ok(None) };
        let probabilities = calibration.probabilities(self.predict_outputs(&rows.into())?.view());
        Ok(Some(probabilities.reversed_axes().mapv(|p| Pr::new_unchecked((p as f32).clamp(0.0, 1.0)))))
    }
}

/// Refuses maps that drop rows.
fn check_rows(left: usize, given: usize) -> Result<()> {
    if left == given {
        return Ok(());
    }
    Err(Error::Shape("maps drop rows, which a dataset cannot follow; use `vaglio::files::FileModel::predict`".into()))
}

/// Returns the value, or panics with the message of the error, since linfa's traits cannot fail otherwise.
#[track_caller]
#[expect(clippy::panic, reason = "linfa's traits return no errors")]
fn or_panic<T>(made: Result<T>) -> T {
    match made {
        Ok(made) => made,
        Err(error) => panic!("{error}"),
    }
}

impl<E: TargetValue, I: TargetDim> FittedPipeline<E, I> {
    /// Predictions for rows of several series or not in time order, one per row, in the order of the dataset. Groups
    /// and folds are ignored.
    ///
    /// # Errors
    /// Returns the errors of [`FittedPipeline::decision_values`].
    ///
    /// # Example
    /// Remove the mean of each of two series:
    /// ```
    /// use linfa::prelude::*;
    /// use ndarray::array;
    /// use vaglio::{Rows, prelude::*};
    ///
    /// let x = array![[1.0], [2.0], [3.0], [4.0], [11.0], [12.0], [13.0], [14.0]];
    /// let dataset = Dataset::new(x, array![-1.6, -0.4, 0.5, 1.4, -1.5, -0.6, 0.5, 1.6]);
    /// let rows = Rows::new().series(["a", "a", "a", "a", "b", "b", "b", "b"]);
    /// let pipeline = Pipeline::new(Loo::default(), Greedy::new(1), Rls::new(0.1)).preprocess(WithinSeries::default());
    /// let fitted = pipeline.fit_with(&dataset, &rows)?;
    /// let predicted = fitted.predict_with(&dataset, &rows)?;
    /// assert!(predicted[0] == predicted[4] && fitted.predict(&dataset)[0] < -5.0);
    /// # Ok::<(), vaglio::FitError>(())
    /// ```
    pub fn predict_with<R: TableRecords, T>(&self, dataset: &DatasetBase<R, T>, rows: &Rows) -> Result<Array<E, I>> {
        Ok(self.targets(&self.predict_outputs(&rows.label(dataset))?))
    }

    fn targets(&self, predictions: &Array2<f64>) -> Array<E, I> {
        let mut y = self.no_targets(predictions.ncols());
        write(predictions, &self.saved.class_order, &self.classes, &mut y);
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

/// linfa's [`Predict`](linfa::traits::Predict) for an array or a dataset. Columns are matched by position, since linfa
/// gives models no names ([`FittedPipeline::by_name`] reorders them). All rows form one series in their present order;
/// [`FittedPipeline::predict_with`] takes others.
///
/// # Panics
/// On another number of columns, and on numbers that are not finite. [`FittedPipeline::predict_with`] and
/// [`FittedPipeline::decision_values`] return an error instead.
impl<R: TableRecords, E: TargetValue, I: TargetDim> PredictInplace<R, Array<E, I>> for FittedPipeline<E, I> {
    #[track_caller]
    fn predict_inplace<'a>(&'a self, x: &'a R, y: &mut Array<E, I>) {
        write(&or_panic(self.predict_outputs(&x.into())), &self.saved.class_order, &self.classes, y);
    }

    fn default_target(&self, x: &R) -> Array<E, I> {
        self.no_targets(x.nsamples())
    }
}

/// A dataset of these records with the targets, weights and target names of another.
fn with_records<R: Records, S: Records, T: AsTargets + Clone>(
    dataset: &DatasetBase<R, T>,
    records: S,
) -> DatasetBase<S, T> {
    DatasetBase::new(records, dataset.targets().clone())
        .with_weights(dataset.weights().map(<[f32]>::to_vec).unwrap_or_default().into())
        .with_target_names(dataset.target_names().to_vec())
}

/// Selected features of an array; panics like predictions.
impl<F: Float, D: Data<Elem = F>, E, I> Transformer<ArrayBase<D, Ix2>, Array2<F>> for FittedPipeline<E, I> {
    #[track_caller]
    fn transform(&self, x: ArrayBase<D, Ix2>) -> Array2<F> {
        self.transform(&x)
    }
}

/// Selected features of an array; panics like predictions.
impl<F: Float, D: Data<Elem = F>, E, I> Transformer<&ArrayBase<D, Ix2>, Array2<F>> for FittedPipeline<E, I> {
    #[track_caller]
    fn transform(&self, x: &ArrayBase<D, Ix2>) -> Array2<F> {
        or_panic(self.features(&x.into()))
    }
}

/// Selected features with targets, weights and names. Panics like predictions, and if the dataset's names show another
/// order of columns.
impl<F: Float, D: Data<Elem = F>, T: AsTargets, E, I>
    Transformer<DatasetBase<ArrayBase<D, Ix2>, T>, DatasetBase<Array2<F>, T>> for FittedPipeline<E, I>
{
    #[track_caller]
    fn transform(&self, dataset: DatasetBase<ArrayBase<D, Ix2>, T>) -> DatasetBase<Array2<F>, T> {
        let features = or_panic(self.features(&(&dataset).into()));
        let names = dataset.target_names().to_vec();
        let DatasetBase { targets, weights, .. } = dataset;
        DatasetBase::new(features, targets)
            .with_weights(weights)
            .with_feature_names(self.selected())
            .with_target_names(names)
    }
}

/// Selected features of a borrowed dataset, with cloned targets; panics like predictions.
impl<F: Float, D: Data<Elem = F>, T: AsTargets + Clone, E, I>
    Transformer<&DatasetBase<ArrayBase<D, Ix2>, T>, DatasetBase<Array2<F>, T>> for FittedPipeline<E, I>
{
    #[track_caller]
    fn transform(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, T>) -> DatasetBase<Array2<F>, T> {
        let features = or_panic(self.features(&dataset.into()));
        with_records(dataset, features).with_feature_names(self.selected())
    }
}
