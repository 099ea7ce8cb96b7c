//! A running program: messages to it and its answers.

use crate::pool::ProgramUse;
use crate::table::{SentTable, TableFormat};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vaglio_core::{CancelToken, Cause, Error, Result, lock};

/// Version of the messages.
const PROTOCOL: u32 = 1;

/// Maximum length of an answer, in bytes.
const LONGEST: u64 = 1 << 30;

/// Bytes of standard error kept for messages.
const KEPT: usize = 2000;

/// Time between two looks at the stop sign while a program works.
const POLL: Duration = Duration::from_millis(20);

/// Time that a program may take to end after its input has ended.
const END: Duration = Duration::from_millis(500);

/// All running programs.
static RUNNING: Mutex<Vec<Weak<Mutex<std::process::Child>>>> = Mutex::new(Vec::new());

/// Ends every running program, even one that is computing.
pub fn end_programs() {
    let all = std::mem::take(&mut *lock(&RUNNING));
    for process in all.iter().filter_map(Weak::upgrade) {
        kill(&process);
    }
}

/// Ends a program and its children, which share its pipes.
fn kill(process: &Mutex<std::process::Child>) {
    let mut process = lock(process);
    #[cfg(unix)]
    if let Ok(None) = process.try_wait() {
        let group = format!("kill -KILL -{}", process.id());
        let _ended = Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status();
    }
    // A failure means that it has already ended.
    let _ended = process.kill().and_then(|()| process.wait());
}

/// A message with one entry; a table is added when it is sent.
pub(crate) fn message(what: &str, value: impl Into<Value>) -> Map<String, Value> {
    Map::from_iter([(what.to_owned(), value.into())])
}

