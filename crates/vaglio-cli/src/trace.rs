//! `--trace FILE`: a timed trace of a run, in Chrome's trace event format.

use std::fmt::Debug;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Mutex;
use tracing::field::{Field, Visit};
use tracing::{Level, Metadata, Subscriber};
use tracing_chrome::{ChromeLayerBuilder, EventOrSpan, FlushGuard};
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;
use vaglio::core::{Error, lock};

/// Guard of the trace, which writes the rest when it is dropped.
static GUARD: Mutex<Option<FlushGuard>> = Mutex::new(None);

/// File whose failed writes are ignored and do not fail the run.
struct TraceFile(File);

/// Message of an event.
#[derive(Default)]
struct EventMessage(String);

/// Begins the file, overwriting an earlier trace; [`finish`] ends it.
///
/// # Errors
/// [`Error::Unwritable`]; [`Error::Setting`] if the file is not a trace.
pub fn begin<S>(path: &Path) -> Result<impl Layer<S>, Error>
where
    S: Subscriber + for<'l> LookupSpan<'l> + Send + Sync,
{
    check_over(path)?;
    let file = File::create(path).map_err(|error| Error::unwritable(path, error))?;
    let builder = ChromeLayerBuilder::new().writer(TraceFile(file)).include_args(true).include_locations(false);
    let (layer, guard) = builder.name_fn(Box::new(name)).build();
    *lock(&GUARD) = Some(guard);
    Ok(layer.with_filter(filter_fn(is_traced).with_max_level_hint(LevelFilter::DEBUG)))
}

/// Writes the rest of the trace, if there is one.
pub fn finish() {
    drop(lock(&GUARD).take());
}

/// Whether a span or an event is traced; events of single subsets are not.
fn is_traced(item: &Metadata<'_>) -> bool {
    let is_lambda_of_subset = item.is_event() && item.target() == "vaglio_core::lambda";
    *item.level() <= Level::DEBUG && !is_lambda_of_subset
}

/// Name of a span, or message of an event.
fn name<S: Subscriber + for<'l> LookupSpan<'l> + Send + Sync>(item: &EventOrSpan<'_, '_, S>) -> String {
    match item {
        EventOrSpan::Span(span) => span.name().to_owned(),
        EventOrSpan::Event(event) => {
            let mut message = EventMessage::default();
            event.record(&mut message);
            message.0
        }
    }
}

/// First bytes of every trace.
const OPEN: &[u8] = b"[\n";

/// Rejects pipes and files that are no traces, such as the pipeline or its data, since the file is overwritten.
fn check_over(path: &Path) -> Result<(), Error> {
    let there = std::fs::metadata(path);
    if there.as_ref().is_ok_and(|there| there.is_file() && there.len() > 0) {
        let mut first = [0; OPEN.len()];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
        if read.is_err() || first != OPEN {
            let message = format!("{} is there already, and no trace; name another file", path.display());
            return Err(Error::setting("--trace", message));
        }
    }
    #[cfg(unix)]
    if there.is_ok_and(|there| std::os::unix::fs::FileTypeExt::is_fifo(&there.file_type())) {
        return Err(Error::setting("--trace", format!("{} is a pipe; name a file", path.display())));
    }
    Ok(())
}

impl Write for TraceFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let _lost = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Visit for EventMessage {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
