//! Progress display on a terminal, and tracing.

use crate::signals;
use crate::terminal::{BAR, PARTS, has_color, log_line};
use std::io::{IsTerminal, Write};
use std::path::Path;
use tracing::Subscriber;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use vaglio::Progress;
use vaglio::core::{Error, StopReason, short};
use vaglio::search::{Event, Monitor, Observer};

/// Writer to standard error above the bar. Failed writes are ignored and do not fail the run.
struct ProgressWriter;

impl Write for ProgressWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let line = log_line(bytes, has_color());
        let _nobody_reads = BAR.suspend(|| std::io::stderr().write_all(line.as_bytes()));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let _ = std::io::stderr().flush();
        Ok(())
    }
}

/// Shows spans and events as verbosity asks, and writes them to the trace, if any.
///
/// # Errors
/// [`Error::Unwritable`] and [`Error::Setting`] for the file of the trace.
pub fn start_tracing(verbose: u8, trace: Option<&Path>) -> Result<(), Error> {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let subscriber = tracing_subscriber::registry();
    match trace {
        None => subscriber.with(level).with(lines(verbose)).init(),
        #[cfg(feature = "trace")]
        Some(path) => {
            let layer = crate::trace::begin(path)?;
            subscriber.with(lines(verbose).with_filter(level)).with(layer).init();
        }
        #[cfg(not(feature = "trace"))]
        Some(_) => {
            return Err(Error::setting("--trace", "this build writes no traces; install with `--features trace`"));
        }
    }
    Ok(())
}

/// Layer that writes spans and events as lines.
fn lines<S: Subscriber + for<'l> LookupSpan<'l>>(verbose: u8) -> impl Layer<S> {
    tracing_subscriber::fmt::layer()
        .log_internal_errors(false)
        .without_time()
        .with_writer(|| ProgressWriter)
        .with_ansi(has_color())
        .with_target(false)
        .with_span_events(if verbose > 0 { FmtSpan::CLOSE } else { FmtSpan::NONE })
}

/// Progress bar of a run on a terminal.
pub struct TerminalProgress {
    shown: bool,
    stage: Progress,
}

impl TerminalProgress {
    /// Shows progress unless `quiet`.
    pub fn new(quiet: bool) -> Self {
        TerminalProgress { shown: !quiet && std::io::stderr().is_terminal(), stage: Progress::default() }
    }

    /// A monitor that shows progress, and stops when the user asks.
    pub fn monitor(&mut self) -> Monitor<'_> {
        Monitor { stop: signals::sign(), ..Monitor::from(self) }
    }
}

impl Observer for TerminalProgress {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        let before = self.stage.what.clone();
        if !self.shown || !self.stage.see(event) {
            return None;
        }
        let Progress { what, done, of, .. } = &self.stage;
        if *what != before || matches!(event, Event::Stage { .. }) {
            BAR.finish_and_clear();
            BAR.set_message(what.replace("choose", "cross-validating"));
            BAR.reset();
        }
        match event {
            Event::Step(step) => BAR.set_message(format!("score {}", short(step.score.loss))),
            Event::Visited { .. } if what == "search" => BAR.set_message("subsets"),
            _ => {}
        }
        BAR.set_prefix(if *of < 1e6 { format!("{done:.0}/{of:.0}") } else { format!("{done:.2e} of {of:.2e}") });
        BAR.set_position((self.stage.share() * PARTS as f64) as u64);
        None
    }
}
