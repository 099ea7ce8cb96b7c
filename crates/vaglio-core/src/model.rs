//! Trained models: what a learner has learned, checked.

use crate::{Coefficients, Columns, Error, Expression, Feature, FeatureMap, Found, Result, Trained, registered};
use ndarray::Array2;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;

/// A trained model, whose parts fit together: those of a file are checked as those of a learner are.
///
/// Clones share what was learned.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Model(Arc<dyn ModelData>);

/// The result of training: data only, without a reference to the training data.
///
/// A struct with [`#[saved(ModelData, "word")]`](crate::saved); its parts are checked by [`ReadoutMap::check`] or
/// [`Predict::check`], so that no file makes predicting panic, or take more memory than the file and
/// the rows are large.
pub trait ModelData: registered::ModelData + Debug + Send + Sync {
    /// The parts of the model, from which follows all that [`Model`] says.
    fn parts(&self) -> ModelParts<'_>;

    /// How much each row counts in a mean over predictions; `None`: all alike.
    ///
    /// Rows on which the model had not yet warmed up count 0; the rows of a series that is decided as one count one
    /// over their number.
    fn counts(&self, _rows: usize, _series: Option<&[u32]>) -> Option<Vec<f64>> {
        None
    }

    /// Findings of the training, for people.
    fn found(&self) -> Found {
        Found::default()
    }

    /// The model that it holds and predicts by, if it does.
    fn held(&self) -> Option<&Model> {
        None
    }
}

/// The parts of a model.
#[derive(Debug)]
pub struct ModelParts<'m> {
    /// The problem's columns that the model reads, in the order in which it takes them.
    pub inputs: &'m [Feature],
    /// The predictor on these inputs.
    pub predictor: Predictor<'m>,
}

/// The predictor on the inputs of a model.
#[derive(Debug)]
pub enum Predictor<'m> {
    /// A ridge readout.
    Readout {
        /// The penalty that it was trained with.
        lambda: f64,
        /// Features × outputs, in the order of the subset.
        coefficients: &'m Coefficients,
        /// The map that makes the features; `None`: they are the inputs themselves.
        map: Option<&'m dyn ReadoutMap>,
    },
    /// The model by itself.
    Own(&'m dyn Predict),
}

/// The fitted map of a model from its inputs to the features of its readout.
pub trait ReadoutMap: Debug {
    /// Refuses parts that do not fit together.
    ///
    /// # Errors
    /// [`Error::Shape`].
    fn check(&self) -> Result<()>;

    /// Number of features, as many as the model has selected.
    fn count(&self) -> usize;

    /// The features, from as many columns as the model has inputs.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::Numerical`] for rows that it cannot map.
    fn features(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Columns>;

    /// The features as expressions over those of the inputs, so that `vaglio export` writes the model in other languages;
    /// `None` where a feature is none.
    fn expressions(&self, _inputs: &[Expression]) -> Option<Vec<Expression>> {
        None
    }

    /// Maps the readout's predictions, outputs × rows; unchanged unless rows are decided together.
    ///
    /// # Errors
    /// [`Error::Shape`] for rows on which nothing can be decided.
    fn decide(&self, predictions: Array2<f64>, _series: Option<&[u32]>) -> Result<Array2<f64>> {
        Ok(predictions)
    }
}

/// A model that predicts by itself.
pub trait Predict: Debug {
    /// Refuses parts that do not fit together.
    ///
    /// # Errors
    /// [`Error::Shape`].
    fn check(&self) -> Result<()>;

    /// Predictions, outputs × rows, from as many columns as the model has inputs.
    ///
    /// # Errors
    /// [`Error::Shape`] or [`Error::Numerical`] for rows that it cannot predict.
    fn predict(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Array2<f64>>;

    /// The prediction of each output as an expression over those of the inputs, so that `vaglio export` writes the model in
    /// other languages; `None` where it is none.
    fn expressions(&self, _inputs: &[Expression]) -> Option<Vec<Expression>> {
        None
    }
}

impl Model {
    /// The model of what a learner has learned.
    ///
    /// # Errors
    /// [`Error::Shape`] for parts that do not fit together, or hold a number that is not finite.
    pub fn new(data: impl ModelData + 'static) -> Result<Self> {
        Model(Arc::new(data)).checked()
    }

