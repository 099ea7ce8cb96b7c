//! The cells of rows: those that are on the same side in every part that a run makes of them.

use crate::dealt::{CellSplit, Deals, Purpose};
use std::borrow::Cow;
use vaglio_core::{AnyResampling, Error, HeldOut, Result, Round};
use vaglio_pipeline::pipeline::{Evaluate, ValidPipeline};
use vaglio_pipeline::resample::Sample;
use vaglio_pipeline::resample::choice::cross_validation;
use vaglio_pipeline::resample::parting::{DealtParts, bare};
use vaglio_pipeline::resample::validated::{dealt_parts, parting, seed_of};
use vaglio_pipeline::resample::whole::outer_seed;
use vaglio_pipeline::selector::ValidSelector;

/// Cells that a table is cut into, at most.
const MOST: usize = 1 << 20;
/// The label of a row without one, and that of rows beside those that are cut.
const NONE: u32 = u32::MAX;
const BESIDE: u32 = NONE - 1;

/// The cells of rows, and the splits of the cells that a run will ask for.
pub(super) struct RowCells {
    /// The cell of each row.
    pub of_row: Vec<u32>,
    /// How many there are.
    pub count: usize,
    pub deals: Deals,
    /// How rows are parted around the search where that is not into folds.
    pub around: Option<AnyResampling>,
    /// How they are parted into outer folds, likewise, for people.
    pub nested: Option<String>,
}

/// Parts of some rows, as they were found; cells by their numbers at that time.
struct FoundSplits {
    purpose: Purpose,
    /// How often cells had been cut.
    cut: usize,
    cells: Vec<u32>,
    splits: Vec<CellSplit>,
}

/// Some of the rows.
#[derive(Clone, Copy)]
enum RowSet<'r> {
    All(usize),
    Listed(&'r [usize]),
}

/// Rows that are held out and those that are trained on, where these are not all others.
type SplitRows<'r> = (Cow<'r, [usize]>, Option<Cow<'r, [usize]>>);

impl<'r> RowSet<'r> {
    fn len(self) -> usize {
        match self {
            RowSet::All(rows) => rows,
            RowSet::Listed(rows) => rows.len(),
        }
    }

    fn row(self, at: usize) -> usize {
        match self {
            RowSet::All(_) => at,
            RowSet::Listed(rows) => rows[at],
        }
    }

    /// Some of these.
    fn among(self, some: &'r [usize]) -> Cow<'r, [usize]> {
        match self {
            RowSet::All(_) => Cow::Borrowed(some),
            RowSet::Listed(rows) => some.iter().map(|&at| rows[at]).collect(),
        }
    }
}

/// Cells as they are cut.
struct Cutting<'s> {
    selector: &'s ValidSelector,
    of_row: Vec<u32>,
    count: usize,
    /// For every cut, the cell before it of each cell after it.
    before: Vec<Vec<u32>>,
    found: Vec<FoundSplits>,
}

impl RowCells {
    /// The cells of the rows of a sample; rows of different `classes` are in different cells. Cost O(rows · parts).
    ///
    /// # Errors
    /// [`Error::Setting`] for folds that cannot be made, and that cut the rows into too many cells.
    pub fn new(pipeline: &ValidPipeline, sample: &Sample) -> Result<Self> {
        let selector = &pipeline.selector();
        let count = usize::from(sample.rows() > 0);
        let mut cutting =
            Cutting { selector, of_row: vec![0; sample.rows()], count, before: Vec::new(), found: Vec::new() };
        let every = RowSet::All(sample.rows());
        if let Some(classes) = sample.classes() {
            cutting.cut(every, |row| classes[row] as u32)?;
        }
        let around = cutting.search(sample.clone(), every)?;
        let mut nested = None;
        if let Some(how) = pipeline.settings().evaluate.as_ref().and_then(Evaluate::outer_folds) {
            let parting = how.parting(selector, sample)?;
            nested = parting.splits().map(|splits| splits.sentence());
            for repeat in 0..how.repeats {
                let seed = outer_seed(selector, repeat);
                let parts = parting.dealt(sample, seed).map_err(|error| error.under("evaluate.nested"))?;
                cutting.parts(Purpose::Around(seed), every, &parts)?;
                for place in 0..parts.count() {
                    let training = parts.training(place);
                    cutting.search(sample.select(&training)?, RowSet::Listed(&training))?;
                }
            }
        }
        Ok(RowCells { around, nested, ..cutting.finish() })
    }
}