/// A started program that has announced its protocol.
pub(crate) struct Child {
    name: String,
    process: Arc<Mutex<std::process::Child>>,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    errors: Option<JoinHandle<()>>,
    tail: Arc<Mutex<VecDeque<u8>>>,
    format: TableFormat,
    /// Number of the data that the program holds, and its answer to them.
    pub holds: Option<(u64, Value)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Handshake {
    vaglio: u32,
    data: TableFormat,
}

impl Child {
    /// Starts a program as a part of a pipeline.
    pub fn start(ProgramUse { program, part, settings }: &ProgramUse) -> Result<Self> {
        program.check()?;
        let mut command = Command::new(&program.command()[0]);
        command.args(&program.command()[1..]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C is meant for vaglio, which ends the program when the step is done.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let not_started =
            |why: Cause| Error::setting("program", why.reword(|why| format!("`{program}` cannot be started: {why}")));
        let mut process = command.spawn().map_err(|error| not_started(error.into()))?;
        let (Some(input), Some(output), Some(errors)) =
            (process.stdin.take(), process.stdout.take(), process.stderr.take())
        else {
            return Err(not_started("it has no pipes".into()));
        };
        let (process, tail) = (Arc::new(Mutex::new(process)), Arc::default());
        let mut running = lock(&RUNNING);
        running.retain(|other| other.strong_count() > 0);
        running.push(Arc::downgrade(&process));
        drop(running);
        let errors = Some(std::thread::spawn({
            let tail = Arc::clone(&tail);
            move || keep_tail(errors, &tail)
        }));
        let output = BufReader::new(output);
        let (name, input) = (program.to_string(), Some(input));
        let mut child = Child { name, process, input, output, errors, tail, format: TableFormat::Json, holds: None };
        tracing::debug!("started `{program}` as a {part}");
        let mut hello = message("vaglio", PROTOCOL);
        hello.extend([("part".to_owned(), (*part).into()), ("settings".to_owned(), settings.clone().into())]);
        let answer = child.ask(hello, None)?;
        let Handshake { vaglio, data } = serde_json::from_value(answer.clone()).map_err(|error| {
            child.wrong(&answer, &format!(r#"`{{"vaglio": 1, "data": "json" or "arrow"}}`: {error}"#))
        })?;
        if vaglio != PROTOCOL {
            return Err(child.wrong(&answer, "messages of version 1"));
        }
        child.format = data;
        Ok(child)
    }

    /// Sends a question and receives the answer. Ends the program when the work is to stop, and unwinds as a checkpoint does.
    pub fn ask(&mut self, question: Map<String, Value>, table: Option<&SentTable>) -> Result<Value> {
        let (halt, process) = (CancelToken::current(), Arc::clone(&self.process));
        halt.check();
        let answer = std::thread::scope(|scope| {
            let (done, is_done) = channel::<()>();
            let watched = &halt;
            scope.spawn(move || {
                while let Err(RecvTimeoutError::Timeout) = is_done.recv_timeout(POLL) {
                    if watched.is_due() {
                        return kill(&process);
                    }
                }
            });
            let answer = self.send(question, table).and_then(|()| self.receive());
            drop(done);
            answer
        });
        if answer.is_err() {
            halt.check();
        }
        answer
    }

    /// Sends a message with its table.
    fn send(&mut self, mut message: Map<String, Value>, table: Option<&SentTable>) -> Result<()> {
        let bytes = table.map(|table| table.put(&mut message, self.format)).transpose()?.flatten();
        let line = serde_json::to_vec(&message)?;
        let sent = self.input.as_mut().map(|input| {
            input.write_all(&line)?;
            input.write_all(b"\n")?;
            bytes.map_or(Ok(()), |bytes| input.write_all(&bytes))?;
            input.flush()
        });
        match sent {
            Some(Ok(())) => Ok(()),
            _ => Err(self.end_error()),
        }
    }

    fn receive(&mut self) -> Result<Value> {
        let mut line = Vec::new();
        let read = self.output.by_ref().take(LONGEST).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) || line.last() != Some(&b'\n') && line.len() < LONGEST as usize {
            return Err(self.end_error());
        }
        serde_json::from_slice(&line).map_err(|error| {
            let said = String::from_utf8_lossy(&line[..line.len().min(200)]).trim_end().to_owned();
            let why = format!("`{}` said {said:?}, which is no line of JSON: {error}", self.name);
            let remedy = match said.contains("NaN") || said.contains("Infinity") {
                true => "JSON has no NaN and no infinity; null refuses a subset",
                false => "what it prints for people goes to standard error",
            };
            Error::Numerical(format!("{why}; {remedy}"))
        })
    }

    /// Error of an answer of the wrong form.
    pub fn wrong(&self, answer: &Value, wanted: &str) -> Error {
        let said: String = answer.to_string().chars().take(200).collect();
        Error::Numerical(format!("`{}` said `{said}` in place of {wanted}", self.name))
    }

    /// A number in an answer; null is infinity.
    pub fn number(&self, answer: &Value, key: &str) -> Result<f64> {
        match &answer[key] {
            Value::Null if answer.get(key).is_some() => Ok(f64::INFINITY),
            value => value.as_f64().ok_or_else(|| self.wrong(answer, &format!(r#"`{{"{key}": number or null}}`"#))),
        }
    }

    /// Error of a program that does not answer.
    fn end_error(&mut self) -> Error {
        self.input = None;
        let status = self.wait();
        if let Some(errors) = self.errors.take().filter(|_| status.is_some()) {
            let _read_to_the_end = errors.join();
        }
        let tail: Vec<u8> = lock(&self.tail).iter().copied().collect();
        let tail = String::from_utf8_lossy(&tail);
        let last =
            tail.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it wrote nothing to standard error");
        let how = status.map_or_else(|| "has closed its output".into(), |status| format!("has ended ({status})"));
        Error::Numerical(format!("`{}` {how}: {}", self.name, last.trim()))
    }

    /// Waits for the program to end, and kills it after a while.
    fn wait(&self) -> Option<std::process::ExitStatus> {
        let start = Instant::now();
        let mut process = lock(&self.process);
        loop {
            match process.try_wait() {
                Ok(None) if start.elapsed() < END => std::thread::sleep(Duration::from_millis(2)),
                Ok(None) => {
                    let _ended = process.kill().and_then(|()| process.wait());
                    return None;
                }
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.input = None;
        self.wait();
    }
}

/// Reads a program's standard error and keeps its end.
fn keep_tail(mut errors: impl Read, tail: &Mutex<VecDeque<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(read @ 1..) = errors.read(&mut chunk) {
        let mut kept = lock(tail);
        kept.extend(&chunk[..read]);
        let surplus = kept.len().saturating_sub(KEPT);
        kept.drain(..surplus);
    }
}

/// Parses predictions, outputs × `rows`.
pub(crate) fn predictions(child: &Child, answer: &Value, outputs: usize, rows: usize) -> Result<ndarray::Array2<f64>> {
    let wanted = || format!(r#"`{{"predictions": {outputs} lists of {rows} numbers}}`"#);
    let wrong = || child.wrong(answer, &wanted());
    let lists: Vec<Vec<f64>> = serde_json::from_value(answer["predictions"].clone()).map_err(|_| wrong())?;
    if lists.len() != outputs || lists.iter().any(|list| list.len() != rows) {
        return Err(wrong());
    }
    ndarray::Array2::from_shape_vec((outputs, rows), lists.concat()).map_err(|_| wrong())
}

/// Formats predictions as an answer.
pub(crate) fn answer(predictions: ndarray::ArrayView2<'_, f64>) -> Map<String, Value> {
    let lists: Vec<Vec<f64>> = predictions.rows().into_iter().map(|row| row.to_vec()).collect();
    message("predictions", json!(lists))
}