    fn checked(self) -> Result<Self> {
        let ModelParts { inputs, predictor } = self.0.parts();
        match predictor {
            Predictor::Own(own) => own.check()?,
            Predictor::Readout { lambda, coefficients, map } => {
                map.map_or(Ok(()), ReadoutMap::check)?;
                coefficients.check(map.map_or(inputs.len(), ReadoutMap::count))?;
                if !lambda.is_finite() {
                    return Err(Error::Shape(format!("lambda is {lambda}")));
                }
            }
        }
        Ok(self)
    }

    /// Findings of the training.
    pub fn found(&self) -> Found {
        self.0.found()
    }

    /// The word in saved files.
    pub fn kind(&self) -> &'static str {
        self.0.typetag_name()
    }

    /// The words by which it is read: its own, and that of a model that it holds.
    pub fn kinds(&self) -> Vec<&'static str> {
        std::iter::successors(Some(self), |model| model.0.held()).map(Model::kind).collect()
    }

    /// The problem's columns that the model reads, in the order in which [`Model::predict`] takes them.
    pub fn inputs(&self) -> &[Feature] {
        self.0.parts().inputs
    }

    /// The penalty that the model was trained with, if it has a readout.
    pub fn lambda(&self) -> Option<f64> {
        match self.0.parts().predictor {
            Predictor::Readout { lambda, .. } => Some(lambda),
            Predictor::Own(_) => None,
        }
    }

    /// The readout's coefficients, features × outputs in the order of the subset, if the model has one.
    pub fn coefficients(&self) -> Option<&Coefficients> {
        match self.0.parts().predictor {
            Predictor::Readout { coefficients, .. } => Some(coefficients),
            Predictor::Own(_) => None,
        }
    }

    /// Predictions, outputs × rows, from the columns named by [`Model::inputs`], in that order.
    ///
    /// `series` is the series that each row belongs to; rows of one series stand together, in the order of time. `None`:
    /// all rows are one series. Models of rows that stand for themselves ignore it.
    ///
    /// # Errors
    /// [`Error::Shape`] when the number of columns differs, and the model's own.
    pub fn predict(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Array2<f64>> {
        match self.0.parts().predictor {
            Predictor::Own(own) => own.predict(self.read(inputs)?, series),
            Predictor::Readout { coefficients, map, .. } => {
                let predictions = coefficients.of_columns(&*self.features(inputs, series)?)?;
                match map {
                    Some(map) => map.decide(predictions, series),
                    None => Ok(predictions),
                }
            }
        }
    }

    /// Predictions, outputs × rows, of another readout of the model's selected features, or of the first of them.
    ///
    /// # Errors
    /// [`Error::Shape`] for more coefficients than features; those of the model's map.
    pub fn predict_with(
        &self,
        readout: &Coefficients,
        features: &Columns,
        series: Option<&[u32]>,
    ) -> Result<Array2<f64>> {
        let first: Vec<Feature> = (0..readout.weights.nrows().min(features.len())).collect();
        let predictions = readout.of_columns(&features.select(&first))?;
        match self.0.parts().predictor {
            Predictor::Readout { map: Some(map), .. } => map.decide(predictions, series),
            _ => Ok(predictions),
        }
    }

    /// The selected features: those that a map makes of the inputs, or the inputs themselves.
    ///
    /// # Errors
    /// Those of [`Model::predict`].
    pub fn features<'c>(&self, inputs: &'c Columns, series: Option<&[u32]>) -> Result<Cow<'c, Columns>> {
        let inputs = self.read(inputs)?;
        match self.0.parts().predictor {
            Predictor::Readout { map: Some(map), .. } => map.features(inputs, series).map(Cow::Owned),
            _ => Ok(Cow::Borrowed(inputs)),
        }
    }

    /// The prediction of each output as an expression over those of the inputs, in the order of [`Model::inputs`]; `None` where
    /// the model cannot be written so.
    pub fn expressions(&self, inputs: &[Expression]) -> Option<Vec<Expression>> {
        let (coefficients, map) = match self.0.parts().predictor {
            Predictor::Own(own) => return own.expressions(inputs),
            Predictor::Readout { coefficients, map, .. } => (coefficients, map),
        };
        let features = map.map_or_else(|| Some(inputs.to_vec()), |map| map.expressions(inputs))?;
        let output = |(k, intercept): (usize, &f64)| {
            let weighted = features.iter().zip(coefficients.weights.column(k));
            let terms = weighted.map(|(feature, weight)| Expression::from(*weight).times(feature.clone()));
            Expression::Sum([Expression::from(*intercept)].into_iter().chain(terms).collect())
        };
        Some(coefficients.intercept.iter().enumerate().map(output).collect())
    }

    /// Whether each row is predicted by itself, by a readout of the columns as they are, so that others about it change not a
    /// bit.
    pub fn takes_rows_alone(&self) -> bool {
        matches!(self.0.parts().predictor, Predictor::Readout { map: None, .. }) && self.0.counts(1, None).is_none()
    }

    /// How much each row counts in a mean over predictions; `None`: all alike. See [`ModelData::counts`].
    pub fn counts(&self, rows: usize, series: Option<&[u32]>) -> Option<Vec<f64>> {
        self.0.counts(rows, series)
    }

    /// The columns, if they are as many as the model reads.
    fn read<'c>(&self, columns: &'c Columns) -> Result<&'c Columns> {
        let wanted = self.inputs().len();
        match columns.len() == wanted {
            true => Ok(columns),
            false => Err(Error::Shape(format!("{} columns, and the model reads {wanted}", columns.len()))),
        }
    }
}

