//! Settings that are tuned.

#[path = "../../src/tune/bounds.rs"]
mod bounds;

use bounds::{Bounds, Scale};
use linfa::ParamGuard;
use ndarray::Array2;
use vaglio_core::{Criterion, Design, Error, Feature, Learner, Problem, Readout, Result, Score, saved};
use vaglio_pipeline::resampling::Sample;
use vaglio_pipeline::tune::Tune;
use vaglio_pipeline::{Selector, ValidSelector};
use vaglio_report::record::TunedSettings;
use vaglio_search::{Choose, Greedy, Monitor, Search, Silent};
use vaglio_testkit::data;

/// A learner that makes the first target a function of its settings.
#[saved(Learner, "objective")]
struct Objective {
    function: String,
    x: [f64; 3],
}

impl Learner for Objective {
    fn readout(&self) -> Result<Option<Readout>> {
        Readout::new(vec![1.0], true).map(Some)
    }

    fn design(&self, problem: &Problem, readout: Readout) -> Result<Design> {
        let [a, b, _] = self.x;
        let mut targets = Array2::clone(problem.targets());
        targets[[0, 0]] = match self.function.as_str() {
            "bowl" => (a - 0.7).powi(2) + (b.ln() - 1.0).powi(2),
            "slope" => a - b,
            "steps" => (a - 7.0).abs(),
            "half" => a,
            _ => 1.0,
        };
        Ok(Design::identity(&problem.with_targets(targets)?, readout))
    }

    fn check(&self, _: &Problem) -> Result<()> {
        if self.function == "half" && self.x[0] < 0.6 { Err(Error::Numerical("low".into())) } else { Ok(()) }
    }
}

/// Scores every subset by the first target.
#[saved(Criterion, "first_target")]
struct FirstTarget {}

impl Criterion for FirstTarget {
    fn evaluate(&self, design: &Design, _: &[Feature]) -> Result<Score> {
        Ok(Score::new(design.targets()[[0, 0]]))
    }
}

/// A simplex, and a particle swarm.
const METHODS: [fn(Tune) -> Tune; 2] = [std::convert::identity, Tune::particle_swarm];

/// Tunes some of the settings x, from the middle of their bounds.
fn tuned(method: fn(Tune) -> Tune, function: &str, bounds: &[Bounds], budget: usize) -> Result<TunedSettings> {
    let add = |tune: Tune, (axis, bounds): (usize, &Bounds)| {
        let (path, range) = (format!("learner.x[{axis}]"), bounds.from..=bounds.to);
        match bounds.scale {
            Scale::Linear if bounds.integer => tune.integer(path, bounds.from as i64..=bounds.to as i64),
            Scale::Linear => tune.linear(path, range),
            Scale::Log => tune.log(path, range),
        }
    };
    let tune = method(bounds.iter().enumerate().fold(Tune::new(budget), add));
    let start = |axis: usize| bounds.get(axis).map_or(0.0, |bounds| Bounds { integer: false, ..*bounds }.at(0.5));
    let learner = Objective { function: function.into(), x: [0, 1, 2].map(start) };
    let search = Search::new(Greedy {}).max_features(1).choose(Choose::Last);
    let selector = Selector::params(FirstTarget {}, search, learner).seed(3).check().unwrap();
    let selector = ValidSelector { tune: Some(tune), ..selector };
    let problem = data::regression(12, 2, 1).problem();
    let sample = Sample::from_problem(problem.clone(), false);
    let found = selector.tuned_search(&sample, &problem, None, &mut Monitor::from(&mut Silent))?;
    Ok(found.tuned.unwrap())
}

fn best(tuned: &TunedSettings) -> Vec<f64> {
    tuned.parameters.values().map(|value| value.as_f64().unwrap()).collect()
}

