//! Trained models, checked for consistency.

use crate::{Coefficients, Columns, Error, Expression, Feature, Result};
use ndarray::Array2;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

/// A trained model with consistent parts, whether it comes from a learner or a file.
///
/// Clones share the data.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Model(Arc<dyn ModelData>);

/// The result of training: data only, without a reference to the training data.
///
/// Implement it for a struct with [`#[saved(ModelData, "word")]`](crate::saved). [`ModelData::check`] and
/// [`ReadoutMap::check`] validate its parts. So no file makes predicting panic, or take more memory than it and the
/// rows justify.
pub trait ModelData: registered::ModelData + Debug + Send + Sync {
    /// The problem's columns that the model reads, in the order of its inputs.
    fn inputs(&self) -> &[Feature];

    /// The ridge readout that predicts; `None` if the model predicts by itself.
    fn readout(&self) -> Option<TrainedReadout<'_>> {
        None
    }

    /// Refuses parts that do not fit together. Coefficients and map of a readout are checked anyway.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] for such parts.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Predicts, outputs × rows, from the model's input columns; for a model without a readout.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] or [`Error::Numerical`] for rows that it cannot predict.
    fn predict(&self, _inputs: &Columns, _series: Option<&[u32]>) -> Result<Array2<f64>> {
        Err(Error::Shape("the model has neither a readout nor predictions of its own".into()))
    }

    /// The prediction of each output as an expression of the inputs' expressions; for a model without a readout.
    /// `vaglio export` uses it to write the model in other languages. `None` if there is no such expression.
    fn expressions(&self, _inputs: &[Expression]) -> Option<Vec<Expression>> {
        None
    }

    /// The weight of each row in a mean over predictions; `None` if all are equal.
    ///
    /// Rows before the model has warmed up have weight 0. Rows of a series with one common decision have weight one
    /// over their number.
    fn counts(&self, _rows: usize, _series: Option<&[u32]>) -> Option<Vec<f64>> {
        None
    }

    /// The inner model, if this one wraps another and predicts by it.
    fn held(&self) -> Option<&Model> {
        None
    }
}

crate::part_setting::registered_traits! { ModelData "model" }

/// A trained ridge readout of a model's inputs, or of features that a map makes of them.
#[derive(Debug)]
pub struct TrainedReadout<'m> {
    /// The penalty used in training.
    pub lambda: f64,
    /// Coefficients, features × outputs, in the order of the subset.
    pub coefficients: &'m Coefficients,
    /// The map that makes the features; `None` if they are the inputs themselves.
    pub map: Option<&'m dyn ReadoutMap>,
}

/// The fitted map of a model from its inputs to the features of its readout.
pub trait ReadoutMap: Debug {
    /// Refuses parts that do not fit together.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] for such parts.
    fn check(&self) -> Result<()>;

    /// Number of features, as many as the model has selected.
    fn count(&self) -> usize;

    /// Computes the features from the model's input columns.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] or [`Error::Numerical`] for rows that it cannot map.
    fn features(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Columns>;

    /// The features as expressions of the inputs' expressions. `vaglio export` uses them to write the model in other
    /// languages. `None` if a feature has no expression.
    fn expressions(&self, _inputs: &[Expression]) -> Option<Vec<Expression>> {
        None
    }

    /// Maps the readout's predictions, outputs × rows; unchanged unless rows are decided together.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] for rows without a possible decision.
    fn decide(&self, predictions: Array2<f64>, _series: Option<&[u32]>) -> Result<Array2<f64>> {
        Ok(predictions)
    }
}

impl Model {
    /// Checks the data that a learner returned and wraps them.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] for parts that do not fit together, or numbers that are not finite.
    pub fn new(data: impl ModelData + 'static) -> Result<Self> {
        Model(Arc::new(data)).check_parts()
    }

    fn check_parts(self) -> Result<Self> {
        self.0.check()?;
        if let Some(TrainedReadout { lambda, coefficients, map }) = self.0.readout() {
            map.map_or(Ok(()), ReadoutMap::check)?;
            coefficients.check(map.map_or(self.0.inputs().len(), ReadoutMap::count))?;
            if !lambda.is_finite() {
                return Err(Error::Shape(format!("lambda is {lambda}")));
            }
        }
        Ok(self)
    }

    /// The word in saved files.
    pub fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// The words needed to read the model: its own, and those of the models inside it.
    pub fn kinds(&self) -> Vec<&'static str> {
        std::iter::successors(Some(self), |model| model.0.held()).map(Model::kind).collect()
    }

