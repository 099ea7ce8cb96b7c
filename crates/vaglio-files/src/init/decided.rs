//! Decides how a drafted pipeline uses each column.

use super::look::{ColumnProfile, TableProfile};
use super::order::{FEWEST_TIMES, PanelColumns, RowOrder};
use super::test_rows::TestColumn;
use super::{InitOptions, TaskOption, TestOption};
use vaglio_core::{Error, Result};
use vaglio_tables::read::{BEYOND_DOUBLES, FaultKind, InferredType};

/// Common names of targets.
const TARGETS: [&str; 12] = [
    "target",
    "y",
    "label",
    "class",
    "outcome",
    "response",
    "diagnosis",
    "price",
    "score",
    "output",
    "result",
    "species",
];
/// Words for groups of dependent rows.
const GROUPS: [&str; 10] =
    ["subject", "patient", "participant", "person", "household", "family", "animal", "user", "customer", "id"];
/// Words that name a treatment as often as a group; columns with fewer levels are candidates.
const PERHAPS_GROUPS: [&str; 3] = ["group", "groups", "site"];
const FEWEST_GROUPS: usize = 10;
/// Minimum number of units to hold units out; with fewer, later times are predicted.
const FEWEST_UNITS: usize = 5;
/// Minimum number of rows to split off test rows.
const ROWS_FOR_TEST: usize = 50;
/// Average rows per level above which text with many levels is target-encoded.
const ROWS_OF_LEVEL: usize = 10;
/// A class is rare below this share of an even distribution.
const RARE: f64 = 0.2;
/// Minimum number of rows of every class to stratify folds and balance rare classes.
const FEWEST_OF_CLASS: usize = 10;

/// Maximum number of folds of a criterion.
pub const FOLDS: usize = 5;

/// Dependence of the rows on each other.
pub enum RowDependence {
    /// Independent rows.
    Rows,
    /// Groups: the column and their number.
    Groups(String, usize),
    /// Units over time; predictions are for new units.
    NewUnits(PanelColumns),
    /// Units over time; predictions are for later times.
    NextTimes(PanelColumns),
    /// One time series, ordered by this column.
    Series(String),
    /// Events, possibly several at a time: the column and the number of times.
    Events(String, usize),
    /// One time series in file order, which is that of these columns.
    File(Vec<String>),
}

/// Source of test rows.
pub enum TestSource {
    None,
    Share(f64),
    Column(TestColumn),
    File,
}

/// Decisions on every column.
pub struct Decisions {
    pub targets: Vec<String>,
    pub guessed: bool,
    pub is_classes: bool,
    pub task: Option<TaskOption>,
    pub layout: RowDependence,
    pub test: TestSource,
    /// Maximum number of folds of the criterion.
    pub folds: usize,
    pub test_file: Option<String>,
    /// Rows without a target.
    pub without_target: usize,
    /// Columns that are no features, with the reason.
    pub exclude: Vec<(String, String)>,
    /// Text columns that are target-encoded.
    pub encoded: Vec<String>,
    /// Text columns that are encoded by the position of their levels in this order.
    pub ordinal: Vec<(String, Vec<String>)>,
    pub numbers_missing: bool,
    pub text_missing: bool,
    pub text: bool,
    pub dates: bool,
    /// Whether every class has enough rows for stratified folds.
    pub is_stratified: bool,
    pub is_rare: bool,
    /// Numbers of features with missing cells, and of all features.
    pub incomplete: usize,
    pub features: usize,
    /// Guesses that were dropped since they did not run.
    pub given_up: Vec<String>,
}

fn snake(name: &str) -> String {
    name.to_lowercase().replace([' ', '-', '.'], "_")
}

fn base(name: &str) -> String {
    snake(name).trim_end_matches("_id").trim_end_matches("_no").trim_end_matches("_nr").to_owned()
}

fn is_id(name: &str) -> bool {
    let lower = snake(name);
    matches!(lower.as_str(), "id" | "index" | "idx" | "row" | "uuid" | "guid" | "key" | "name" | "email")
        || lower.ends_with("_id")
}

