//! Choice and nested cross-validation by splitters agree with plain loops over rows.

use crate::held_out_error;
use linfa::ParamGuard;
use vaglio_core::shuffle::stream;
use vaglio_core::{Part, Resampling, RowLabels};
use vaglio_maps::folds::FoldAssignment;
use vaglio_pipeline::Selector;
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::resampling::{
    OuterFoldFit, PooledPredictions, Sample, Splitter, StageMonitor, TrainTestSplit, outer,
};
use vaglio_report::record::OuterFolds;
use vaglio_search::{All, Choose, CrossValidation, Search, Silent};
use vaglio_testkit::SplitMix64;
use vaglio_validate::KFold;
use vaglio_validate::splits::{Forward, MonteCarlo};

const LAMBDA: f64 = 0.7;
const TIMES: usize = 60;

/// Three columns and a target of `units` series, with a row of each at every time.
struct Panel {
    units: usize,
    columns: Vec<Vec<f64>>,
    y: Vec<f64>,
}

impl Panel {
    fn new(units: usize) -> Self {
        let mut random = SplitMix64::new(3);
        let columns: Vec<Vec<f64>> = (0..3).map(|_| (0..units * TIMES).map(|_| random.normal()).collect()).collect();
        let mean_target = |row: usize| columns[0][row] - columns[1][row] + 0.05 * (row % TIMES) as f64;
        let y = (0..units * TIMES).map(|row| mean_target(row) + random.normal()).collect();
        Panel { units, columns, y }
    }

    fn sample(&self, has_groups: bool) -> Sample {
        let rows = self.y.len();
        let problem = crate::problem(&self.columns, &self.y);
        let labels = Some(self.units_of_rows().into());
        let (groups, series) = if has_groups { (labels, None) } else { (None, labels) };
        let time = Some((0..rows).map(|row| (row % TIMES) as u32).collect());
        let labels = RowLabels { groups, series, time, ..RowLabels::default() };
        Sample::from_problem(problem.with_labels(labels).unwrap(), true)
    }

    fn units_of_rows(&self) -> Vec<u32> {
        (0..self.y.len()).map(|row| (row / TIMES) as u32).collect()
    }

    /// Forward splits by plain loops: the rows of each block of time, and the rows before it.
    fn forward(&self, folds: usize, gap: usize, window: usize) -> Vec<TrainTestSplit> {
        let size = TIMES / (folds + 1);
        let block_rows = |fold: usize| {
            let start = TIMES - (folds - fold) * size;
            let (mut training, mut held) = (Vec::new(), Vec::new());
            for row in 0..self.units * TIMES {
                let time = row % TIMES;
                if time >= start && time < start + size {
                    held.push(row);
                }
                if time + gap < start && time + gap + window >= start {
                    training.push(row);
                }
            }
            TrainTestSplit { training, held }
        };
        (0..folds).map(block_rows).collect()
    }

    /// Cross-validated loss of all columns, and that of outer folds with their rows.
    fn losses(
        &self,
        sample: &Sample,
        criterion: KFold,
        choose: Choose,
        how: &OuterFolds,
    ) -> (Option<f64>, f64, Vec<Vec<usize>>) {
        let search = Search::new(All {}).choose(choose);
        let selector = Selector::params(criterion, search, Rls::new(LAMBDA)).seed(4).check().unwrap();
        let chosen = crate::choose(&selector, sample).chosen;
        let found: Vec<OuterFoldFit> = outer(&selector, sample, how, &StageMonitor::new(&mut Silent)).unwrap().unwrap();
        let pooled = PooledPredictions::new(found.iter().map(|fold| &fold.held)).unwrap();
        let squares = (&pooled.targets - &pooled.predictions).mapv(|error| error * error);
        let rows = found.iter().map(|fold| fold.rows.clone()).collect();
        (chosen.cell.map(|cell| cell.loss), squares.mean().unwrap(), rows)
    }

    fn agrees(&self, found: f64, parts: &[TrainTestSplit]) {
        let expected = held_out_error(&self.columns, &self.y, parts, LAMBDA);
        assert!((found - expected).abs() < 1e-10 * expected, "{found} is not {expected}");
    }
}

