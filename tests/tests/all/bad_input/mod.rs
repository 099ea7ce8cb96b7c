//! Bad input over every criterion, search and learner: each row is refused by an error that names the place, or answered
//! as the definition, or the same problem without what is bad, answers it. Never a panic, a NaN, or silence.
//!
//! Every two parts meet; with `VAGLIO_CASES=all`, every three.
//!
//! Budgets and kills have tests of their own: `limits.rs`, `journal.rs`, `kills.rs`.

mod columns;
mod edges;
mod folds;
mod orders;
mod regressions;
mod settings;
mod values;
mod weights;

use crate::cells::{Cell, criteria, searches};
use crate::common::Folder;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use vaglio::core::{Error, ErrorClass, Measure};
use vaglio::search::Path;
use vaglio_testkit::{on_one_thread, tries_all_cases};

/// A learner of the product.
#[derive(Debug)]
struct Learner {
    kind: &'static str,
    settings: &'static str,
    lambda: &'static str,
    /// Settings of the data that it is trained on.
    data: &'static str,
}

const NUMBERS: &str = "target: y, groups: id, exclude: [t, class]";
const CLASSES: &str = "target: class, task: binary, groups: id, exclude: [t, y]";
const SERIES: &str = "target: class, task: binary, series: id, time: t, exclude: [y]";

const LEARNERS: [Learner; 6] = [
    Learner { kind: "rls", settings: "", lambda: "0.5", data: NUMBERS },
    Learner { kind: "crrr", settings: "", lambda: "0.05", data: CLASSES },
    Learner { kind: "fs_ls_svm", settings: "landmarks: 4", lambda: "0.5", data: CLASSES },
    Learner { kind: "elm", settings: "units: 4, direct: false", lambda: "0.5", data: NUMBERS },
    Learner { kind: "reservoir", settings: "units: 4, connectivity: 0.6", lambda: "0.5", data: SERIES },
    Learner { kind: "knn", settings: "neighbours: 3", lambda: "", data: NUMBERS },
];

/// A place in the product.
#[derive(Debug, Clone, Copy)]
struct Parts {
    learner: &'static Learner,
    criterion: &'static str,
    search: &'static str,
}

impl Parts {
    /// Whether features are the columns of the table.
    fn is_of_columns(&self) -> bool {
        ["rls", "crrr", "knn"].contains(&self.learner.kind)
    }

    /// Whether any of these words is the kind of a part.
    fn has(&self, words: &[&str]) -> bool {
        let criterion = kind(self.criterion);
        words.iter().any(|word| [self.learner.kind, criterion, self.search].contains(word))
    }
}

/// The identifier of a criterion.
fn kind(criterion: &str) -> &str {
    let criterion = criterion.strip_prefix("{kind: ").unwrap_or(criterion);
    criterion.split([',', '}']).next().unwrap()
}

/// A table as text, cell by cell.
#[derive(Debug, Clone)]
struct Sheet {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Sheet {
    /// Four series of three steps with three columns, a number and two classes to be predicted.
    fn base() -> Self {
        let mut random = vaglio_testkit::SplitMix64::new(13);
        let mut noise = || random.uniform() - 0.5;
        let names = ["id", "t", "a", "b", "c", "y", "class"].map(str::to_owned).to_vec();
        let row = |row: usize| {
            let (id, t) = (row / 3, row % 3);
            let class = if id % 2 == 0 { 0.5 } else { -0.5 };
            let x = [0.9 * class + noise(), noise(), 0.4 * class + noise()];
            let y = x[0] - 0.7 * x[2] + 0.2 * noise();
            let mut cells = vec![format!("s{id}"), t.to_string()];
            cells.extend(x.iter().chain([&y]).map(f64::to_string));
            cells.push(if class > 0.0 { "yes".into() } else { "no".into() });
            cells
        };
        Sheet { names, rows: (0..12).map(row).collect() }
    }

    fn place(&self, name: &str) -> usize {
        self.names.iter().position(|own| own == name).unwrap()
    }

    /// A number of a row.
    fn number(&self, row: usize, name: &str) -> f64 {
        self.rows[row][self.place(name)].parse().unwrap()
    }

    /// With a column more, or another in its place, from the number of each row.
    fn with(mut self, name: &str, of: impl Fn(&Sheet, usize) -> String) -> Self {
        let cells: Vec<String> = (0..self.rows.len()).map(|row| of(&self, row)).collect();
        let place = self.names.iter().position(|own| own == name);
        if place.is_none() {
            self.names.push(name.to_owned());
        }
        for (row, cell) in self.rows.iter_mut().zip(cells) {
            match place {
                Some(place) => row[place] = cell,
                None => row.push(cell),
            }
        }
        self
    }

