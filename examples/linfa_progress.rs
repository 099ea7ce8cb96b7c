//! Progress of a fit, and how to end it.
//!
//! `cargo run -p vaglio-examples linfa_progress`

use linfa::prelude::*;
use vaglio::prelude::*;

// ANCHOR: observer
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Prints every step, and stops when asked to.
struct Shown {
    stop: Arc<AtomicBool>,
}

impl Observer for Shown {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        match event {
            Event::Step(step) => println!("{} columns: score {:.1}", step.size, step.score.loss),
            // A search, or several: the folds that choose the size, or those of nested evaluation.
            Event::Stage { what, pieces } => println!("{what}: {pieces} to do"),
            Event::Piece => println!("one more is done"),
            // Sent repeatedly during each.
            _ => {}
        }
        if self.stop.load(Ordering::Relaxed) { Some(StopReason::Interrupted) } else { None }
    }
}
// ANCHOR_END: observer

// ANCHOR: progress
/// Shows the progress of a fit in one line.
fn shown() -> impl Observer {
    Progress::observer(|stage| {
        let left = stage.left().map_or(String::new(), |left| format!(", {:.0} s left", left.as_secs_f64()));
        eprint!("\r{} {:3.0} %{left}", stage.what, 100.0 * stage.share());
    })
}
// ANCHOR_END: progress

/// Shows one fit and stops another at its first step.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dataset = vaglio_examples::diabetes()?;
    // ANCHOR: watched
    let stop = Arc::new(AtomicBool::new(false)); // for a handler of Ctrl-C, or another thread, to set
    let pipeline = Pipeline::new(KFold::new(10), Greedy::new(6), Rls::new(1.0)).preprocess(Standardize::default());
    let pipeline = pipeline.observer(Shown { stop: Arc::clone(&stop) });
    let fitted = pipeline.fit(&dataset)?;
    if fitted.path().is_some_and(|path| path.stop_reason.is_partial()) {
        println!("ended early, with {} columns", fitted.selected().len());
    }
    if let Some(told) = fitted.selection() {
        let (search, choose, fit) = (told.search_seconds, told.choose_seconds, told.fit_seconds);
        println!("{search:.2} s of search, {choose:.2} s of folds that choose the size, {fit:.2} s of the final fit");
    }
    // ANCHOR_END: watched
    assert!(fitted.path().is_some_and(|path| !path.stop_reason.is_partial()));
    stop.store(true, Ordering::Relaxed);
    let ended = pipeline.fit(&dataset)?;
    assert!(ended.path().is_some_and(|path| path.stop_reason.is_partial() && path.steps.len() <= 1));
    assert!(pipeline.nested(5, &dataset).is_err());
    Pipeline::new(Loo::default(), Greedy::new(2), Rls::new(1.0)).observer(shown()).fit(&dataset)?;

    // ANCHOR: service
    let asked = Arc::new(AtomicBool::new(false)); // for a request to set
    let flag = Arc::clone(&asked);
    let sign = StopSign::new(move || flag.load(Ordering::Relaxed).then_some(StopReason::Interrupted));
    let (sender, shares) = std::sync::mpsc::channel();
    let progress = Progress::observer(move |stage| {
        let _nobody_listens = sender.send((stage.what.clone(), stage.share()));
    });
    let pipeline =
        Pipeline::new(Loo::default(), Greedy::new(6), Rls::new(1.0)).observer(progress).stop_at(sign.clone());
    let data = dataset.clone();
    let worker = std::thread::spawn(move || pipeline.fit(&data));
    for (what, share) in shares {
        println!("{what} {:.0} %", 100.0 * share);
    }
    let fitted = worker.join().map_err(|_| "the fit panicked")??;
    // ANCHOR_END: service
    assert!(fitted.path().is_some_and(|path| !path.stop_reason.is_partial()));
    asked.store(true, Ordering::Relaxed);
    let ended = Pipeline::new(Loo::default(), Greedy::new(6), Rls::new(1.0)).stop_at(sign).fit(&dataset)?;
    assert!(ended.path().is_some_and(|path| path.stop_reason.is_partial()));
    Ok(())
}
