//! Model of a table that was trained on some of its columns.

use ndarray::Array2;
use vaglio_core::{
    Columns, Error, Expression, Feature, Model, ModelData, ModelParts, Predict, Predictor, Result, saved,
};

/// A model trained on some columns of a problem, with the indices of its inputs.
#[saved(ModelData, "on_columns")]
struct SubsetModel {
    /// Indices of the model's inputs in the problem.
    inputs: Vec<Feature>,
    model: Model,
}

/// Converts a model trained on the columns `among` into a model of the problem with all columns.
///
/// # Errors
/// [`Error::Shape`] if the model reads other columns.
pub(super) fn on_all_columns(model: Model, among: &[Feature]) -> Result<Model> {
    let place = |&input: &Feature| among.get(input).copied();
    let inputs: Option<Vec<Feature>> = model.inputs().iter().map(place).collect();
    let inputs = inputs.ok_or_else(|| Error::Shape(format!("a model of {} columns reads others", among.len())))?;
    Model::new(SubsetModel { inputs, model })
}

impl ModelData for SubsetModel {
    fn parts(&self) -> ModelParts<'_> {
        ModelParts { inputs: &self.inputs, predictor: Predictor::Own(self) }
    }

    fn counts(&self, rows: usize, series: Option<&[u32]>) -> Option<Vec<f64>> {
        self.model.counts(rows, series)
    }

    fn held(&self) -> Option<&Model> {
        Some(&self.model)
    }
}

impl Predict for SubsetModel {
    fn check(&self) -> Result<()> {
        let (inputs, takes) = (self.inputs.len(), self.model.inputs().len());
        if inputs == takes { Ok(()) } else { Err(Error::Shape(format!("{inputs} columns for a model of {takes}"))) }
    }

    fn predict(&self, inputs: &Columns, series: Option<&[u32]>) -> Result<Array2<f64>> {
        self.model.predict(inputs, series)
    }

    fn expressions(&self, inputs: &[Expression]) -> Option<Vec<Expression>> {
        self.model.expressions(inputs)
    }
}
