//! A pipeline fitted on a linfa dataset.

use super::ValidPipeline;
use crate::linfa_api::{FitError, TargetValue, chosen, default_target, problem, write};
use crate::resample::{Fitted, Rows, Sample, numeric, unscale};
use crate::selector::Selection;
use linfa::Float;
use linfa::dataset::{AsTargets, DatasetBase, TargetDim};
use linfa::traits::{Fit, PredictInplace, Transformer};
use ndarray::{Array, Array2, ArrayBase, Axis, Data, Ix2};
use std::marker::PhantomData;
use std::sync::Arc;
use vaglio_core::{Cells, Columns, Error, FittedMap, Path, Result, Silent, Table, TargetScale, Task};

/// A fitted pipeline: maps the columns, keeps the chosen ones ([`Transformer`]) and predicts with them
/// ([`PredictInplace`]).
///
/// `E` is the type of a target, `I` whether targets are one column or several.
#[derive(Debug)]
pub struct FittedPipeline<E, I> {
    inputs: Vec<String>,
    maps: Vec<Box<dyn FittedMap>>,
    scales: Option<Vec<TargetScale>>,
    names: Vec<String>,
    task: Task,
    width: Option<usize>,
    selection: Selection,
    marker: PhantomData<fn() -> (E, I)>,
}

impl<F: Float, D: Data<Elem = F>, T: AsTargets<Elem = E>, E: TargetValue> Fit<ArrayBase<D, Ix2>, T, FitError>
    for ValidPipeline
{
    type Object = FittedPipeline<E, T::Ix>;

    fn fit(&self, dataset: &DatasetBase<ArrayBase<D, Ix2>, T>) -> std::result::Result<Self::Object, FitError> {
        let raw = problem(dataset)?;
        let weights = raw.weights().map(|w| w.to_vec());
        let rows = Rows {
            table: table(raw.names(), raw.columns())?,
            targets: raw.targets().as_ref().clone(),
            weights,
            groups: None,
            assignment: None,
            time: None,
        };
        let rows_before = raw.rows();
        let recipe = self.recipe(raw.task().clone(), raw.target_names().to_vec())?;
        let sample = Sample::new(rows, Arc::new(recipe), self.0.learner.needs_order())?;
        let Fitted { problem: mapped, maps, scales } = sample.fitted()?;
        if mapped.rows() != rows_before {
            return Err(Error::setting(
                "preprocess",
                "rows are dropped, which a linfa dataset cannot follow; use vaglio::pipeline::run",
            )
            .into());
        }
        let selector = self.tuned(&mapped, &mut Silent)?.0;
        let selection = selector.select_of(&sample, &mapped, &mut Silent)?;
        let targets = dataset.as_targets();
        Ok(FittedPipeline {
            inputs: raw.names().to_vec(),
            maps,
            scales,
            names: mapped.names().to_vec(),
            task: raw.task().clone(),
            width: (targets.ndim() == 2).then(|| targets.len_of(Axis(1))),
            selection,
            marker: PhantomData,
        })
    }
}

impl<E, I> FittedPipeline<E, I> {
    /// Names of the chosen columns, in order of entry.
    pub fn selected(&self) -> Vec<&str> {
        let subset = self.path().result().map_or(&[][..], |entry| &entry.subset);
        subset.iter().filter_map(|&f| self.selection.names.get(f)).map(String::as_str).collect()
    }

    /// The steps of the search and the best subset of each size.
    pub fn path(&self) -> &Path {
        &self.selection.path
    }

    /// The columns of `x` after the maps, and those among them at `features`.
    fn map<F: Float, D: Data<Elem = F>>(&self, x: &ArrayBase<D, Ix2>, features: &[usize]) -> Result<Columns> {
        let mut columns = Columns::new(x.nrows());
        for column in x.columns() {
            columns.push(column.iter().map(|v| v.to_f64().unwrap_or(f64::NAN)).collect::<Vec<_>>());
        }
        let mut table = table(&self.inputs, &columns)?;
        for map in &self.maps {
            table = map.transform(table)?;
        }
        let (columns, names) = numeric(&mut table)?;
        if names != self.names {
            return Err(Error::Shape("the columns are not those of the training rows".into()));
        }
        Ok(columns.select(features))
    }
}

fn table(names: &[String], columns: &Columns) -> Result<Table> {
    let cells = |index: usize| Cells::Numbers(columns.column(index).values().into_owned().into());
    Table::new(names.iter().cloned().enumerate().map(|(index, name)| (name, cells(index))).collect())
}

impl<F: Float, D: Data<Elem = F>, E: TargetValue, I: TargetDim> PredictInplace<ArrayBase<D, Ix2>, Array<E, I>>
    for FittedPipeline<E, I>
{
    fn predict_inplace<'a>(&'a self, x: &'a ArrayBase<D, Ix2>, y: &mut Array<E, I>) {
        let made =
            self.map(x, self.selection.model.inputs()).and_then(|inputs| self.selection.model.predict(&inputs, None));
        assert!(made.is_ok(), "prediction takes the columns that the pipeline was fitted on: {:?}", made.err());
        let mut made = made.unwrap_or_default();
        unscale(&mut made, self.scales.as_deref());
        write(&made, &self.task, y);
    }

    fn default_target(&self, x: &ArrayBase<D, Ix2>) -> Array<E, I> {
        default_target(x.nrows(), self.width)
    }
}

impl<F: Float, D: Data<Elem = F>, E, I> Transformer<ArrayBase<D, Ix2>, Array2<F>> for FittedPipeline<E, I> {
    fn transform(&self, x: ArrayBase<D, Ix2>) -> Array2<F> {
        let made = self.map(&x, self.selection.model.inputs());
        assert!(made.is_ok(), "a transformation takes the columns that the pipeline was fitted on: {:?}", made.err());
        let inputs = made.unwrap_or_default();
        let plain = || Array2::from_shape_fn((x.nrows(), inputs.len()), |(row, k)| F::cast(inputs.column(k).get(row)));
        chosen(&self.selection, &inputs, plain)
    }
}

impl<F: Float, D: Data<Elem = F>, T: AsTargets, E, I>
    Transformer<DatasetBase<ArrayBase<D, Ix2>, T>, DatasetBase<Array2<F>, T>> for FittedPipeline<E, I>
{
    fn transform(&self, dataset: DatasetBase<ArrayBase<D, Ix2>, T>) -> DatasetBase<Array2<F>, T> {
        let weights = dataset.weights().map(<[f32]>::to_vec);
        let DatasetBase { records, targets, .. } = dataset;
        let smaller = DatasetBase::new(self.transform(records), targets).with_feature_names(self.selected());
        match weights {
            Some(weights) => smaller.with_weights(weights.into()),
            None => smaller,
        }
    }
}