impl Cutting<'_> {
    /// The folds of the criterion on some rows, and where the search is cross-validated also its parts with their folds.
    fn search(&mut self, sample: Sample, rows: RowSet<'_>) -> Result<Option<AnyResampling>> {
        let Some((how, is_written)) = cross_validation(self.selector) else {
            self.criterion(sample, rows)?;
            return Ok(None);
        };
        self.criterion(sample.clone(), rows)?;
        let parting = parting(self.selector, &sample, &how, is_written)?;
        for repeat in 0..how.repeats {
            let parts = dealt_parts(self.selector, &sample, &parting, repeat)?;
            self.parts(Purpose::Around(seed_of(self.selector, repeat)), rows, &parts)?;
            for place in 0..parts.count() {
                let training = parts.training(place);
                self.criterion(sample.select(&training)?, RowSet::Listed(&rows.among(&training)))?;
            }
        }
        Ok(parting.splits().cloned())
    }

    /// The folds of the criterion, if it has some.
    fn criterion(&mut self, sample: Sample, rows: RowSet<'_>) -> Result<()> {
        let held_out = {
            let design = bare(&sample.labelled()?)?.seeded(self.selector.seed());
            drop(sample);
            self.selector.criterion().folds(&design)?
        };
        let HeldOut::Folds(rounds) = held_out else { return Ok(()) };
        for round in &rounds {
            self.cut(rows, |row| round.of_row()[row].unwrap_or(NONE))?;
            for training in round.trainings().unwrap_or_default() {
                self.cut(rows, membership(training, rows.len()))?;
            }
        }
        if let [round] = &rounds[..]
            && round.trainings().is_none()
        {
            let fold = |at: usize| round.of_row()[at].unwrap_or(NONE);
            self.found_folds(Purpose::Criterion, rows, (fold, round.count()), false);
            return Ok(());
        }
        let split = |(round, fold): (&Round, usize)| -> SplitRows<'_> {
            let training = round.trainings().map(|_| round.training(fold).into());
            (round.held_out(fold).collect(), training)
        };
        let splits = rounds.iter().flat_map(|round| (0..round.count()).map(move |fold| (round, fold))).map(split);
        self.found(Purpose::Criterion, rows, splits);
        Ok(())
    }

    /// Parts of some rows, around a search.
    fn parts(&mut self, purpose: Purpose, rows: RowSet<'_>, parts: &DealtParts<'_>) -> Result<()> {
        if let Some(folds) = parts.folds() {
            self.cut(rows, |row| folds[row])?;
            self.found_folds(purpose, rows, (|at| folds[at], parts.count()), true);
            return Ok(());
        }
        for part in parts.all() {
            self.cut(rows, membership(&part.held, rows.len()))?;
            if part.training.len() + part.held.len() < rows.len() {
                self.cut(rows, membership(&part.training, rows.len()))?;
            }
        }
        self.found(purpose, rows, parts.all().map(|part| (part.held.into(), Some(part.training.into()))));
        Ok(())
    }

    /// Cuts the cells of some rows by a label of each of these.
    fn cut(&mut self, rows: RowSet<'_>, label: impl Fn(usize) -> u32) -> Result<()> {
        let mut numbers = std::collections::HashMap::new();
        let (mut before, mut last) = (Vec::new(), None);
        // Rows beside these keep their cell.
        let mut labels = Vec::new();
        if let RowSet::Listed(listed) = rows {
            labels = vec![BESIDE; self.of_row.len()];
            listed.iter().enumerate().for_each(|(at, &row)| labels[row] = label(at));
        }
        for (row, cell) in self.of_row.iter_mut().enumerate() {
            let key = (*cell, labels.get(row).copied().unwrap_or_else(|| label(row)));
            // Neighbors are alike more often than not.
            let next = match last {
                Some((known, number)) if known == key => number,
                _ => *numbers.entry(key).or_insert_with(|| {
                    before.push(*cell);
                    before.len() as u32 - 1
                }),
            };
            last = Some((key, next));
            *cell = next;
        }
        if before.len() > MOST {
            return Err(too_many(before.len()));
        }
        self.count = before.len();
        self.before.push(before);
        Ok(())
    }

    /// Keeps splits of some rows, which the cells follow.
    fn found<'r>(&mut self, purpose: Purpose, rows: RowSet<'_>, splits: impl Iterator<Item = SplitRows<'r>>) {
        let of_row = &self.of_row;
        let mut seen = vec![false; self.count];
        let mut cells = |of: &mut dyn Iterator<Item = usize>| {
            of.for_each(|at| seen[of_row[rows.row(at)] as usize] = true);
            let cells = (0..seen.len()).filter(|&cell| seen[cell]).map(|cell| cell as u32).collect::<Vec<u32>>();
            seen.fill(false);
            cells
        };
        let all = cells(&mut (0..rows.len()));
        let split = |(held_out, training): SplitRows<'r>| CellSplit {
            held_out: cells(&mut held_out.iter().copied()),
            training: training.map(|training| cells(&mut training.iter().copied())),
        };
        let splits = splits.map(split).collect();
        self.found.push(FoundSplits { purpose, cut: self.before.len(), cells: all, splits });
    }

    /// The same where each of so many folds is held out of all rows, and each cell is in one of them or in none.
    fn found_folds(
        &mut self,
        purpose: Purpose,
        rows: RowSet<'_>,
        (fold, count): (impl Fn(usize) -> u32, usize),
        lists_training: bool,
    ) {
        let mut of_cell = vec![None; self.count];
        (0..rows.len()).for_each(|at| of_cell[self.of_row[rows.row(at)] as usize] = Some(fold(at)));
        let cells = |is_among: &dyn Fn(u32) -> bool| -> Vec<u32> {
            let among = (0..of_cell.len()).filter(|&cell| of_cell[cell].is_some_and(is_among));
            among.map(|cell| cell as u32).collect()
        };
        let split = |fold: u32| CellSplit {
            held_out: cells(&|own| own == fold),
            training: lists_training.then(|| cells(&|own| own != fold)),
        };
        let splits = (0..count as u32).map(split).collect();
        self.found.push(FoundSplits { purpose, cut: self.before.len(), cells: cells(&|_| true), splits });
    }

    fn finish(self) -> RowCells {
        let mut deals = Deals::new();
        // For each cell the one it came of, at every cut from the last to the first.
        let mut of_cell: Vec<u32> = (0..self.count as u32).collect();
        let mut cut = self.before.len();
        for found in self.found.iter().rev() {
            while cut > found.cut {
                cut -= 1;
                of_cell.iter_mut().for_each(|cell| *cell = self.before[cut][*cell as usize]);
            }
            let now = |before: &Vec<u32>| -> Vec<u32> {
                (0..of_cell.len())
                    .filter(|&cell| before.binary_search(&of_cell[cell]).is_ok())
                    .map(|c| c as u32)
                    .collect()
            };
            let split = |split: &CellSplit| CellSplit {
                held_out: now(&split.held_out),
                training: split.training.as_ref().map(now),
            };
            deals.insert((found.purpose, now(&found.cells)), found.splits.iter().map(split).collect());
        }
        RowCells { of_row: self.of_row, count: self.count, deals, around: None, nested: None }
    }
}

/// Which of so many rows are among some, as labels.
fn membership(some: &[usize], rows: usize) -> impl Fn(usize) -> u32 {
    let mut is_member = vec![false; rows];
    some.iter().for_each(|&row| is_member[row] = true);
    move |row| u32::from(is_member[row])
}

/// Refuses folds that cut rows into so many cells.
pub(super) fn too_many(count: usize) -> Error {
    let message = format!(
        "the folds of the criterion and those around the search cut the rows into {count} cells, each with moments of its own; deal \
         no folds anew inside of others: folds in the order of the rows, `by: groups` or `assignment`, and a number of features, `best` or \
         `last` for `search.choose`"
    );
    Error::setting("engine.stream", message)
}
