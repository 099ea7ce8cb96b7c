//! Trials of parts that may not ask whether to go on, made on threads of their own, where they can be left.

use crate::{Error, Result, StopReason, StopSign};
use rayon::ThreadPool;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the sign is asked while a trial goes on.
const POLL: Duration = Duration::from_millis(50);

thread_local! {
    /// Whether this is a thread of trials.
    static IS_APART: Cell<bool> = const { Cell::new(false) };
}

/// How trials are made apart; copies share threads.
#[derive(Clone)]
pub(crate) struct Apart(Arc<Shared>);

struct Shared {
    slow: Duration,
    grace: Duration,
    report: Box<dyn Fn(&str) + Send + Sync>,
    /// As many as there are where trials are asked for; new ones after some were left.
    threads: Mutex<Option<Arc<ThreadPool>>>,
}

impl Apart {
    pub fn new(slow: Duration, grace: Duration, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Apart(Arc::new(Shared { slow, grace, report: Box::new(report), threads: Mutex::new(None) }))
    }
}

impl Shared {
    fn threads(&self) -> Option<Arc<ThreadPool>> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        if threads.is_none() {
            let builder = rayon::ThreadPoolBuilder::new().num_threads(rayon::current_num_threads());
            *threads = builder.start_handler(|_| IS_APART.set(true)).build().ok().map(Arc::new);
        }
        threads.clone()
    }

    /// Leaves threads of which one does not end: what follows has others.
    fn leave(&self, left: &Arc<ThreadPool>) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.take_if(|threads| Arc::ptr_eq(threads, left));
    }
}

/// Whether a trial under this sign is to be made apart.
pub(crate) fn is_apart(sign: &StopSign) -> bool {
    sign.apart.is_some() && !IS_APART.get()
}

/// Makes a trial on a thread that can be left, which `what` names: a part and its columns.
///
/// # Errors
/// Those of the trial; [`Error::Stopped`] where it is left.
pub(crate) fn apart<T: Send + 'static>(
    sign: &StopSign,
    what: impl Fn() -> String,
    trial: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let Some((shared, threads)) = sign.apart.as_ref().and_then(|apart| Some((&apart.0, apart.0.threads()?))) else {
        return trial();
    };
    let (start, inside) = (Instant::now(), sign.clone());
    let (done, ended) = sync_channel(1);
    threads.spawn(move || {
        let _nobody_waits = done.send(catch_unwind(AssertUnwindSafe(|| inside.ends(trial))));
    });
    let mut next = shared.slow;
    let mut asked: Option<(Instant, StopReason)> = None;
    loop {
        match ended.recv_timeout(POLL) {
            Ok(outcome) => return outcome.unwrap_or_else(|panic| resume_unwind(panic)),
            Err(RecvTimeoutError::Disconnected) => return Err(Error::Numerical("its thread has ended early".into())),
            Err(RecvTimeoutError::Timeout) => {}
        }
        asked = asked.or_else(|| Some((Instant::now(), sign.reason()?)));
        if let Some((since, reason)) = asked
            && since.elapsed() >= shared.grace
        {
            let waited = since.elapsed().as_secs_f64();
            (shared.report)(&format!("{} did not end within {waited:.1} s of the sign to stop; it is left", what()));
            shared.leave(&threads);
            return Err(Error::Stopped(reason));
        }
        if start.elapsed() >= next {
            (shared.report)(&format!("{} is at work for {:.0} s", what(), start.elapsed().as_secs_f64()));
            next *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    const SHORT: Duration = Duration::from_millis(30);

    type Lines = Arc<Mutex<Vec<String>>>;

    /// A sign that is set by hand, and what it reports.
    fn sign() -> (StopSign, Arc<AtomicBool>, Lines) {
        let (asked, lines) = (Arc::new(AtomicBool::new(false)), Lines::default());
        let (flag, kept) = (Arc::clone(&asked), Arc::clone(&lines));
        let sign = StopSign::new(move || flag.load(Ordering::SeqCst).then_some(StopReason::Interrupted));
        (sign.leaving(SHORT, SHORT, move |line| kept.lock().unwrap().push(line.to_owned())), asked, lines)
    }

    #[test]
    fn a_trial_gives_what_it_gives() {
        let (sign, ..) = sign();
        assert!(is_apart(&sign) && !is_apart(&StopSign::default()));
        let inside = sign.clone();
        let made = apart(&sign, || "x".into(), move || Ok((is_apart(&inside), std::thread::current().id())));
        let (nested, thread) = made.unwrap();
        assert!(!nested, "a trial within a trial is made where it is");
        assert_ne!(thread, std::thread::current().id());
        let failed: Result<()> = apart(&sign, || "x".into(), || Err(Error::Numerical("no".into())));
        assert_eq!(failed.unwrap_err().to_string(), Error::Numerical("no".into()).to_string());
        let panicked =
            catch_unwind(AssertUnwindSafe(|| apart(&sign, || "x".into(), || -> Result<()> { panic!("oh") })));
        assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"oh"));
    }

    #[test]
    fn a_trial_that_goes_on_is_reported_and_left_after_the_sign() {
        let (sign, asked, lines) = sign();
        let later = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(300));
            asked.store(true, Ordering::SeqCst);
        });
        let outcome: Result<()> = apart(
            &sign,
            || "learner `l` on `a`".into(),
            || loop {
                std::thread::park();
            },
        );
        assert!(matches!(outcome, Err(Error::Stopped(StopReason::Interrupted))), "{outcome:?}");
        later.join().unwrap();
        let reported = lines.lock().unwrap().clone();
        assert!(reported[0].starts_with("learner `l` on `a` is at work for "), "{reported:?}");
        assert!(reported.last().unwrap().starts_with("learner `l` on `a` did not end within "), "{reported:?}");
        // What is left to be done is done all the same.
        let end = sign.at_the_end();
        assert_eq!((sign.reason(), end.reason()), (Some(StopReason::Interrupted), None));
        let made = apart(
            &end,
            || "x".into(),
            || {
                std::thread::sleep(Duration::from_millis(200));
                Ok(7)
            },
        );
        assert_eq!(made.unwrap(), 7);
    }
}
