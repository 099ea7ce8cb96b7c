//! Shared code of the example programs: the diabetes data as a linfa dataset.

use linfa::Dataset;
use ndarray::{Array1, Array2, Ix1};
use std::error::Error;

/// `examples/data/diabetes.csv`: ten named columns and the target, 442 rows.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn diabetes() -> Result<Dataset<f64, f64, Ix1>, Box<dyn Error>> {
    let mut reader = csv::Reader::from_path(concat!(env!("CARGO_MANIFEST_DIR"), "/data/diabetes.csv"))?;
    let mut names: Vec<String> = reader.headers()?.iter().map(str::to_owned).collect();
    names.pop(); // the target stands last
    let (mut records, mut targets) = (Vec::new(), Vec::new());
    for row in reader.deserialize() {
        let mut row: Vec<f64> = row?;
        targets.extend(row.pop());
        records.extend(row);
    }
    let records = Array2::from_shape_vec((targets.len(), names.len()), records)?;
    Ok(Dataset::new(records, Array1::from(targets)).with_feature_names(names))
}
