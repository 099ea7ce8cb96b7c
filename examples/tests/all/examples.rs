//! Every example program runs and its assertions hold.

#[path = "../../linfa_classes.rs"]
mod linfa_classes;
#[path = "../../linfa_interop.rs"]
mod linfa_interop;
#[path = "../../linfa_pipeline.rs"]
mod linfa_pipeline;
#[path = "../../linfa_problem.rs"]
mod linfa_problem;
#[path = "../../linfa_progress.rs"]
mod linfa_progress;
#[path = "../../linfa_words.rs"]
mod linfa_words;
#[path = "../../own_annealing.rs"]
mod own_annealing;
#[path = "../../own_criterion.rs"]
mod own_criterion;
#[path = "../../own_evaluator.rs"]
mod own_evaluator;
#[path = "../../own_held_out.rs"]
mod own_held_out;
#[path = "../../own_learner.rs"]
mod own_learner;
#[path = "../../own_search.rs"]
mod own_search;
#[path = "../../quickstart.rs"]
mod quickstart;
/// Crate that `vaglio new-plugin --kind learner --refit` writes.
#[path = "../../../crates/vaglio-cli/template/learner_refit.rs"]
mod refitted;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[test]
fn quickstart_runs() -> Outcome {
    quickstart::main()
}

#[test]
fn linfa_classes_runs() -> Outcome {
    linfa_classes::main()
}

#[test]
fn own_evaluator_runs() -> Outcome {
    own_evaluator::main()
}

#[test]
fn own_held_out_runs() -> Outcome {
    own_held_out::main()
}

#[test]
fn linfa_interop_runs() -> Outcome {
    linfa_interop::main()
}

#[test]
fn linfa_pipeline_runs() -> Outcome {
    linfa_pipeline::main()
}

#[test]
fn linfa_problem_runs() -> Outcome {
    linfa_problem::main()
}

#[test]
fn linfa_words_runs() -> Outcome {
    linfa_words::main()
}

#[test]
fn linfa_progress_runs() -> Outcome {
    linfa_progress::main()
}

#[test]
fn own_annealing_runs() -> Outcome {
    own_annealing::main()
}

#[test]
fn the_refitted_learner_keeps_the_laws() -> Result<(), vaglio_testkit::LawViolation> {
    vaglio_testkit::check_learner_on_standard_data(&refitted::Template::default(), 1e-9)
}

#[test]
fn own_criterion_runs() -> Outcome {
    own_criterion::main()
}

#[test]
fn own_learner_runs() -> Outcome {
    own_learner::main()
}

#[test]
fn own_search_runs() -> Outcome {
    own_search::main()
}
