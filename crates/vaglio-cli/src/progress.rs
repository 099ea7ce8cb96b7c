//! Progress on a terminal, and tracing on demand.

use crate::signals;
use crate::terminal::log_line;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;
use vaglio::core::{Answer, Observer, Step, StopSign};

/// The bar on the terminal, which steps aside for lines.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn bar() -> Option<ProgressBar> {
    BAR.lock().map_or(None, |bar| bar.clone())
}

fn set_bar(new: Option<ProgressBar>) {
    if let Ok(mut bar) = BAR.lock() {
        *bar = new;
    }
}

/// Writes while the bar steps aside.
pub fn above_bar<T>(write: impl FnOnce() -> T) -> T {
    match bar() {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// Standard error, above the bar. What cannot be written is lost: that is no failure of what it tells of.
struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let line = log_line(bytes, has_color());
        let _nobody_reads = above_bar(|| std::io::stderr().write_all(line.as_bytes()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let _ = std::io::stderr().flush();
        Ok(())
    }
}

fn has_color() -> bool {
    std::env::var_os("NO_COLOR").is_none() && std::io::stderr().is_terminal()
}

/// Shows spans and events from `-v` on.
pub fn start_tracing(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    tracing_subscriber::fmt()
        .log_internal_errors(false)
        .with_writer(|| Lines)
        .with_ansi(has_color())
        .with_target(false)
        .with_max_level(level)
        .with_span_events(if verbose > 0 { FmtSpan::CLOSE } else { FmtSpan::NONE })
        .init();
}

/// Watches a search: a bar on a terminal, and a stop after the step under way when the user interrupts.
pub struct Watch {
    shown: bool,
}

impl Watch {
    /// Shows progress unless it is to be quiet; from now on an interruption is answered by the observer.
    pub fn new(quiet: bool) -> Self {
        signals::run_begins();
        Watch { shown: !quiet && std::io::stderr().is_terminal() }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        if let Some(bar) = bar() {
            bar.finish_and_clear();
        }
        set_bar(None);
    }
}

impl Observer for Watch {
    fn begin(&mut self, steps: usize) {
        if !self.shown {
            return;
        }
        self.finish();
        let bar = ProgressBar::new(steps as u64);
        let style = ProgressStyle::with_template("{msg:24!} {wide_bar} {pos}/{len} steps, {eta} left");
        set_bar(Some(match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }));
    }

    fn step(&mut self, step: &Step) -> Answer {
        if let Some(bar) = bar() {
            bar.set_message(format!("score {:.6}", step.score.loss));
            bar.inc(1);
        }
        answer()
    }

    fn stage(&mut self, what: &str, pieces: usize) {
        if !self.shown {
            return;
        }
        self.finish();
        let bar = ProgressBar::new(pieces as u64).with_message(match what {
            "choose" => "cross-validating".to_owned(),
            other => other.to_owned(),
        });
        let style = ProgressStyle::with_template("{msg:24!} {wide_bar} {pos}/{len}, {eta} left");
        set_bar(Some(match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }));
    }

    fn piece(&mut self) {
        if let Some(bar) = bar() {
            bar.inc(1);
        }
    }

    fn tick(&mut self) -> Answer {
        answer()
    }

    fn visited(&mut self, done: f64, of: f64) -> Answer {
        if let Some(bar) = bar() {
            bar.set_message(format!("{done:.2e} of {of:.2e} subsets"));
            bar.set_length(PARTS);
            bar.set_position((done / of.max(1.0) * PARTS as f64) as u64);
        }
        answer()
    }

    fn sign(&self) -> StopSign {
        signals::sign()
    }
}

/// Parts of a bar that shows a share.
const PARTS: u64 = 1000;

fn answer() -> Answer {
    signals::reason().map_or(Answer::Continue, Answer::Stop)
}