    /// With the numbers of columns times a factor.
    fn times(self, names: &[&str], factor: f64) -> Self {
        names
            .iter()
            .fold(self, |sheet, name| sheet.with(name, |old, row| format!("{:e}", old.number(row, name) * factor)))
    }

    /// With another cell, of a row that counts from 1.
    fn cell(mut self, row: usize, name: &str, value: &str) -> Self {
        let place = self.place(name);
        self.rows[row - 1][place] = value.to_owned();
        self
    }

    /// A copy with these rows only, in this order.
    fn select_rows(self, rows: &[usize]) -> Self {
        let picked = rows.iter().map(|&row| self.rows[row].clone()).collect();
        Sheet { rows: picked, ..self }
    }

    fn text(&self) -> String {
        let lines = self.rows.iter().map(|row| row.join(",") + "\n");
        std::iter::once(self.names.join(",") + "\n").chain(lines).collect()
    }
}

/// One problem of a place.
struct Problem<'a> {
    sheet: &'a Sheet,
    /// More settings of the data.
    data: &'a str,
    /// In place of the settings of the place, if not empty.
    criterion: &'a str,
    lambda: &'a str,
    preprocess: &'a str,
    /// More settings of the search.
    search: &'a str,
}

impl<'a> Problem<'a> {
    fn new(sheet: &'a Sheet) -> Self {
        Problem { sheet, data: "", criterion: "", lambda: "", preprocess: "[standardize]", search: "choose: best" }
    }

    fn text(&self, parts: &Parts) -> String {
        let Parts { learner, criterion, search } = parts;
        let own = |given: &'a str, other: &'static str| if given.is_empty() { other } else { given };
        let (lambda, criterion) = (own(self.lambda, learner.lambda), own(self.criterion, criterion));
        let lambda = if learner.lambda.is_empty() { String::new() } else { format!(", lambda: {lambda}") };
        let settings = if learner.settings.is_empty() { String::new() } else { format!(", {}", learner.settings) };
        format!(
            "version: 1\nseed: 5\ndata: {{train: train.csv, {}{}}}\npreprocess: {}\n\
             learner: {{kind: {}{settings}{lambda}}}\ncriterion: {criterion}\nsearch: {{kind: {search}, {}}}\n",
            learner.data, self.data, self.preprocess, learner.kind, self.search
        )
    }

    fn result(&self, parts: &Parts) -> Result<Cell, Error> {
        thread_local! {
            static FOLDER: (Folder, RefCell<String>) = (Folder::new("bad-input"), RefCell::default());
        }
        FOLDER.with(|(folder, last)| {
            let text = self.sheet.text();
            if *last.borrow() != text {
                folder.write("train.csv", &text);
                last.replace(text);
            }
            Cell::run(folder, &self.text(parts))
        })
    }
}

/// Tries something at every place of the product, or where every two parts meet once, and says all that went wrong.
fn everywhere(check: impl Fn(&Parts) -> Result<(), String> + Sync) {
    let whole = tries_all_cases();
    let mut places = Vec::new();
    for (i, criterion) in criteria().into_iter().enumerate() {
        for (j, search) in searches().into_iter().enumerate() {
            let learners = LEARNERS.iter().enumerate().filter(|(k, _)| whole || (i + j) % LEARNERS.len() == *k);
            places.extend(learners.map(|(_, learner)| Parts { learner, criterion, search }));
        }
    }
    let tried = |parts: &Parts| {
        let why = match catch_unwind(AssertUnwindSafe(|| check(parts))) {
            Ok(result) => result.err()?,
            Err(_) => "a panic".to_owned(),
        };
        Some(format!("{} x {} x {}: {why}", parts.learner.kind, parts.criterion, parts.search))
    };
    let wrong: Vec<String> = on_one_thread(|| places.iter().filter_map(tried).collect());
    let shown: Vec<&str> = wrong.iter().take(40).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), places.len(), shown.join("\n"));
}

/// It is refused in words that hold these.
fn refused(result: Result<Cell, Error>, class: ErrorClass, words: &[&str]) -> Result<(), String> {
    match result {
        Ok(cell) => Err(format!("is answered by {:?}", cell.path.entries.iter().map(|e| e.score).collect::<Vec<_>>())),
        Err(error) if error.class() != class => Err(format!("{:?}: {error}", error.class())),
        Err(error) => {
            let message = error.to_string();
            match words.iter().find(|word| !message.contains(**word)) {
                Some(word) => Err(format!("lacks {word}: {message}")),
                None => Ok(()),
            }
        }
    }
}