/// Guesses the target: a column with a common name, else the last suitable one.
fn guessed(table: &TableProfile, options: &InitOptions) -> Result<Vec<String>> {
    let taken: Vec<&str> = table.order.iter().flat_map(RowOrder::columns).collect();
    let usable = |seen: &&ColumnProfile| {
        let survey = &seen.survey;
        let odd = matches!(
            survey.taken,
            InferredType::Empty
                | InferredType::Constant
                | InferredType::Identifier
                | InferredType::Date
                | InferredType::Text
        );
        // Group identifiers are rarely the target.
        let is_unit = GROUPS.contains(&base(&survey.name).as_str()) && !seen.differs;
        let has_role = is_unit
            || taken.contains(&survey.name.as_str())
            || table.test_rows.as_ref().is_some_and(|found| found.column == survey.name)
            || options.groups.as_ref() == Some(&survey.name);
        seen.fault.is_none() && !odd && !has_role && 2 * survey.missing <= table.rows
    };
    let all = || table.columns.iter().filter(usable);
    let named = TARGETS.iter().find_map(|known| all().find(|seen| seen.survey.name.eq_ignore_ascii_case(known)));
    let last = || all().rev().find(|seen| seen.survey.missing == 0).or_else(|| all().next_back());
    let none = || Error::Shape("no column can be a target: each is empty, constant, text or dates".into());
    named.or_else(last).map(|seen| vec![seen.survey.name.clone()]).ok_or_else(none)
}

impl Decisions {
    pub fn new(table: &TableProfile, options: &InitOptions) -> Result<Self> {
        let targets = if options.targets.is_empty() { guessed(table, options)? } else { options.targets.clone() };
        let target = table.column(&targets[0]).filter(|_| targets.len() == 1);
        let is_classes = match options.task {
            Some(task) => task == TaskOption::Classification,
            None => target.is_some_and(|seen| {
                matches!(seen.survey.taken, InferredType::Class | InferredType::Text) || seen.distinct == 2
            }),
        };
        let without_target = targets.iter().filter_map(|name| table.column(name)).map(|seen| seen.survey.missing).max();
        let mut decided = Decisions {
            guessed: options.targets.is_empty(),
            is_classes,
            task: options.task,
            layout: RowDependence::Rows,
            test: TestSource::None,
            folds: FOLDS,
            test_file: None,
            without_target: without_target.unwrap_or(0),
            exclude: Vec::new(),
            encoded: Vec::new(),
            ordinal: Vec::new(),
            numbers_missing: false,
            text_missing: false,
            text: false,
            dates: false,
            is_stratified: false,
            is_rare: false,
            incomplete: 0,
            features: 0,
            given_up: Vec::new(),
            targets,
        };
        decided.lay_out(table, options)?;
        decided.test = match (&options.test, &table.test_rows) {
            (Some(TestOption::File(_)), _) => TestSource::File,
            (Some(TestOption::Fraction(share)), _) if *share > 0.0 => TestSource::Share(*share),
            (Some(TestOption::Fraction(_)), _) => TestSource::None,
            (None, Some(found)) if !decided.targets.contains(&found.column) => TestSource::Column(found.clone()),
            (None, _) if table.rows - decided.without_target >= ROWS_FOR_TEST => TestSource::Share(0.2),
            (None, _) => TestSource::None,
        };
        decided.columns(table, options);
        if let Some(target) = target.filter(|_| is_classes && matches!(decided.layout, RowDependence::Rows)) {
            let even = (table.rows - target.survey.missing) as f64 / target.distinct.max(1) as f64;
            decided.is_stratified = target.rarest >= FEWEST_OF_CLASS;
            decided.is_rare = decided.is_stratified && (target.rarest as f64) < RARE * even;
        }
        Ok(decided)
    }

