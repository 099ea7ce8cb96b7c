//! Tests intervals against plain loops.

use super::*;
use linfa::ParamGuard;
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::selector::Selector;
use vaglio_search::{Choose, CrossValidation, Greedy, Search, Silent};
use vaglio_testkit::data;
use vaglio_validate::Loo;

#[test]
fn the_interval_holds_the_loss_and_no_columns_are_beside() {
    let problem = data::regression(40, 6, 9).problem();
    let choose = CrossValidation::new(4).require_gain(None::<f64>);
    let search = Search::new(Greedy {}).choose(Choose::CrossValidated(choose));
    let selector = Selector::params(Loo::default(), search, Rls::default()).seed(4).check().unwrap();
    let chosen = selector.select(&problem, &mut Silent).unwrap().chosen;
    let row_loss = selector.loss(problem.task());
    let (interval, differences) = (chosen.interval(&*row_loss, LEVEL), differences(&*row_loss, &chosen, LEVEL));
    let [low, high] = interval.unwrap();
    let loss = chosen.cell.unwrap().loss;
    assert!(low < loss && loss < high, "{low} {loss} {high}");
    assert!(
        differences.iter().any(|difference| difference.against == ComparisonColumns::Empty && difference.size == 0)
    );
}
