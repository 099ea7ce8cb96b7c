//! Progress on a terminal, tracing on demand, and interruption.

use crate::terminal::log_line;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;
use vaglio::core::{Answer, Observer, Step, StopReason};

/// Whether the user asked to stop.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

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

/// Standard error, above the bar.
struct Lines;

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let line = log_line(bytes, has_color());
        let write = || std::io::stderr().write_all(line.as_bytes());
        bar().map_or_else(write, |bar| bar.suspend(write)).map(|()| bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
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
    /// Starts to listen for interruption.
    pub fn new(quiet: bool) -> Self {
        // A second interruption ends the process at once.
        let listen = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        if let Err(error) = listen {
            tracing::warn!("an interruption will end the run at once: {error}");
        }
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
}

/// Parts of a bar that shows a share.
const PARTS: u64 = 1000;

fn answer() -> Answer {
    if INTERRUPTED.load(Ordering::SeqCst) { Answer::Stop(StopReason::Interrupted) } else { Answer::Continue }
}
