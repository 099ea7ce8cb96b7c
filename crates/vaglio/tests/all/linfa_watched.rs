//! Fits that are watched: by several threads at one time, how far they are, and what is left of one that was ended.

use linfa::Dataset;
use linfa::prelude::*;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use vaglio::prelude::*;
use vaglio_testkit::SplitMix64;

fn dataset(rows: usize, columns: usize) -> Dataset<f64, f64, Ix1> {
    let mut random = SplitMix64::new(7);
    let x = Array2::from_shape_simple_fn((rows, columns), || random.normal());
    let y = Array1::from_shape_fn(rows, |row| x[[row, 1]] - 2.0 * x[[row, 3]] + random.normal());
    Dataset::new(x, y)
}

fn pipeline() -> Pipeline {
    Pipeline::new(Loo::default(), Greedy::new(4), Rls::new(1e-3)).preprocess(Standardize::default())
}

/// Counts steps, and stops after some.
struct Counter(Arc<AtomicUsize>, usize);

impl Observer for Counter {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        let Event::Step(_) = event else { return None };
        let steps = self.0.fetch_add(1, Ordering::SeqCst) + 1;
        if steps >= self.1 { Some(StopReason::Interrupted) } else { None }
    }
}

#[test]
fn an_observer_sees_a_fit_and_may_end_it_and_threads_change_nothing() {
    let dataset = dataset(60, 6);
    let plain = pipeline().fit(&dataset).unwrap();
    let steps = Arc::new(AtomicUsize::new(0));
    let watched = pipeline().observer(Counter(Arc::clone(&steps), 100)).threads(2).fit(&dataset).unwrap();
    assert_eq!(steps.load(Ordering::SeqCst), plain.path().unwrap().steps.len());
    assert_eq!(watched.path(), plain.path());
    let ended = pipeline().observer(Counter(Arc::default(), 1)).fit(&dataset).unwrap();
    assert_eq!(ended.path().unwrap().stop_reason, StopReason::Interrupted);
    assert!(pipeline().threads(1_000_000).check().is_err());
}

/// Counts all events.
struct Events(Arc<AtomicUsize>);

impl Observer for Events {
    fn observe(&mut self, _: &Event<'_>) -> Option<StopReason> {
        self.0.fetch_add(1, Ordering::SeqCst);
        None
    }
}

/// A worker that waits inside of a fit takes up the next fit of the loop, whose events the same observer sees.
#[test]
fn a_watched_pipeline_is_fitted_by_a_parallel_loop() {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        let sets: Vec<_> = (0..8).map(|more| dataset(120 + more, 8)).collect();
        let events = Arc::new(AtomicUsize::new(0));
        let plain = Pipeline::new(KFold::new(5), Greedy::new(4), Rls::new(1.0)).preprocess(Standardize::default());
        let watched = plain.clone().observer(Events(Arc::clone(&events)));
        let loops = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let alone: Vec<_> = sets.iter().map(|set| plain.fit(set).unwrap().path().cloned()).collect();
        for threads in [0, 2] {
            let watched = watched.clone().threads(threads);
            let found: Vec<_> =
                loops.install(|| sets.par_iter().map(|set| watched.fit(set).unwrap().path().cloned()).collect());
            assert_eq!(found, alone);
        }
        done.send(events.load(Ordering::SeqCst)).unwrap();
    });
    let events = ended.recv_timeout(Duration::from_secs(300)).expect("the fits wait for each other");
    assert!(events > 2 * 8 * 4, "{events}");
}

#[test]
fn progress_tells_shares_that_rise_and_the_time_left() {
    let shown = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&shown);
    let progress = Progress::observer(move |stage| {
        seen.lock().unwrap().push((stage.what.clone(), stage.share(), stage.left()));
    });
    let pipeline = Pipeline::new(Loo::default(), Greedy::new(3), Rls::new(1.0)).observer(progress);
    pipeline.fit(&dataset(60, 5)).unwrap();
    let shown = shown.lock().unwrap();
    for what in ["choose", "search"] {
        let of: Vec<_> = shown.iter().filter(|(name, ..)| name == what).collect();
        assert!(of.len() > 3 && of[0].1 == 0.0 && of[0].2.is_none(), "{what}: {shown:?}");
        assert!(of.is_sorted_by(|a, b| a.1 <= b.1) && of.last().unwrap().1 == 1.0, "{what}: {of:?}");
        assert!(of.iter().all(|(_, share, left)| left.is_some() == (*share > 0.0)));
        assert_eq!(of.last().unwrap().2, Some(Duration::ZERO));
    }
}

/// Observed progress of the folds that choose the size: number of ticks before each event, and the share done.
#[derive(Default)]
struct ChoiceProgress {
    asked: usize,
    stage: Progress,
    shares: Vec<(usize, f64)>,
}

/// Looks at the folds, and ends the fit where so much of them is done.
struct Folds(Arc<Mutex<ChoiceProgress>>, f64);

impl Observer for Folds {
    fn observe(&mut self, event: &Event<'_>) -> Option<StopReason> {
        let mut seen = self.0.lock().unwrap();
        seen.stage.see(event);
        if seen.stage.what == "choose" {
            let (asked, share) = (seen.asked + usize::from(matches!(event, Event::Tick)), seen.stage.share());
            seen.asked = asked;
            seen.shares.push((asked, share));
        }
        match seen.stage.what == "choose" && seen.stage.share() >= self.1 {
            true => Some(StopReason::Interrupted),
            false => None,
        }
    }
}

/// Walks of 5 folds at 7 λ, floating among 20 columns.
fn over_lambdas(seen: &Arc<Mutex<ChoiceProgress>>, until: f64) -> Pipeline {
    let search = Floating::new(12).choose(CrossValidation::new(5));
    Pipeline::new(Loo::default(), search, Rls::new(Lambda::grid(1e-3, 1e3, 7))).observer(Folds(Arc::clone(seen), until))
}

#[test]
fn the_share_follows_the_steps_of_all_walks() {
    let seen = Arc::new(Mutex::new(ChoiceProgress::default()));
    over_lambdas(&seen, 2.0).fit(&dataset(150, 20)).unwrap();
    let ChoiceProgress { asked, shares, .. } = &*seen.lock().unwrap();
    assert!(*asked > 5 * 7 * 5 && shares.is_sorted_by(|a, b| a.1 <= b.1), "{shares:?}");
    // Losses of rows are some of the work beside the steps.
    for (before, share) in shares {
        let steps = *before as f64 / *asked as f64;
        let is_near = *share > 0.5 * steps - 0.05 && *share < 2.0 * steps + 0.1;
        assert!(is_near || steps == 1.0, "{share} after {steps} of the steps: {shares:?}");
    }
    let (last, before) = (shares.last().unwrap().1, shares.iter().filter(|(_, share)| *share < 1.0).count());
    assert!(last == 1.0 && before + 3 >= shares.len() && before > 40, "{shares:?}");
    assert!(shares.windows(2).all(|pair| pair[1].1 - pair[0].1 < 0.1), "{shares:?}");
}

#[test]
fn a_fit_that_is_ended_while_folds_are_walked_has_columns() {
    let seen = Arc::new(Mutex::new(ChoiceProgress::default()));
    let ended = over_lambdas(&seen, 0.3).fit(&dataset(150, 20)).unwrap();
    assert_eq!(ended.path().unwrap().stop_reason, StopReason::Interrupted);
    assert!(ended.selected().contains(&"feature-1") && ended.selected().contains(&"feature-3"), "{ended:?}");
    let share = seen.lock().unwrap().stage.share();
    assert!((0.3..0.6).contains(&share), "{share}");
}