fn rows(parts: &[TrainTestSplit]) -> Vec<Vec<usize>> {
    parts.iter().map(|part| part.held.clone()).collect()
}

#[test]
fn splits_forward_in_time_are_forward_around_the_search() {
    // One series, and a panel with blocks of time across all series.
    for units in [1, 3] {
        let panel = Panel::new(units);
        let sample = panel.sample(false);
        for (gap, window) in [(0, None), (1, None), (1, Some(20))] {
            let splits = Forward { folds: 3, gap, window };
            let (cross, nested, held) = panel.losses(
                &sample,
                KFold::with_splits(splits),
                Choose::Auto,
                &OuterFolds { folds: 4, ..OuterFolds::default() },
            );
            let window = window.unwrap_or(TIMES);
            panel.agrees(cross.unwrap(), &panel.forward(5, gap, window));
            let expected = panel.forward(4, gap, window);
            panel.agrees(nested, &expected);
            assert_eq!(held, rows(&expected));
        }
    }
}

#[test]
fn splits_that_are_written_take_the_place_of_those_of_the_criterion() {
    let panel = Panel::new(3);
    let sample = panel.sample(false);
    let splits = || Some(Forward { folds: 2, gap: 3, window: Some(9) }.into());
    let choose = Choose::from(CrossValidation { splits: splits(), ..CrossValidation::default() });
    let how = OuterFolds { splits: splits(), ..OuterFolds::default() };
    let (cross, nested, _) = panel.losses(&sample, KFold::new(5), choose, &how);
    panel.agrees(cross.unwrap(), &panel.forward(2, 3, 9));
    panel.agrees(nested, &panel.forward(2, 3, 9));
    // Rows held out several times or never.
    let written: Part<dyn Resampling> = MonteCarlo { repeats: 7, fraction: 0.4 }.into();
    let single = Panel::new(1);
    let sample = single.sample(false);
    let choose = Choose::from(CrossValidation { splits: Some(written.clone()), ..CrossValidation::default() });
    let how = OuterFolds { splits: Some(written.clone()), ..OuterFolds::default() };
    let (cross, nested, _) = single.losses(&sample, KFold::new(5), choose, &how);
    let parts = |round: u64| Splitter::Splits(written.clone(), true).split(&sample, stream(4, round, 0)).unwrap();
    single.agrees(cross.unwrap(), &parts(1));
    single.agrees(nested, &parts(2));
}

#[test]
fn groups_and_series_are_held_out_whole_unless_splits_go_forward() {
    for has_groups in [true, false] {
        let panel = Panel::new(6);
        let sample = panel.sample(has_groups);
        let how = OuterFolds { folds: 3, ..OuterFolds::default() };
        let choose = Choose::from(CrossValidation::new(3));
        let (cross, nested, held) = panel.losses(&sample, KFold::new(5), choose, &how);
        let assignment = FoldAssignment::from_labels(&[&panel.units_of_rows()], panel.y.len(), None);
        let parts = |round: u64| Splitter::Folds(assignment.clone(), 3).split(&sample, stream(4, round, 0)).unwrap();
        panel.agrees(cross.unwrap(), &parts(1));
        panel.agrees(nested, &parts(2));
        for rows in held {
            let units: std::collections::HashSet<usize> = rows.iter().map(|row| row / TIMES).collect();
            assert_eq!(rows.len(), units.len() * TIMES);
        }
    }
}

#[test]
fn blocks_are_fewer_where_the_first_past_is_too_short() {
    let panel = Panel::new(1);
    let sample = panel.sample(false);
    let selector = |folds| {
        Selector::params(KFold::with_splits(Forward::new(folds)), All::default(), Rls::new(LAMBDA)).check().unwrap()
    };
    let folds = |criterion: usize, within: usize| {
        sample.splitter(&selector(criterion), None, 5, within).split(&sample, 0).unwrap().len()
    };
    // The first of f blocks has 60 − f·⌊60/(f + 1)⌋ points before it, and k folds need k + 1.
    assert_eq!((folds(9, 0), folds(10, 0), folds(14, 0), folds(29, 0)), (5, 4, 3, 1));
    // Nested splits need as many points in half of these.
    assert_eq!((folds(4, 1), folds(9, 1)), (5, 2));
}