impl<'de> Deserialize<'de> for Model {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Model(Box::<dyn ModelData>::deserialize(deserializer)?.into()).checked().map_err(serde::de::Error::custom)
    }
}

/// A ridge readout of columns as they are.
#[crate::saved(ModelData, "linear")]
struct Linear {
    inputs: Vec<Feature>,
    lambda: f64,
    coefficients: Coefficients,
}

impl ModelData for Linear {
    fn parts(&self) -> ModelParts<'_> {
        let Linear { inputs, lambda, coefficients } = self;
        ModelParts { inputs, predictor: Predictor::Readout { lambda: *lambda, coefficients, map: None } }
    }
}

/// No map at all: columns stand for themselves.
#[derive(Debug)]
pub(crate) struct Identity;

impl FeatureMap for Identity {
    fn model(&self, subset: &[Feature], readout: Trained) -> Result<Model> {
        let Trained { lambda, coefficients } = readout;
        Model::new(Linear { inputs: subset.to_vec(), lambda, coefficients })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"kind":"linear","inputs":[3,1],"lambda":0.5,"coefficients":{"weights":{"v":1,"dim":[2,1],"data":[1.0,2.0]},"intercept":[0.5]}}"#;

    #[test]
    fn a_file_whose_parts_do_not_fit_is_refused() {
        let linear: Model = serde_json::from_str(GOOD).unwrap();
        assert_eq!(serde_json::to_string(&linear).unwrap(), GOOD);
        for (from, to) in [("[3,1]", "[3]"), ("[0.5]", "[]"), ("[2,1]", "[1,2]"), ("\"lambda\"", "\"lamda\"")] {
            assert!(serde_json::from_str::<Model>(&GOOD.replacen(from, to, 1)).is_err(), "{to}");
        }
    }

    #[test]
    fn a_model_takes_as_many_columns_as_it_reads() {
        let model: Model = serde_json::from_str(GOOD).unwrap();
        let mut columns = Columns::new(1);
        for count in 0..4 {
            assert_eq!(model.predict(&columns, None).is_ok(), count == 2);
            assert_eq!(model.features(&columns, None).is_ok(), count == 2);
            columns.push(vec![1.0]);
        }
    }
}
