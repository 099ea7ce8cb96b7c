//! Forward chaining: later rows are predicted from earlier ones.

use vaglio_core::{
    Classes, Error, Part, Problem, Resampling, ResamplingTraits, Result, RowLabels, Split, argsort_by, number_labels,
    part, pluralize,
};

/// Forward chaining: time is divided into blocks, one more than there are folds. Every block but the first is predicted by
/// training on rows before it.
///
/// The points in time come from `data.time`, else from the places of rows in their series or in the file. Every block but
/// the first has ⌊points / (folds + 1)⌋ points; rows of one time stay together. A row whose targets lie ahead is trained on
/// only if they are known at the first point of the block. Targets h steps ahead thus leave a gap of at least h − 1 points.
///
/// # Reference
/// L. Tashman, *Out-of-sample tests of forecasting accuracy: an analysis and review*, International Journal of Forecasting
/// 16, 2000.
#[part(
    Resampling,
    "forward",
    summary = "blocks of later rows, each predicted from those before it",
    example = "criterion: {kind: kfold, splits: {kind: forward, folds: 5, gap: 0}}"
)]
#[derive(PartialEq, Eq)]
pub struct Forward {
    /// How many blocks are predicted.
    #[schemars(extend("minimum" = 1))]
    #[default(5)]
    pub folds: usize,
    /// How many points in time just before a block are not trained on.
    pub gap: usize,
    /// How many points in time are trained on at most, the last ones; all by default.
    #[schemars(extend("minimum" = 1))]
    pub window: Option<usize>,
}

impl Forward {
    /// Creates forward chaining with `folds` predicted blocks.
    pub fn new(folds: usize) -> Self {
        Forward { folds, ..Forward::default() }
    }
}

impl Resampling for Forward {
    fn splits(&self, problem: &Problem, _: Option<&Classes>) -> Result<Vec<Split>> {
        let are_series =
            |groups: &[u32]| problem.series().is_some_and(|series| number_labels(groups) == number_labels(series));
        if problem.groups().is_some_and(|groups| !are_series(groups)) {
            let why = "rows of one group stay together, and `forward` goes by time; leave the groups out";
            return Err(Error::setting("kind", why));
        }
        let row_points = points(problem);
        let count = row_points.iter().max().map_or(0, |&last| last + 1);
        if self.folds >= count {
            let least = self.folds.saturating_add(1);
            let message = format!("{} folds need {least} points in time, and there are {count}", self.folds);
            return Err(Error::setting("folds", message));
        }
        let size = count / (self.folds + 1);
        let order = argsort_by(row_points.len(), |a, b| row_points[a].cmp(&row_points[b]));
        let first = |point: usize| order.partition_point(|&row| row_points[row] < point);
        let between = |from: usize, to: usize| order[first(from)..first(to)].to_vec();
        let least = least_gap(problem, &row_points);
        let split = |fold: usize| {
            let start = count - (self.folds - fold) * size;
            let end = start.saturating_sub(self.gap.max(least));
            if end == 0 {
                let ahead =
                    if least > self.gap { format!(" of {least}, since targets lie ahead,") } else { String::new() };
                let message = format!("with it{ahead} fold {} has nothing before it to be trained on", fold + 1);
                return Err(Error::setting("gap", message));
            }
            let begin = self.window.map_or(0, |window| end.saturating_sub(window));
            let mut training = between(begin, end);
            if let RowLabels { known: Some(known), time: Some(time), .. } = problem.labels() {
                let now = time[order[first(start)]];
                training.retain(|&row| known[row] <= now);
            }
            if training.is_empty() {
                let message = format!("the targets of no row are known before fold {}", fold + 1);
                return Err(Error::setting("folds", message));
            }
            Ok(Split::holding_out(between(start, start + size)).training_on(training))
        };
        (0..self.folds).map(split).collect()
    }

    fn around_search(&self, folds: usize) -> Option<Part<dyn Resampling>> {
        Some(Forward { folds, ..self.clone() }.into())
    }

    fn traits(&self) -> ResamplingTraits {
        let (blocks, points) = (pluralize(self.folds, "block"), |count| pluralize(count, "point"));
        let gap =
            if self.gap > 0 { format!(" but for the {} just before it", points(self.gap)) } else { String::new() };
        let window = self.window.map_or_else(String::new, |window| format!(", of it the last {}", points(window)));
        let sentence = format!("{blocks} forward in time, each predicted from its past{gap}{window}");
        ResamplingTraits { gap: Some(self.gap), sentence: Some(sentence), ..ResamplingTraits::default() }
    }

    fn check_settings(&self) -> Result<()> {
        match self {
            Forward { folds: 0, .. } => Err(Error::setting("folds", "0 folds; 1 is the least")),
            Forward { window: Some(0), .. } => Err(Error::setting("window", "0 points in time; 1 is the least")),
            _ => Ok(()),
        }
    }
}

/// The time point of each row, numbered from 0 without gaps.
fn points(problem: &Problem) -> Vec<usize> {
    match (problem.labels().time.as_deref(), problem.series()) {
        (Some(times), _) => {
            let all = distinct(times);
            times.iter().map(|time| all.partition_point(|other| other < time)).collect()
        }
        (None, Some(series)) => series.chunk_by(|a, b| a == b).flat_map(|rows| 0..rows.len()).collect(),
        (None, None) => (0..problem.rows()).collect(),
    }
}

/// The points in time, in increasing order.
fn distinct(times: &[u32]) -> Vec<u32> {
    let mut all = times.to_vec();
    all.sort_unstable();
    all.dedup();
    all
}

/// Number of points before a block without any training row, because their targets are known too late.
fn least_gap(problem: &Problem, row_points: &[usize]) -> usize {
    let RowLabels { known: Some(known), time: Some(time), .. } = problem.labels() else { return 0 };
    let times = distinct(time);
    let points = |row: usize| times.partition_point(|other| *other < known[row]) - row_points[row];
    // Unknown for targets known after the last time.
    let rows = (0..known.len()).filter(|&row| times.last().is_some_and(|last| known[row] <= *last));
    rows.map(points).min().map_or(0, |least| least.saturating_sub(1))
}
