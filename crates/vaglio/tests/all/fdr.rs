//! Columns that are confirmed at a rate: on tables whose true columns are known, few of them are false.

use linfa::ParamGuard;
use ndarray::Array2;
use vaglio::criteria::Loo;
use vaglio::learners::Rls;
use vaglio::search::{Greedy, Lars, Search};
use vaglio::{ChosenBy, Selection, Selector, ValidSelector};
use vaglio_core::{Columns, Problem, Task};
use vaglio_search::{Choose, Silent};
use vaglio_testkit::SplitMix64;

const RATE: f64 = 0.1;

fn selectors() -> [ValidSelector; 2] {
    let choose = Choose::FalseDiscoveries(RATE);
    let greedy = Search::new(Greedy {}).choose(choose.clone());
    let lars = Search::new(Lars::default()).choose(choose);
    [
        Selector::params(Loo::default(), greedy, Rls::new(1.0)).check().unwrap(),
        Selector::params(Loo::default(), lars, Rls::new(1.0)).check().unwrap(),
    ]
}

/// Columns whose neighbors correlate, of which the model has the first of every ten.
fn table(random: &mut SplitMix64, rows: usize, columns: usize, chain: f64, weight: f64) -> Problem {
    let mut noise = |_: usize| random.normal();
    let mut y: Vec<f64> = (0..rows).map(&mut noise).collect();
    let mut before: Vec<f64> = (0..rows).map(&mut noise).collect();
    let mut x = Vec::new();
    for column in 0..columns {
        before.iter_mut().for_each(|v| *v = chain * *v + (1.0 - chain * chain).sqrt() * noise(0));
        if column % 10 == 0 {
            y.iter_mut().zip(&before).for_each(|(y, v)| *y += weight * v);
        }
        x.push(before.clone());
    }
    problem(x, y)
}

fn problem(x: Vec<Vec<f64>>, y: Vec<f64>) -> Problem {
    let rows = y.len();
    let names = (0..x.len()).map(|column| format!("x{column}")).collect();
    let mut columns = Columns::new(rows);
    x.into_iter().for_each(|column| columns.push(column));
    let y = Array2::from_shape_vec((1, rows), y).unwrap();
    Problem::new(columns, names, y, vec!["y".into()], Task::Regression).unwrap()
}

fn taken(selection: &Selection) -> Vec<usize> {
    assert_eq!(selection.chosen.by, ChosenBy::FalseDiscoveries);
    selection.path.subset().to_vec()
}

/// The mean share of false columns and of true ones that are found, over tables.
fn shares(selector: &ValidSelector, tables: usize, chain: f64, weight: f64) -> (f64, f64) {
    let mut random = SplitMix64::new(21);
    let (mut wrong, mut found) = (0.0, 0.0);
    for _ in 0..tables {
        let selection = selector.select(&table(&mut random, 80, 40, chain, weight), &mut Silent).unwrap();
        let taken = taken(&selection);
        let of_model = taken.iter().filter(|column| weight > 0.0 && **column % 10 == 0).count();
        wrong += (taken.len() - of_model) as f64 / taken.len().max(1) as f64;
        found += of_model as f64 / 4.0;
    }
    (wrong / tables as f64, found / tables as f64)
}

/// Each search meets one kind of tables; with `VAGLIO_CASES=all`, each, and noise alone.
#[test]
fn few_of_the_columns_that_are_taken_are_false() {
    crate::on_one_thread(|| {
        let kinds = [(0.8, 0.8, 0.3), (0.0, 0.8, 0.9), (0.0, 0.0, 0.0)];
        let selectors = selectors();
        let cases = selectors.iter().flat_map(|selector| kinds.map(|kind| (selector, kind)));
        // 40 tables each: a mean of 0.1 has a standard error of some 0.03.
        for (selector, (chain, weight, least)) in cases.step_by(crate::stride(4)) {
            let (wrong, found) = shares(selector, 40, chain, weight);
            assert!(wrong < 0.19, "{chain} {weight}: {wrong} of the columns are false");
            assert!(found >= least, "{chain} {weight}: {found} of the model's columns are found");
        }
    });
}

#[test]
fn what_is_taken_follows_from_the_seed_and_not_from_the_threads() {
    let problem = table(&mut SplitMix64::new(2), 70, 30, 0.5, 0.7);
    for selector in selectors() {
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| selector.select(&problem, &mut Silent).unwrap())
        };
        let (one, three) = (on(1), on(3));
        assert_eq!(taken(&one), taken(&three));
        assert_eq!(one.path, three.path);
        assert!(!taken(&one).is_empty());
    }
}

#[test]
fn of_equal_columns_the_first_stands_for_all() {
    let mut random = SplitMix64::new(9);
    let mut x: Vec<Vec<f64>> = (0..20).map(|_| (0..60).map(|_| random.normal()).collect()).collect();
    let y: Vec<f64> = x[3].iter().map(|v| 1.5 * v + random.normal()).collect();
    x[11] = x[3].iter().map(|v| 32.0 - 1.8 * v).collect();
    for selector in selectors() {
        let selection = selector.select(&problem(x.clone(), Vec::clone(&y)), &mut Silent).unwrap();
        assert_eq!(taken(&selection), [3]);
    }
}

#[test]
fn nothing_is_taken_from_noise_and_it_is_told() {
    let problem = table(&mut SplitMix64::new(14), 40, 12, 0.0, 0.0);
    for selector in selectors() {
        let selection = selector.select(&problem, &mut Silent).unwrap();
        assert_eq!((taken(&selection), selection.chosen.size), (Vec::new(), 0));
        let words = "no column is confirmed at a false discovery rate of 0.1, so the empty subset is taken";
        let told = selection.warnings.iter().any(|warning| warning.message == words);
        assert!(told, "{:?}", selection.warnings);
    }
}
