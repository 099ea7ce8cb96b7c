//! Greedy and floating RLS.

mod accuracy;
mod mnist;
mod runtime;

use crate::run::Bench;
use linfa::ParamGuard;
use vaglio::search::Silent;
use vaglio::{Selection, Selector};
use vaglio_core::{Problem, Result};

/// The tables of both papers.
pub fn tables(bench: &Bench<'_>) -> Result<String> {
    let mut text = String::from(
        "# Greedy and floating RLS\n\nT. Pahikkala, A. Airola, T. Salakoski, *Speeding up greedy forward selection for regularized \
         least-squares* (arXiv:1003.3570), and *Feature selection for regularized least-squares: new computational short-cuts and \
         fast algorithmic implementations*, MLSP 2010.\n\n",
    );
    text += &mnist::curves(bench)?;
    text += &accuracy::classification(bench)?;
    text += &runtime::scaling(bench)?;
    Ok(text)
}

fn select(problem: &Problem, selector: Selector) -> Result<Selection> {
    selector.check()?.select(problem, &mut Silent)
}
