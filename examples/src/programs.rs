//! The example programs; the first argument names one of them.
//!
//! `cargo run -p vaglio-examples quickstart`

#[path = "../linfa_classes.rs"]
mod linfa_classes;
#[path = "../linfa_interop.rs"]
mod linfa_interop;
#[path = "../linfa_pipeline.rs"]
mod linfa_pipeline;
#[path = "../linfa_problem.rs"]
mod linfa_problem;
#[path = "../linfa_progress.rs"]
mod linfa_progress;
#[path = "../linfa_words.rs"]
mod linfa_words;
#[path = "../own_annealing.rs"]
mod own_annealing;
#[path = "../own_criterion.rs"]
mod own_criterion;
#[path = "../own_evaluator.rs"]
mod own_evaluator;
#[path = "../own_held_out.rs"]
mod own_held_out;
#[path = "../own_learner.rs"]
mod own_learner;
#[path = "../own_search.rs"]
mod own_search;
#[path = "../quickstart.rs"]
mod quickstart;

use std::error::Error;

type Program = fn() -> Result<(), Box<dyn Error>>;

const PROGRAMS: [(&str, Program); 13] = [
    ("linfa_classes", linfa_classes::main),
    ("linfa_interop", linfa_interop::main),
    ("linfa_pipeline", linfa_pipeline::main),
    ("linfa_problem", linfa_problem::main),
    ("linfa_progress", linfa_progress::main),
    ("linfa_words", linfa_words::main),
    ("own_annealing", own_annealing::main),
    ("own_criterion", own_criterion::main),
    ("own_evaluator", own_evaluator::main),
    ("own_held_out", own_held_out::main),
    ("own_learner", own_learner::main),
    ("own_search", own_search::main),
    ("quickstart", quickstart::main),
];

fn main() -> Result<(), Box<dyn Error>> {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let Some((_, program)) = PROGRAMS.iter().find(|(name, _)| *name == wanted) else {
        let names: Vec<&str> = PROGRAMS.iter().map(|(name, _)| *name).collect();
        return Err(format!("`{wanted}` is not an example; name one of {}", names.join(", ")).into());
    };
    program()
}
