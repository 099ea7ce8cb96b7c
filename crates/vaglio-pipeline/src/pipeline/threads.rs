//! Number of threads of a run.

use vaglio_core::{Cause, Error, Result};

/// Number of threads allowed on any machine.
const FLOOR: usize = 64;

/// Environment variables that size the thread pool if no setting does.
const VARIABLES: [&str; 2] = ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];

/// Environment variable of the stack size of threads, and the smallest sufficient size.
const STACK: &str = "RUST_MIN_STACK";
const LEAST_STACK: usize = 1 << 20;

/// Largest useful number of threads: four per processor, and at least 64.
fn most() -> usize {
    std::thread::available_parallelism().map_or(FLOOR, |processors| processors.get().saturating_mul(4)).max(FLOOR)
}

/// Refuses more threads than are useful, before any is started.
///
/// # Errors
/// [`Error::Setting`] with the field or option that requests them.
pub fn check_threads(field: &str, threads: usize) -> Result<()> {
    let most = most();
    if threads <= most {
        return Ok(());
    }
    let message = format!(
        "{threads} threads are more than this machine has use for; at most {most}, or 0 for as many as there are processors"
    );
    Err(Error::setting(field, message))
}

/// Refuses environment variables that request too many threads or a stack that is too small.
///
/// # Errors
/// [`Error::Setting`] with the variable.
pub fn check_environment() -> Result<()> {
    VARIABLES.into_iter().try_for_each(|name| {
        let asked = std::env::var(name).ok().and_then(|value| value.parse().ok());
        asked.map_or(Ok(()), |threads| check_threads(name, threads))
    })?;
    match std::env::var(STACK).ok().and_then(|value| value.parse::<usize>().ok()).filter(|bytes| *bytes < LEAST_STACK) {
        Some(bytes) => Err(Error::setting(
            STACK,
            format!(
                "threads need more than {bytes} bytes for their stack; leave it out, or ask for {LEAST_STACK} at least"
            ),
        )),
        None => Ok(()),
    }
}

/// The thread pool of a run; 0 for the number of processors.
///
/// # Errors
/// [`Error::Setting`] for more threads than are useful, and if the system refuses them.
pub fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    check_threads("engine.threads", threads)?;
    if threads == 0 {
        check_environment()?;
    }
    let built = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    built.map_err(|e| Error::setting("engine.threads", Cause::from_error(e)))
}
