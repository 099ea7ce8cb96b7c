//! Progress on a terminal, tracing on demand, and interruption.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing_indicatif::IndicatifLayer;
use tracing_indicatif::span_ext::IndicatifSpanExt;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;
use vaglio::core::{Answer, Observer, Step, StopReason};

/// Whether the user asked to stop.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Shows spans and events from `-v` on, and progress bars on a terminal.
pub fn start_tracing(verbose: u8) {
    let bars = IndicatifLayer::new();
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let colour = std::env::var_os("NO_COLOR").is_none() && std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(bars.get_stderr_writer())
        .with_ansi(colour)
        .with_target(false)
        .with_span_events(if verbose > 0 {
            tracing_subscriber::fmt::format::FmtSpan::CLOSE
        } else {
            tracing_subscriber::fmt::format::FmtSpan::NONE
        })
        .with_filter(level);
    let only_progress = tracing_subscriber::filter::filter_fn(|metadata| metadata.target() == "vaglio::progress");
    tracing_subscriber::registry().with(lines).with(bars.with_filter(only_progress)).init();
}

/// Watches a search: a bar on a terminal, and a stop after the step under way when the user interrupts.
pub struct Watch {
    bar: Option<tracing::Span>,
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
        Watch { bar: None, shown: !quiet && std::io::stderr().is_terminal() }
    }

    /// Takes the bar away.
    pub fn finish(&mut self) {
        self.bar = None;
    }
}

impl Observer for Watch {
    fn begin(&mut self, steps: usize) {
        if !self.shown {
            return;
        }
        let span = tracing::info_span!(target: "vaglio::progress", "search");
        let style = indicatif::ProgressStyle::with_template("{msg:24!} {wide_bar} {pos}/{len} steps, {eta} left");
        if let Ok(style) = style {
            span.pb_set_style(&style);
        }
        span.pb_set_length(steps as u64);
        span.pb_start();
        self.bar = Some(span);
    }

    fn step(&mut self, step: &Step) -> Answer {
        if let Some(bar) = &self.bar {
            bar.pb_set_message(&format!("score {:.6}", step.score.loss));
            bar.pb_inc(1);
        }
        answer()
    }

    fn visited(&mut self, done: f64, of: f64) -> Answer {
        if let Some(bar) = &self.bar {
            bar.pb_set_message(&format!("{done:.2e} of {of:.2e} subsets"));
            bar.pb_set_length(PARTS);
            bar.pb_set_position((done / of.max(1.0) * PARTS as f64) as u64);
        }
        answer()
    }
}

/// Parts of a bar that shows a share.
const PARTS: u64 = 1000;

fn answer() -> Answer {
    if INTERRUPTED.load(Ordering::SeqCst) { Answer::Stop(StopReason::Interrupted) } else { Answer::Continue }
}