    /// Decides the dependence of the rows.
    fn lay_out(&mut self, table: &TableProfile, options: &InitOptions) -> Result<()> {
        let order = table.order.clone().filter(|order| !order.columns().iter().any(|name| self.is_target(name)));
        let events = match &order {
            Some(RowOrder::Events(time, times)) => Some(RowDependence::Events(time.clone(), *times)),
            _ => None,
        };
        self.layout = match order {
            Some(RowOrder::Events(time, times)) if options.time.is_some() => RowDependence::Events(time, times),
            Some(RowOrder::Series(time)) => RowDependence::Series(time),
            Some(RowOrder::File(by)) => RowDependence::File(by),
            Some(RowOrder::PanelColumns(panel)) if options.groups.is_some() => RowDependence::NewUnits(panel),
            Some(RowOrder::PanelColumns(panel)) if options.time.is_some() => RowDependence::NextTimes(panel),
            Some(RowOrder::PanelColumns(panel)) if panel.units >= FEWEST_UNITS => RowDependence::NewUnits(panel),
            Some(RowOrder::PanelColumns(panel)) if panel.times >= ROWS_FOR_TEST / FEWEST_UNITS => {
                RowDependence::NextTimes(panel)
            }
            Some(RowOrder::PanelColumns(_) | RowOrder::Events(..)) | None => RowDependence::Rows,
        };
        if let (Some(time), RowDependence::Rows) = (&options.time, &self.layout) {
            let message = format!(
                "the column `{time}` holds fewer than {FEWEST_TIMES} times, or no numbers, dates, months or quarters"
            );
            return Err(Error::setting("--time", message));
        }
        if let (Some(groups), RowDependence::Rows) = (&options.groups, &self.layout) {
            let count = table.column(groups).map_or(0, |seen| seen.distinct);
            self.layout = RowDependence::Groups(groups.clone(), count);
        }
        if let RowDependence::Rows = self.layout {
            let is_group = |seen: &&ColumnProfile| {
                let (base, count) = (base(&seen.survey.name), seen.distinct);
                let is_named = GROUPS.contains(&base.as_str()) && count >= FEWEST_UNITS
                    || PERHAPS_GROUPS.contains(&base.as_str()) && count >= FEWEST_GROUPS;
                let repeats = 2 * count <= table.rows && seen.survey.missing == 0 && seen.fault.is_none();
                is_named && repeats && !self.is_target(&seen.survey.name)
            };
            if let Some(seen) = table.columns.iter().find(is_group) {
                self.layout = RowDependence::Groups(seen.survey.name.clone(), seen.distinct);
            }
        }
        if let (RowDependence::Rows, Some(events)) = (&self.layout, events) {
            self.layout = events;
        }
        Ok(())
    }

    fn is_target(&self, name: &str) -> bool {
        self.targets.iter().any(|target| target == name)
    }

    /// Decides the use of each column; if only the time is left, it becomes a feature.
    fn columns(&mut self, table: &TableProfile, options: &InitOptions) {
        self.exclude.clear();
        self.encoded.clear();
        self.ordinal.clear();
        (self.numbers_missing, self.text_missing, self.text, self.dates) = (false, false, false, false);
        (self.incomplete, self.features) = (0, 0);
        for seen in &table.columns {
            self.take(seen, table, options.exclude.as_deref());
        }
        if self.features > 0 {
            return;
        }
        let is_text = |time: &str| table.column(time).is_some_and(|seen| seen.survey.levels > 0);
        let time = match &self.layout {
            // Text such as months and quarters is no feature.
            RowDependence::Series(time) if is_text(time) => return,
            RowDependence::NextTimes(panel) if is_text(&panel.time) => return,
            RowDependence::Series(time) | RowDependence::Events(time, _) => {
                let time = time.clone();
                self.layout = RowDependence::File(vec![time.clone()]);
                time
            }
            RowDependence::NextTimes(panel) => {
                let panel = panel.clone();
                self.layout = RowDependence::NewUnits(panel.clone());
                panel.time
            }
            _ => return,
        };
        if let Some(seen) = table.column(&time) {
            self.take(seen, table, options.exclude.as_deref());
        }
    }

