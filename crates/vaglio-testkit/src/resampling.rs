//! Laws of a way to hold rows out: its splits are of rows that are there, and the same every time.

use crate::broken::Law;
use crate::{Broken, data};
use vaglio_core::{Design, Error, Resampling, Split};

/// All laws of a resampling on a design.
///
/// # Errors
/// Every law that does not hold.
pub fn check_resampling(resampling: &dyn Resampling, design: &Design) -> Result<(), Broken> {
    Law("check").ran(|| "the settings".into(), || resampling.check_settings())?;
    Broken::among([sound(resampling, design), repeatable(resampling, design)])
}

/// All laws of a resampling on every one of [`data::standard_designs`] that it does not refuse as a setting.
///
/// # Errors
/// Every law that does not hold, or that it refuses every design.
pub fn check_resampling_on_standard_data(resampling: &dyn Resampling) -> Result<(), Broken> {
    let designs = data::standard_designs();
    let refuses = |design: &Design| matches!(splits(resampling, design), Err(Error::Setting { .. }));
    let taken: Vec<_> = designs.iter().filter(|(_, design)| !refuses(design)).collect();
    Law("designs").must(!taken.is_empty(), || "the standard designs".into(), "one that it takes", 0)?;
    Broken::among(
        taken
            .into_iter()
            .map(|(name, design)| check_resampling(resampling, design).map_err(|broken| broken.within(name))),
    )
}

/// There is a split; each holds out rows that are there, each once, and trains on others.
pub fn sound(resampling: &dyn Resampling, design: &Design) -> Result<(), Broken> {
    let law = Law("sound");
    let splits = law.ran(|| "the design".into(), || splits(resampling, design))?;
    law.must(!splits.is_empty(), || "the design".into(), "at least one split", 0)?;
    let rows = design.rows();
    for (number, split) in splits.iter().enumerate() {
        let on = || format!("split {} of {}", number + 1, splits.len());
        let mut part = vec![0u8; rows];
        for (&row, mark) in split
            .held_out()
            .iter()
            .map(|row| (row, 1))
            .chain(split.training().into_iter().flatten().map(|row| (row, 2)))
        {
            law.must(row < rows, on, format!("rows below {rows}"), row)?;
            law.unless(part[row] == 0, on, "every row once, held out or trained on", format_args!("row {row} twice"))?;
            part[row] = mark;
        }
        let held_out = split.held_out().len();
        law.must(held_out > 0, on, "rows that are held out", held_out)?;
        let trained = split.training().map_or(rows - held_out, <[usize]>::len);
        law.must(trained > 0, on, "rows that are trained on", trained)?;
    }
    Ok(())
}

/// The same design has the same splits.
pub fn repeatable(resampling: &dyn Resampling, design: &Design) -> Result<(), Broken> {
    let law = Law("repeatable");
    let on = || "the design".to_owned();
    let (first, second) = (law.ran(on, || splits(resampling, design))?, law.ran(on, || splits(resampling, design))?);
    law.equal(on, &first, &second)
}

fn splits(resampling: &dyn Resampling, design: &Design) -> vaglio_core::Result<Vec<Split>> {
    let classes = design.classes().filter(|_| resampling.can_stratify());
    resampling.splits(design, classes.as_ref())
}
