//! One pipeline on the papers' data.

use clap::ValueEnum;
use ndarray::ArrayView1;
use std::path::PathBuf;
use std::time::Instant;
use vaglio::Selection;
use vaglio::files::prepare;
use vaglio::search::Silent;
use vaglio_core::{Problem, Result};
use vaglio_pipeline::pipeline::load;
use vaglio_report::record::Figures;

/// What judges chosen columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Judge {
    /// Kernel ridge regression at the median distance, λ by leave-one-out.
    KernelRidge,
    /// Kernel logistic regression, width and λ by three folds.
    KernelLogistic,
}

/// What all tables share.
pub struct Bench<'b> {
    /// The folder of the data.
    pub folder: PathBuf,
    /// Where pictures go, if anywhere.
    pub pictures: Option<PathBuf>,
    /// How many splits or seeds.
    pub seeds: u64,
    /// How many folds at most, where there are ten.
    pub folds: usize,
    /// What the name of a data set must contain.
    pub only: String,
    /// What the name of a way must contain, where several are compared.
    pub way: String,
    /// What judges chosen columns by the classes that it finds.
    pub judge: Judge,
    /// Tells the user what is being done.
    pub note: &'b (dyn Fn(&str) + Sync),
}

/// A pipeline that was run.
pub struct BenchRun {
    pub selection: Selection,
    /// Figures on the test rows.
    pub test: Option<Figures>,
    /// The test rows.
    pub test_rows: Option<Problem>,
    /// Seconds of the learner's map, the search and the final fit, without reading.
    pub seconds: f64,
}

impl Bench<'_> {
    /// Whether a data set is asked for and its files are there; says so where they are not.
    pub fn has(&self, name: &str, files: &[&str]) -> bool {
        if !name.to_lowercase().contains(&self.only.to_lowercase()) {
            return false;
        }
        let missing = files.iter().map(|file| self.folder.join(format!("{file}.parquet"))).find(|path| !path.exists());
        if let Some(path) = &missing {
            (self.note)(&format!("{name} is left out: {} is not there", path.display()));
        }
        missing.is_none()
    }

    /// Writes a picture beside the tables, where these are written to a file.
    pub fn picture(&self, name: &str, draw: impl FnOnce() -> Result<String>) -> Result<()> {
        let Some(folder) = &self.pictures else { return Ok(()) };
        vaglio_pipeline::pipeline::write_file(&folder.join(format!("{name}.svg")), &draw()?)
    }

    /// Runs the pipeline of a text; paths in it are relative to the folder of the data.
    pub fn run(&self, text: &str) -> Result<BenchRun> {
        let (pipeline, _) = load(text, "pipeline", &[])?;
        let prepared = prepare(&pipeline, &self.folder)?;
        let start = Instant::now();
        let selection = pipeline.selector().select(&prepared.train, &mut Silent)?;
        let seconds = start.elapsed().as_secs_f64();
        let test = prepared.figures(&selection.model, &vaglio::core::Squared)?;
        Ok(BenchRun { selection, test, test_rows: prepared.test, seconds })
    }
}

impl BenchRun {
    /// The share of the test rows of each series whose class is another one than that of the largest prediction; none without
    /// series. The model predicts from the columns as they are.
    pub fn errors_of_series(&self) -> Result<Vec<f64>> {
        let Some((test, series)) = self.test_rows.as_ref().and_then(|test| Some((test, test.series()?))) else {
            return Ok(Vec::new());
        };
        let model = &self.selection.model;
        let predicted = model.predict(&test.columns().select(model.inputs()), None)?;
        let largest = |values: ArrayView1<'_, f64>| {
            values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).map(|(class, _)| class)
        };
        let mut shares = vec![(0.0, 0.0); series.iter().max().map_or(0, |last| *last as usize + 1)];
        for (row, series) in series.iter().enumerate() {
            let is_wrong = largest(predicted.column(row)) != largest(test.targets().column(row));
            let share = &mut shares[*series as usize];
            *share = (share.0 + f64::from(u8::from(is_wrong)), share.1 + 1.0);
        }
        Ok(shares.into_iter().filter(|share| share.1 > 0.0).map(|(wrong, rows)| wrong / rows).collect())
    }
}

/// The middle of some numbers; of an even count, the mean of the middle two.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (count, half) = (values.len(), values.len() / 2);
    match count {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[half],
        _ => (values[half - 1] + values[half]) / 2.0,
    }
}

/// The mean of some numbers.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
