//! One pipeline on the papers' data.

use std::path::PathBuf;
use std::time::Instant;
use vaglio::Selection;
use vaglio::files::prepare;
use vaglio::pipeline::load;
use vaglio::record::Figures;
use vaglio_core::{Result, Silent};

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
    /// Tells the user what is being done.
    pub note: &'b (dyn Fn(&str) + Sync),
}

/// A pipeline that was run.
pub struct BenchRun {
    pub selection: Selection,
    /// Figures on the test rows.
    pub test: Option<Figures>,
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
        vaglio::pipeline::write_file(&folder.join(format!("{name}.svg")), &draw()?)
    }

    /// Runs the pipeline of a text; paths in it are relative to the folder of the data.
    pub fn run(&self, text: &str) -> Result<BenchRun> {
        let (pipeline, _) = load(text, "pipeline", &[])?;
        let prepared = prepare(&pipeline, &self.folder)?;
        let start = Instant::now();
        let selection = pipeline.selector().select(&prepared.train, &mut Silent)?;
        let seconds = start.elapsed().as_secs_f64();
        let test = prepared.figures(&selection.model, &vaglio::core::Squared)?;
        Ok(BenchRun { selection, test, seconds })
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