/// Whether a score is what it is to be, to 1e-6 of it or what rounding leaves of the numbers that it is of.
fn is_near(found: f64, expected: f64, left: f64) -> bool {
    found == expected || (found - expected).abs() <= (1e-6 * expected.abs()).max(left)
}

/// Largest rounding error of a score of 0.
fn left(cell: &Cell) -> f64 {
    let largest = cell.design.targets().iter().fold(0.0, |most: f64, y| most.max(y.abs()));
    match cell.selector.criterion.traits().loss.map(|loss| loss.traits().measure) {
        Some(Measure::Squared) => 1e-16 * largest * largest,
        Some(Measure::Absolute) => 1e-12 * largest,
        _ => 1e-12,
    }
}

/// It is answered as the definition answers it, by finite numbers.
fn answered(result: Result<Cell, Error>) -> Result<Cell, String> {
    let cell = result.map_err(|error| format!("{:?}: {error}", error.class()))?;
    let criterion = &cell.selector.criterion;
    let evaluate = |subset: &[usize]| criterion.evaluate(&cell.design, subset).map_err(|error| error.to_string());
    let (empty, mut subset) = (cell.path.empty.loss, cell.path.start());
    let steps = cell.path.steps.iter().map(|step| {
        step.follow(&mut subset);
        (subset.clone(), step.score.loss)
    });
    let entries = cell.path.entries.iter().map(|entry| (entry.subset.clone(), entry.score.loss));
    let mut defined: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
    for (mut subset, loss) in steps.chain(entries).chain([(Vec::new(), empty)]).collect::<Vec<_>>() {
        if !loss.is_finite() || criterion.traits().loss.is_some() && loss < 0.0 {
            return Err(format!("{subset:?} scores {loss}"));
        }
        subset.sort_unstable();
        let defined = match defined.get(&subset) {
            Some(known) => *known,
            None => *defined.entry(subset.clone()).or_insert(evaluate(&subset)?.loss),
        };
        if !is_near(loss, defined, left(&cell)) {
            return Err(format!("{subset:?} scores {loss:e}, by definition {defined:e}, the empty one {empty:e}"));
        }
    }
    match cell.predictions(&cell.model).iter().all(|prediction| prediction.is_finite()) {
        true => Ok(cell),
        false => Err("the model predicts what is not finite".into()),
    }
}

/// The names and score of each subset on a path.
fn told(cell: &Cell) -> Vec<(Vec<&str>, f64)> {
    let name = |feature: &usize| cell.design.problem().names()[*feature].as_str();
    let told = |subset: &[usize]| {
        let mut names: Vec<&str> = subset.iter().map(name).collect();
        names.sort_unstable();
        names
    };
    cell.path.entries.iter().map(|entry| (told(&entry.subset), entry.score.loss)).collect()
}

/// It has the subsets and, to rounding, the scores of another.
fn same(cell: &Cell, other: &Cell) -> Result<(), String> {
    let (own, others) = (told(cell), told(other));
    let left = left(other);
    let is_same = |one: &(Vec<&str>, f64), other: &(Vec<&str>, f64)| one.0 == other.0 && is_near(one.1, other.1, left);
    match own.len() == others.len() && own.iter().zip(&others).all(|(one, other)| is_same(one, other)) {
        true => Ok(()),
        false => Err(format!("{own:?}\n  and without {others:?}")),
    }
}

/// Checks that two runs have equal scores, whatever their subsets.
fn same_scores(cell: &Cell, other: &Cell) -> Result<(), String> {
    let scores = |cell| told(cell).into_iter().map(|(_, score)| score).collect::<Vec<f64>>();
    let (own, others, left) = (scores(cell), scores(other), left(other));
    match own.len() == others.len() && own.iter().zip(&others).all(|(a, b)| is_near(*a, *b, left)) {
        true => Ok(()),
        false => Err(format!("{own:?}\n  and without {others:?}")),
    }
}

/// The bits of a path.
fn bits(path: &Path) -> Vec<(Vec<usize>, u64)> {
    path.entries.iter().map(|entry| (entry.subset.clone(), entry.score.loss.to_bits())).collect()
}

/// A number as YAML has it.
fn yaml(number: f64) -> String {
    let text = format!("{number:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap();
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}