    /// Whether the column has a role other than feature.
    fn has_role(&self, name: &str) -> bool {
        let of_layout = match &self.layout {
            RowDependence::Groups(column, _) | RowDependence::Series(column) | RowDependence::Events(column, _) => {
                column == name
            }
            RowDependence::NewUnits(panel) => panel.unit == name,
            RowDependence::NextTimes(panel) => panel.unit == name || panel.time == name,
            RowDependence::Rows | RowDependence::File(_) => false,
        };
        of_layout || self.is_target(name) || matches!(&self.test, TestSource::Column(found) if found.column == name)
    }

    /// Whether the column is a time that is also a feature.
    fn is_time(&self, name: &str) -> bool {
        match &self.layout {
            RowDependence::File(by) => by.iter().any(|time| time == name),
            RowDependence::NewUnits(panel) => panel.time == name,
            _ => false,
        }
    }

    fn take(&mut self, seen: &ColumnProfile, table: &TableProfile, asked: Option<&[String]>) {
        let (survey, rows) = (&seen.survey, table.rows);
        let name = &survey.name;
        if self.has_role(name) {
            return;
        }
        let is_time = self.is_time(name);
        let mut exclude = |why: String| self.exclude.push((name.clone(), why));
        if asked.is_some_and(|asked| asked.contains(name)) {
            return exclude(String::new());
        }
        if let Some(fault) = &seen.fault {
            let wrong = match &fault.what {
                FaultKind::NotFinite => "is not a finite number",
                FaultKind::Text { wrong, .. } => wrong.as_str(),
            };
            return exclude(format!("row {}: `{}` {wrong}", fault.row + 1, fault.value));
        }
        let order = table.classes.get(name).and_then(Option::as_ref);
        match survey.taken {
            InferredType::Empty => return,
            _ if survey.note.as_deref() == Some(BEYOND_DOUBLES) && !is_time => {
                return exclude("no double holds its whole numbers, as those of identifiers".into());
            }
            _ if let Some(order) = order => {
                self.ordinal.push((name.clone(), order.clone()));
                self.numbers_missing |= survey.missing > 0;
            }
            InferredType::Identifier if !is_time && (asked.is_none() || survey.levels > 0) => {
                return exclude("it differs in every row".into());
            }
            _ if is_id(name) && seen.differs && rows > 10 && asked.is_none() => {
                return exclude("it differs in every row".into());
            }
            InferredType::Text if ROWS_OF_LEVEL * survey.levels <= rows => {
                self.encoded.push(name.clone());
                self.numbers_missing |= survey.missing > 0;
            }
            InferredType::Text => return exclude(format!("it has {} levels in {rows} rows", survey.levels)),
            InferredType::Date => {
                self.dates = true;
                self.numbers_missing |= survey.missing > 0;
            }
            InferredType::Class | InferredType::Constant if survey.levels > 0 => {
                self.text = true;
                self.text_missing |= survey.missing > 0;
            }
            InferredType::Number | InferredType::Class | InferredType::Constant | InferredType::Identifier => {
                self.numbers_missing |= survey.missing > 0
            }
        }
        self.incomplete += usize::from(survey.missing > 0);
        self.features += usize::from(survey.taken != InferredType::Constant);
    }

    /// Drops the test rows unless the user asked for them; returns whether that is a change.
    pub fn without_test(&mut self, table: &TableProfile, options: &InitOptions, fault: &str) -> bool {
        let is_change = options.test.is_none() && !matches!(self.test, TestSource::None);
        if is_change {
            self.test = TestSource::None;
            self.given_up.push(format!("no test rows: {fault}"));
            self.columns(table, options);
        }
        is_change
    }

    /// Treats rows as independent unless the user asked for an order; returns whether that is a change.
    pub fn without_order(&mut self, table: &TableProfile, options: &InitOptions, fault: &str) -> bool {
        let is_asked = options.time.is_some() || options.groups.is_some();
        let is_change = !is_asked && !matches!(self.layout, RowDependence::Rows);
        if is_change {
            self.layout = RowDependence::Rows;
            self.given_up.push(format!("rows are taken one by one: {fault}"));
            self.columns(table, options);
        }
        is_change
    }
}