    /// The problem's columns that the model reads, in the order in which [`Model::predict`] takes them.
    pub fn inputs(&self) -> &[Feature] {
        self.0.inputs()
    }

    /// The penalty used in training, if the model has a readout.
    pub fn lambda(&self) -> Option<f64> {
        self.0.readout().map(|readout| readout.lambda)
    }

    /// The readout's coefficients, features × outputs in the order of the subset, if the model has one.
    pub fn coefficients(&self) -> Option<&Coefficients> {
        self.0.readout().map(|readout| readout.coefficients)
    }

    /// Predicts, outputs × rows, from the columns named by [`Model::inputs`], in that order.
    ///
    /// `series` is the series of each row; rows of one series are contiguous and in the order of time. `None` makes all
    /// rows one series. Models of independent rows ignore it.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] when the number of columns differs, or an error of the model.
    pub fn predict(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Array2<f64>> {
        match self.coefficients() {
            Some(readout) => self.decide(readout.predict_columns(&*self.features(inputs, series)?)?, series),
            None => self.0.predict(self.read(inputs)?, series),
        }
    }

    /// Predicts, outputs × rows, by another readout of the model's selected features, or of the first of them.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] for more coefficients than features, or an error of the model's map.
    pub fn predict_with(
        &self,
        readout: &Coefficients,
        features: &Columns,
        series: Option<&[u32]>,
    ) -> Result<Array2<f64>> {
        let first: Vec<Feature> = (0..readout.weights.nrows().min(features.len())).collect();
        self.decide(readout.predict_columns(&features.select(&first))?, series)
    }

    fn decide(&self, predictions: Array2<f64>, series: Option<&[u32]>) -> Result<Array2<f64>> {
        match self.map() {
            Some(map) => map.decide(predictions, series),
            None => Ok(predictions),
        }
    }

    /// The selected features: the map's outputs, or the inputs themselves without a map.
    ///
    /// # Errors
    /// Returns an error of [`Model::predict`].
    pub fn features<'c>(&self, inputs: &'c Columns, series: Option<&[u32]>) -> Result<Cow<'c, Columns>> {
        let inputs = self.read(inputs)?;
        match self.map() {
            Some(map) => map.features(inputs, series).map(Cow::Owned),
            None => Ok(Cow::Borrowed(inputs)),
        }
    }

    fn map(&self) -> Option<&dyn ReadoutMap> {
        self.0.readout()?.map
    }

    /// The prediction of each output as an expression of the inputs' expressions, in the order of [`Model::inputs`].
    /// `None` if there is no such expression.
    pub fn expressions(&self, inputs: &[Expression]) -> Option<Vec<Expression>> {
        let Some(TrainedReadout { coefficients, map, .. }) = self.0.readout() else {
            return self.0.expressions(inputs);
        };
        let features = map.map_or_else(|| Some(inputs.to_vec()), |map| map.expressions(inputs))?;
        let output = |(k, intercept): (usize, &f64)| {
            let weighted = features.iter().zip(coefficients.weights.column(k));
            let terms = weighted.map(|(feature, weight)| Expression::from(*weight).times(feature.clone()));
            Expression::Sum([Expression::from(*intercept)].into_iter().chain(terms).collect())
        };
        Some(coefficients.intercept.iter().enumerate().map(output).collect())
    }

    /// Whether each row's prediction is independent of other rows, to the last bit. True for a readout of unmapped
    /// columns.
    pub fn takes_rows_alone(&self) -> bool {
        matches!(self.0.readout(), Some(TrainedReadout { map: None, .. })) && self.0.counts(1, None).is_none()
    }

    /// The weight of each row in a mean over predictions; `None` if all are equal. See [`ModelData::counts`].
    pub fn counts(&self, rows: usize, series: Option<&[u32]>) -> Option<Vec<f64>> {
        self.0.counts(rows, series)
    }

    /// Checks that there are as many columns as the model has inputs.
    fn read<'c>(&self, columns: &'c Columns) -> Result<&'c Columns> {
        let wanted = self.inputs().len();
        match columns.len() == wanted {
            true => Ok(columns),
            false => Err(Error::Shape(format!("{} columns, and the model reads {wanted}", columns.len()))),
        }
    }
}

impl<'de> Deserialize<'de> for Model {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Model(Box::<dyn ModelData>::deserialize(deserializer)?.into()).check_parts().map_err(serde::de::Error::custom)
    }
}