#[test]
fn the_bottom_of_a_bowl_is_found_from_the_settings_of_the_learner() {
    let bounds = [Bounds::linear(0.0, 1.0), Bounds::log(0.1, 10.0)];
    for (method, close) in METHODS.into_iter().zip([1e-4, 1e-2]) {
        let first = tuned(method, "bowl", &bounds, 1).unwrap();
        assert_eq!((first.evaluations, best(&first)), (1, vec![0.5, 1.0]));
        let found = tuned(method, "bowl", &bounds, 150).unwrap();
        assert!(found.score < close && found.evaluations <= 150, "{found:?}");
    }
}

#[test]
fn an_optimum_at_a_bound_is_reached() {
    for method in METHODS {
        let found = tuned(method, "slope", &[Bounds::linear(-2.0, 1.0), Bounds::linear(0.0, 3.0)], 120).unwrap();
        assert_eq!(best(&found), [-2.0, 3.0]);
    }
}

/// Settings are scored once and count once.
#[test]
fn whole_numbers_and_plateaus_end() {
    for method in METHODS {
        let found = tuned(method, "steps", &[Bounds::linear(0.0, 9.0).integer()], 1000).unwrap();
        assert!(found.evaluations <= 10, "{}", found.evaluations);
        assert_eq!(best(&found), [7.0]);
        let flat = tuned(method, "flat", &[Bounds::linear(0.0, 1.0); 3], 40).unwrap();
        assert!((4..=40).contains(&flat.evaluations));
    }
}

#[test]
fn refused_settings_count_and_the_budget_is_kept() {
    for method in METHODS {
        for budget in [1, 2, 5, 9, 30] {
            match tuned(method, "half", &[Bounds::linear(0.0, 1.0)], budget) {
                Ok(found) => {
                    assert!((1..=budget).contains(&found.evaluations) && found.score >= 0.6);
                    assert!(budget < 9 || found.score < 0.8, "{budget}: {found:?}");
                }
                Err(error) => assert!(budget < 9 && error.to_string().contains("low"), "{budget}: {error}"),
            }
        }
    }
}

#[test]
fn ends_are_exact_and_places_come_back() {
    for bounds in [Bounds::linear(-3.0, 0.7), Bounds::log(1e-3, 1e5), Bounds::linear(-1e308, 1e308)] {
        assert_eq!((bounds.at(0.0), bounds.at(1.0)), (bounds.from, bounds.to));
        assert_eq!((bounds.at(-2.0), bounds.at(7.0)), (bounds.from, bounds.to));
        for place in [0.0, 0.1, 0.5, 0.93, 1.0] {
            assert!((bounds.place(Some(bounds.at(place))) - place).abs() < 1e-12, "{bounds:?} {place}");
        }
        assert_eq!(bounds.place(None), 0.5);
        assert_eq!(bounds.place(Some(f64::MAX)), 0.5);
    }
    assert_eq!(Bounds::log(1e-2, 1e2).at(0.5), 1.0);
}

#[test]
fn whole_numbers_are_rounded_and_reachable() {
    let bounds = Bounds::linear(2.0, 6.0).integer();
    let found: Vec<f64> = (0..=8).map(|k| bounds.at(f64::from(k) / 8.0)).collect();
    assert_eq!(found, [2.0, 3.0, 3.0, 4.0, 4.0, 5.0, 5.0, 6.0, 6.0]);
    assert_eq!(bounds.grain(), 0.25);
    assert_eq!(bounds.number(4.0).to_string(), "4");
    let bounds = Bounds::log(1.0, 1000.0).integer();
    assert_eq!(bounds.at(bounds.grain()), 2.0);
}

#[test]
fn bounds_without_room_are_refused() {
    for (bounds, field) in [
        (Bounds::linear(1.0, 1.0), "to"),
        (Bounds::linear(2.0, 1.0), "to"),
        (Bounds::linear(f64::NAN, 1.0), "from"),
        (Bounds::linear(0.0, f64::INFINITY), "to"),
        (Bounds::log(0.0, 1.0), "from"),
        (Bounds::linear(0.5, 3.0).integer(), "from"),
        (Bounds::linear(0.0, 1e300).integer(), "to"),
    ] {
        assert_eq!(bounds.check().unwrap_err().field(), Some(field), "{bounds:?}");
    }
}
