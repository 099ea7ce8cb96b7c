//! `--trace FILE`: a timed trace of a run, in Chrome's trace event format.
//!
//! The file is a JSON array of events that begin and end (`B`, `E`) or are instant (`i`). Each has its thread and its
//! time in microseconds. It is a complete array at every moment, even if the program is killed: each write rewrites the
//! end.

use serde_json::{Map, Value, json};
use std::fmt::Debug;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::{LevelFilter, filter_fn};
use tracing_subscriber::layer::{Context, Filter, Layer};
use tracing_subscriber::registry::LookupSpan;
use vaglio::core::{Error, lock};

/// Size of the buffer that triggers a write, in bytes.
const MOST_HELD: usize = 1 << 16;
/// Maximum time that events are buffered while others follow.
const LONGEST_HELD: Duration = Duration::from_millis(500);

/// Writes spans and events to a file.
#[derive(Clone)]
pub struct TraceWriter(Arc<Mutex<TraceFile>>);

/// The trace file and its buffer.
struct TraceFile {
    start: Instant,
    file: File,
    held: String,
    at: Instant,
    is_first: bool,
}

/// Fields of a span or an event that are not written yet.
#[derive(Default)]
struct Fields(Map<String, Value>);

/// Number of the current thread, in order of first use, and whether it is new.
fn thread() -> (u64, bool) {
    static THREADS: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static OWN: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
    }
    OWN.with(|own| {
        let is_new = own.get() == 0;
        if is_new {
            own.set(THREADS.fetch_add(1, Ordering::Relaxed));
        }
        (own.get(), is_new)
    })
}

impl TraceWriter {
    /// Begins the file, overwriting an earlier trace.
    ///
    /// # Errors
    /// [`Error::Unwritable`]; [`Error::Setting`] if the file is not a trace.
    pub fn begin(path: &Path) -> Result<Self, Error> {
        let unwritable = |error: std::io::Error| Error::unwritable(path, error);
        check_over(path)?;
        let mut file = File::create(path).map_err(unwritable)?;
        file.write_all(b"[\n]\n").map_err(unwritable)?;
        let start = Instant::now();
        let file = TraceFile { start, file, held: String::new(), at: start, is_first: true };
        Ok(TraceWriter(Arc::new(Mutex::new(file))))
    }

    /// Writes the buffer. Failed writes are ignored and do not fail the run.
    pub fn finish(&self) {
        lock(&self.0).write();
    }

    fn put(&self, phase: &str, name: &str, fields: Fields) {
        let (thread, is_new) = thread();
        let mut file = lock(&self.0);
        let time = file.start.elapsed().as_nanos() as f64 / 1e3;
        if is_new {
            let own = std::thread::current().name().map_or_else(|| format!("thread {thread}"), str::to_owned);
            file.hold(&json!({"ph": "M", "name": "thread_name", "pid": 1, "tid": thread, "args": {"name": own}}));
        }
        let mut event = json!({"ph": phase, "name": name, "pid": 1, "tid": thread, "ts": time});
        if !fields.0.is_empty() {
            event["args"] = Value::Object(fields.0);
        }
        file.hold(&event);
        if file.held.len() > MOST_HELD || file.at.elapsed() > LONGEST_HELD {
            file.write();
        }
    }

    /// Writes that a span begins or ends.
    fn put_span<S: Subscriber + for<'l> LookupSpan<'l>>(&self, phase: &str, id: &Id, context: &Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let fields = span.extensions_mut().get_mut::<Fields>().map(std::mem::take);
            self.put(phase, span.name(), fields.unwrap_or_default());
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

impl TraceFile {
    fn hold(&mut self, event: &Value) {
        self.held += if self.is_first { "" } else { ",\n" };
        self.held += &event.to_string();
        self.is_first = false;
    }

    /// Writes the buffer and the end of the array in one step, over the previous end.
    fn write(&mut self) {
        if !self.held.is_empty() {
            self.held += "\n]\n";
            let before = if self.held.starts_with(',') { 3 } else { 2 };
            if self.file.seek(SeekFrom::End(-before)).is_ok() {
                let _lost = self.file.write_all(self.held.as_bytes());
            }
            self.held.clear();
        }
        self.at = Instant::now();
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        // Finite numbers and truth values are written as JSON has them.
        let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
        self.0.insert(field.name().to_owned(), value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl<S: Subscriber + for<'l> LookupSpan<'l>> Layer<S> for TraceWriter {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        self.put_span("B", id, &context);
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        self.put_span("E", id, &context);
    }

    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let name = match fields.0.shift_remove("message") {
            Some(Value::String(message)) => message,
            _ => event.metadata().name().to_owned(),
        };
        self.put("i", &name, fields);
    }
}

/// Filter of the trace: leaves out events of single subsets.
pub fn filter<S>() -> impl Filter<S> {
    // The λ of one subset.
    let is_of_subset = |event: &Metadata<'_>| event.is_event() && event.target() == "vaglio_core::lambda";
    filter_fn(move |event| *event.level() <= Level::DEBUG && !is_of_subset(event))
        .with_max_level_hint(LevelFilter::DEBUG)
}
