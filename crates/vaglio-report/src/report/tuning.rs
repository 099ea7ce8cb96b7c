//! How the learner was tuned: a table of its settings, and the score of every evaluation.

use super::number::{counted, short};
use super::plot::{Across, Plot, Series};
use super::table::{Column, HtmlTable};
use crate::record::{Method, Scale, Scored, Tuned};
use serde::Serialize;

/// The section on tuning.
#[derive(Serialize)]
pub struct Tuning {
    lead: String,
    table: String,
    svg: Option<String>,
}

/// One setting.
struct Row {
    path: String,
    from: f64,
    to: f64,
    scale: &'static str,
    value: f64,
}

impl Tuning {
    /// The section of what tuning found.
    pub fn of(tuned: &Tuned) -> Tuning {
        let tune = &tuned.tune;
        let method = match tune.method {
            Method::NelderMead => "the simplex method of Nelder and Mead",
            Method::ParticleSwarm => "a particle swarm",
        };
        let what = match tune.score {
            Scored::All => "all columns",
            Scored::Search => "the subset that the search finds",
        };
        let rows = tune.parameters.iter().zip(tuned.values()).map(|((path, bounds), &value)| Row {
            path: path.clone(),
            from: bounds.from,
            to: bounds.to,
            scale: match (bounds.scale, bounds.integer) {
                (Scale::Linear, false) => "linear",
                (Scale::Linear, true) => "linear, whole numbers",
                (Scale::Log, false) => "logarithmic",
                (Scale::Log, true) => "logarithmic, whole numbers",
            },
            value,
        });
        let columns = vec![
            Column::name("Setting", |row: &Row| row.path.clone()),
            Column::short("From", |row: &Row| Some(row.from)),
            Column::short("To", |row: &Row| Some(row.to)),
            Column::text("Scale", |row: &Row| row.scale.into()),
            Column::short("Chosen", |row: &Row| Some(row.value)),
        ];
        let rows: Vec<Row> = rows.collect();
        Tuning {
            lead: format!(
                "Before the search, {method} lowered the score of {what} to {} in {}. The chosen settings saw the training rows, as the selection did.",
                short(tuned.score()),
                counted(tuned.trials.len() as u64, "evaluation"),
            ),
            table: HtmlTable::of("Tuned settings", "“tuned”", columns, &rows, |_| false).html(),
            svg: drawing(tuned),
        }
    }
}

/// Scores in the order in which they were evaluated.
fn drawing(tuned: &Tuned) -> Option<String> {
    let finite = |score: f64| Some(score).filter(|s| s.is_finite());
    let scores: Vec<Option<f64>> = tuned.trials.iter().map(|trial| finite(trial.score)).collect();
    let lowest = scores.iter().scan(f64::INFINITY, |lowest, score| {
        *lowest = lowest.min(score.unwrap_or(f64::INFINITY));
        Some(finite(*lowest))
    });
    let tips = tuned.trials.iter().enumerate().map(|(k, trial)| {
        let paths = tuned.tune.parameters.keys().zip(&trial.values);
        let values: Vec<String> = paths.map(|(path, value)| format!("{path} {}", short(*value))).collect();
        let score = finite(trial.score).map_or_else(|| "refused".into(), |score| format!("score {}", short(score)));
        format!("evaluation {}: {score}; {}", k + 1, values.join(", "))
    });
    let plot = Plot {
        label: "Score of every evaluation while tuning".into(),
        vertical: "score".into(),
        across: Across::Counts("evaluation"),
        at: (1..=scores.len()).map(|k| k as f64).collect(),
        tips: tips.collect(),
        chosen: Some(((tuned.best + 1) as f64, format!("lowest: {}", tuned.best + 1))),
        series: vec![
            Series { name: "lowest so far".into(), class: "inner", values: lowest.collect(), band: Vec::new() },
            Series { name: "score".into(), class: "train", values: scores, band: Vec::new() },
        ],
        ..Plot::default()
    };
    plot.html().map(|svg| plot.legend() + &svg)
}
