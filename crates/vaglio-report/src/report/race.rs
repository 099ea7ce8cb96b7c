//! The searches that competed, and what each number of columns buys.

use super::labels::{capital, vertical};
use super::number::{counted, short};
use super::plot::{Across, Plot, Series};
use super::source::{RecordView, finite};
use super::table::{Column, HtmlTable};
use crate::record::{Contestant, CurvePoint};
use serde::Serialize;

/// Contestants whose curves are drawn, at most.
const DRAWN: usize = 4;
/// The style of each of them.
const CLASSES: [&str; DRAWN] = ["inner", "test", "nested", "train"];
/// A largest size so many times the smallest is shown by powers.
const FAR: usize = 50;

/// The section on a race.
#[derive(Serialize)]
pub struct RaceSection {
    lead: String,
    legend: String,
    svg: Option<String>,
    table: String,
}

impl RaceSection {
    /// `None` where no searches competed.
    pub fn of(source: &RecordView<'_>) -> Option<Self> {
        let (contestants, frontier) = (&source.record.race, &source.record.frontier);
        let winner = contestants.iter().find(|contestant| contestant.won)?;
        let sizes: Vec<usize> = frontier.iter().map(|point| point.size).collect();
        let plot = Plot {
            label: "Cross-validated loss against the number of columns, of every search".into(),
            vertical: vertical(&source.loss()),
            across: match (sizes.iter().find(|size| **size > 0), sizes.last()) {
                (Some(first), Some(last)) if last / first >= FAR => Across::Powers,
                _ => Across::Sizes,
            },
            at: sizes.iter().map(|size| *size as f64).collect(),
            tips: frontier
                .iter()
                .map(|point| {
                    format!("{}: {} by {}", counted(point.size as u64, "column"), short(point.loss), point.search)
                })
                .collect(),
            chosen: Some((winner.chosen.size as f64, format!("chosen: {}", winner.chosen.size))),
            series: series(contestants, &sizes, frontier.iter().map(|point| finite(point.loss)).collect()),
            ..Plot::default()
        };
        let columns = vec![
            Column::name("Search", |c: &Contestant| c.search.clone()),
            Column::count("Columns", |c: &Contestant| c.chosen.size),
            Column::short("λ", |c: &Contestant| c.chosen.lambda),
            Column::number("Cross-validated", |c: &Contestant| finite(c.chosen.loss)),
            Column::number("±", |c: &Contestant| c.chosen.standard_error),
        ];
        let first = &contestants[0].search;
        let lead = format!(
            "{} searches were cross-validated on the same folds, and the result is that of {}. {} comes first: another is taken where its loss \
             is lower by more than one standard error of the difference, or where the rule prefers its fewer columns. The losses of a winner \
             are a little too low, since the lowest of several was taken; nested folds repeat the race.",
            contestants.len(),
            winner.search,
            capital(first)
        );
        let table = HtmlTable::of("Searches", "“race”", columns, contestants, |contestant| contestant.won).html();
        Some(RaceSection { lead, legend: plot.legend(), svg: plot.html(), table })
    }
}

/// The frontier, and the curves of the first contestants where there are several.
fn series(contestants: &[Contestant], sizes: &[usize], frontier: Vec<Option<f64>>) -> Vec<Series> {
    let of = |(contestant, class): (&Contestant, &'static str)| {
        let at = |size: &usize| {
            let point: Option<&CurvePoint> = contestant.curve.iter().find(|point| point.size == *size);
            point.and_then(|point| finite(point.loss))
        };
        let values = sizes.iter().map(at).collect();
        Series { name: contestant.search.clone(), class, values, band: Vec::new() }
    };
    let lowest = Series { name: "lowest of all".into(), class: "cross", values: frontier, band: Vec::new() };
    contestants.iter().zip(CLASSES).map(of).chain([lowest]).collect()
}
