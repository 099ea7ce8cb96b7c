//! Greedy and floating search on MNIST, size by size.

use crate::data::test_figures;
use crate::markdown::{MarkdownTable, number, seconds};
use crate::picture::{self, Line, Panel};
use crate::run::Bench;
use std::time::Instant;
use vaglio::files::prepare;
use vaglio::search::{Event, Observer};
use vaglio_core::{Result, StopReason};
use vaglio_pipeline::pipeline::load;

/// MNIST without the last four pixels, which are never lit, as in LIBSVM's copy; squared errors on ±1.
const MNIST: &str = "version: 1\ndata: {train: mnist_train.parquet, test: mnist_test.parquet, target: target, task: binary, \
                     positive: \"5\", exclude: [p780, p781, p782, p783]}\nlearner: {kind: rls, lambda: 1.0, intercept: false}\n\
                     criterion: {kind: loo, loss: squared}\n";
const MOST: usize = 100;
const SIZES: [usize; 11] = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
/// The first size in the pictures of errors, which fall by more before it than after.
const DRAWN_FROM: usize = 8;

/// When a search came to each size first.
struct Clock {
    start: Instant,
    /// Seconds to the sizes 1, 2, ….
    reached: Vec<f64>,
}

impl Observer for Clock {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        if let Event::Step(step) = event
            && step.size == self.reached.len() + 1
        {
            self.reached.push(self.start.elapsed().as_secs_f64());
        }
        None
    }
}

/// What a search does to each size: leave-one-out error, squared error and share of errors on test rows, and seconds.
struct Curve {
    left_out: Vec<f64>,
    squared: Vec<f64>,
    errors: Vec<f64>,
    seconds: Vec<f64>,
}

impl Curve {
    fn of(bench: &Bench<'_>, search: &str) -> Result<Self> {
        (bench.note)(&format!("MNIST, 5 against the rest: {search}"));
        let text = format!("{MNIST}search: {{kind: {search}, max_features: {MOST}, choose: last}}\n");
        let (pipeline, _) = load(&text, "pipeline", &[])?;
        let prepared = prepare(&pipeline, &bench.folder)?;
        let mut clock = Clock { start: Instant::now(), reached: Vec::new() };
        let selection = pipeline.selector().select(&prepared.train, &mut clock)?;
        let (train, test) = (&prepared.train, prepared.test.as_ref().unwrap_or(&prepared.train));
        let mut curve = Curve { left_out: Vec::new(), squared: Vec::new(), errors: Vec::new(), seconds: clock.reached };
        for entry in selection.path.entries.iter().filter(|entry| !entry.subset.is_empty()) {
            let [squared, errors] = test_figures(train, test, &entry.subset, 1.0, false)?;
            curve.left_out.push(entry.score.loss);
            curve.squared.push(squared);
            curve.errors.push(errors);
        }
        Ok(curve)
    }
}

/// Objective, test error and seconds of both searches for every size, as a table and a picture.
pub fn curves(bench: &Bench<'_>) -> Result<String> {
    if !bench.has("floating", &["mnist_train", "mnist_test"]) {
        return Ok(String::new());
    }
    let [greedy, floating] = [Curve::of(bench, "greedy")?, Curve::of(bench, "floating")?];
    let head = [
        "columns",
        "greedy LOO",
        "test mse",
        "test error",
        "seconds",
        "floating LOO",
        "test mse",
        "test error",
        "seconds",
    ];
    let mut table = MarkdownTable::new("MNIST, 5 against the rest: 60000 × 780, λ = 1", &head);
    for size in SIZES {
        let at = |values: &[f64]| values.get(size - 1).copied().unwrap_or(f64::NAN);
        let cells = [&greedy, &floating].into_iter().flat_map(|curve| {
            let (left_out, squared) = (number(at(&curve.left_out), 5), number(at(&curve.squared), 5));
            [left_out, squared, number(at(&curve.errors), 4), seconds(at(&curve.seconds))]
        });
        table.row(&std::iter::once(size.to_string()).chain(cells).collect::<Vec<_>>());
    }
    let panel = |title: &str, from: usize, of: fn(&Curve) -> &Vec<f64>| {
        let line = |name, color, curve| {
            let mut line = Line::by_size(name, color, of(curve));
            line.points.retain(|(size, _)| *size >= from as f64);
            line
        };
        Panel {
            title: title.into(),
            across: "columns",
            lines: vec![line("greedy", 0, &greedy), line("floating", 1, &floating)],
        }
    };
    let panels = [
        panel("leave-one-out squared error", DRAWN_FROM, |curve| &curve.left_out),
        panel("squared error on 10000 test rows", DRAWN_FROM, |curve| &curve.squared),
        panel("share of errors on 10000 test rows", DRAWN_FROM, |curve| &curve.errors),
        panel("seconds to this size", 1, |curve| &curve.seconds),
    ];
    bench.picture("greedy-mnist5-floating", || picture::draw(&panels))?;
    let total = |curve: &Curve| curve.seconds.last().copied().unwrap_or(f64::NAN);
    Ok(table.finish()
        + &format!(
            "Search: greedy {} s, floating {} s ({:.1} times). Paper: under 30 minutes, floating 2 to 3 times greedy and slightly \
             better. All sizes: `greedy-mnist5-floating.svg`.\n\n",
            seconds(total(&greedy)),
            seconds(total(&floating)),
            total(&floating) / total(&greedy)
        ))
}
