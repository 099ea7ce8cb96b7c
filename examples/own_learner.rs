//! A learner of your own with a map, under leave-one-out.
//!
//! `cargo run -p vaglio-examples own_learner`

use linfa::traits::Fit;
use vaglio::{Pipeline, criteria::Loo, maps::Standardize, search::Greedy};

// ANCHOR: settings
use std::sync::Arc;
use vaglio_core::{Error, Result, prelude::*};

/// Ridge regression on random cosines of all columns (A. Rahimi and B. Recht, *Random features for large-scale kernel
/// machines*, 2007).
#[part(Learner, "cosines", example = "learner: {kind: cosines, count: 50, frequencies: cauchy}")]
pub struct Cosines {
    /// Number of cosines to select from.
    #[default(20)]
    pub count: usize,
    /// Distribution of the frequencies.
    pub frequencies: Frequencies,
    /// The penalty λ, or several.
    pub lambda: Lambda,
}

// ANCHOR: enum
/// A distribution.
#[setting]
#[derive(Copy, PartialEq, Default)]
pub enum Frequencies {
    /// Spectral distribution of the Gaussian kernel.
    #[default]
    Normal,
    /// Spectral distribution of the Laplace kernel.
    Cauchy,
}
// ANCHOR_END: enum
// ANCHOR_END: settings

// ANCHOR: learner
impl Learner for Cosines {
    fn readout(&self) -> Result<Option<Readout>> {
        Readout::with_lambda(&self.lambda, true).map(Some)
    }

    /// The design's columns are the cosines; the map remembers their parameters.
    fn design(&self, problem: &Problem, readout: Readout) -> Result<Design> {
        let mut random = ChaCha8Rng::seed_from_u64(problem.seed());
        let mut wave = || -> Wave {
            let frequencies = (0..problem.columns().len()).map(|_| self.frequencies.draw(&mut random)).collect();
            Wave { frequencies, shift: std::f64::consts::TAU * uniform(&mut random) }
        };
        let map = Waves((0..self.count).map(|_| wave()).collect());
        let columns = cosines(&map.0, problem.columns())?;
        let names = (1..=self.count).map(|k| format!("cos{k}")).collect();
        Design::from_map(problem, columns, names, readout, Arc::new(map))
    }

    fn check_settings(&self) -> Result<()> {
        Error::unless_between("count", self.count, 1..=100_000)?;
        self.readout().map(drop)
    }
}
// ANCHOR_END: learner

// ANCHOR: map
/// cos(wᵀu + b) of a row u.
#[setting]
#[derive(PartialEq)]
struct Wave {
    frequencies: Vec<f64>,
    shift: f64,
}

/// All cosines; a model takes the selected ones.
#[derive(Debug)]
struct Waves(Vec<Wave>);

impl FeatureMap for Waves {
    /// `subset` indexes the design's columns; the inputs are columns of the problem.
    fn model(&self, subset: &[Feature], lambda: f64, coefficients: Coefficients) -> Result<Model> {
        let wave = |&k: &Feature| self.0.get(k).cloned().ok_or_else(|| Error::Shape(format!("there is no cosine {k}")));
        let waves = subset.iter().map(wave).collect::<Result<Vec<Wave>>>()?;
        let inputs = (0..waves.first().map_or(0, |wave| wave.frequencies.len())).collect();
        Model::new(CosinesModel { inputs, waves, lambda, coefficients })
    }
}

fn cosines(waves: &[Wave], inputs: &Columns) -> Result<Columns> {
    let mut columns = Columns::new(inputs.rows());
    for Wave { frequencies, shift } in waves {
        let mut angles = vec![*shift; inputs.rows()];
        for (column, frequency) in inputs.iter().zip(frequencies) {
            angles.iter_mut().zip(column.values().iter()).for_each(|(angle, value)| *angle += frequency * value);
        }
        if !angles.iter().all(|angle| angle.is_finite()) {
            return Err(Error::Numerical("the columns are too large; standardize them".into()));
        }
        columns.push(angles.iter().map(|angle| angle.cos()).collect::<Vec<f64>>());
    }
    Ok(columns)
}
// ANCHOR_END: map

// ANCHOR: model
/// Saved model: the selected cosines and their readout.
#[saved(ModelData, "cosines_model")]
struct CosinesModel {
    inputs: Vec<Feature>,
    waves: Vec<Wave>,
    lambda: f64,
    coefficients: Coefficients,
}

impl ModelData for CosinesModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn readout(&self) -> Option<TrainedReadout<'_>> {
        Some(TrainedReadout { lambda: self.lambda, coefficients: &self.coefficients, map: Some(self) })
    }
}

impl ReadoutMap for CosinesModel {
    /// Model files may be damaged; the coefficients are checked already.
    fn check(&self) -> Result<()> {
        let is_whole = |wave: &Wave| {
            let mut numbers = wave.frequencies.iter().chain([&wave.shift]);
            wave.frequencies.len() == self.inputs.len() && numbers.all(|number| number.is_finite())
        };
        let all = self.waves.iter().all(is_whole);
        if all { Ok(()) } else { Err(Error::Shape("a cosine has not one frequency for each input".into())) }
    }

    fn count(&self) -> usize {
        self.waves.len()
    }

    fn features(&self, inputs: &Columns, _series: Option<&[u32]>) -> Result<Columns> {
        cosines(&self.waves, inputs)
    }
}
// ANCHOR_END: model

// ANCHOR: random
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

impl Frequencies {
    fn draw(self, random: &mut ChaCha8Rng) -> f64 {
        use std::f64::consts::{PI, TAU};
        match self {
            Frequencies::Normal => (-2.0 * (1.0 - uniform(random)).ln()).sqrt() * (TAU * uniform(random)).cos(),
            Frequencies::Cauchy => (PI * (uniform(random) - 0.5)).tan(),
        }
    }
}

/// A uniform number in [0, 1).
fn uniform(random: &mut ChaCha8Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}
// ANCHOR_END: random

/// Selects ten of a hundred cosines of standardized columns.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dataset = vaglio_examples::diabetes()?;
    let learner = Cosines { count: 100, lambda: Lambda::from(0.1), ..Cosines::default() };
    let pipeline = Pipeline::new(Loo::default(), Greedy::new(10), learner).preprocess(Standardize::default());
    let fitted = pipeline.fit(&dataset)?;
    println!("{}", fitted.selected().join(", "));
    assert!(fitted.selected().iter().all(|name| name.starts_with("cos")));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Cosines, Frequencies};

    // ANCHOR: laws
    #[test]
    fn it_keeps_the_laws() -> Result<(), vaglio_testkit::LawViolation> {
        for frequencies in [Frequencies::Normal, Frequencies::Cauchy] {
            let learner = Cosines { count: 8, frequencies, ..Cosines::default() };
            vaglio_testkit::check_learner_on_standard_data(&learner, 1e-8)?;
        }
        Ok(())
    }
    // ANCHOR_END: laws
}
