//! Decides how a drafted pipeline uses each column.

use super::facts::{ColumnFacts, TableFacts};
use super::options::{InitOptions, TestOption};
use super::order::{FEWEST_TIMES, RowLayout, is_among};
use vaglio_core::{Error, Result};
use vaglio_tables::InferredType;
use vaglio_tables::read::BEYOND_DOUBLES;

/// Common names of targets.
const TARGETS: &str = "target y label class outcome response diagnosis price score output result species";
/// Words for groups of dependent rows.
const GROUPS: &str = "subject patient participant person household family animal user customer id";
/// Words that name a treatment as often as a group; columns with fewer levels are candidates.
const PERHAPS_GROUPS: &str = "group groups site";
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

/// Decisions on a table.
pub struct Decisions<'t> {
    pub table: &'t TableFacts,
    pub options: &'t InitOptions,
    pub targets: Vec<String>,
    pub is_classes: bool,
    pub layout: RowLayout,
    pub test: Option<TestOption>,
    /// Maximum number of folds of the criterion.
    pub folds: usize,
    /// Rows without a target.
    pub without_target: usize,
    /// Whether every class has enough rows for stratified folds.
    pub is_stratified: bool,
    pub is_rare: bool,
    pub features: Features,
    /// Guesses that were dropped since they did not run.
    pub given_up: Vec<String>,
}

/// Use of the columns without another role.
#[derive(Default)]
pub struct Features {
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
    /// Numbers of features with missing cells, and of all features that vary.
    pub incomplete: usize,
    pub count: usize,
}

fn snake(name: &str) -> String {
    name.to_lowercase().replace([' ', '-', '.'], "_")
}

fn base(name: &str) -> String {
    snake(name).trim_end_matches("_id").trim_end_matches("_no").trim_end_matches("_nr").to_owned()
}

fn is_id(name: &str) -> bool {
    let lower = snake(name);
    is_among(&lower, "id index idx row uuid guid key name email") || lower.ends_with("_id")
}

/// Guesses the target: a column with a common name, else the last suitable one.
fn guess_targets(table: &TableFacts, options: &InitOptions) -> Result<Vec<String>> {
    let order_columns = table.layout.as_ref().map_or_else(Vec::new, RowLayout::columns);
    let usable = |seen: &&ColumnFacts| {
        let profile = &seen.profile;
        // Group identifiers are rarely the target.
        let is_unit = is_among(&base(&profile.name), GROUPS) && !table.differs(seen);
        let has_role = is_unit
            || order_columns.contains(&profile.name.as_str())
            || table.test_rows.as_ref().and_then(TestOption::column) == Some(profile.name.as_str())
            || options.groups.as_ref() == Some(&profile.name);
        let is_value = matches!(profile.taken, InferredType::Number | InferredType::Class);
        seen.fault.is_none() && is_value && !has_role && 2 * profile.missing <= table.rows
    };
    let all = || table.columns.iter().filter(usable);
    let named = TARGETS.split(' ').find_map(|known| all().find(|seen| seen.profile.name.eq_ignore_ascii_case(known)));
    let last = || all().rev().find(|seen| seen.profile.missing == 0).or_else(|| all().next_back());
    let none = || Error::Shape("no column can be a target: each is empty, constant, text or dates".into());
    named.or_else(last).map(|seen| vec![seen.profile.name.clone()]).ok_or_else(none)
}

impl<'t> Decisions<'t> {
    /// Decides on a table.
    pub fn new(table: &'t TableFacts, options: &'t InitOptions) -> Result<Self> {
        let targets = if options.targets.is_empty() { guess_targets(table, options)? } else { options.targets.clone() };
        let target_columns = targets.iter().filter_map(|name| table.column(name));
        let without_target = target_columns.map(|seen| seen.profile.missing).max().unwrap_or(0);
        let mut decided = Decisions {
            table,
            options,
            targets,
            is_classes: options.classes == Some(true),
            layout: RowLayout::Rows,
            test: None,
            folds: FOLDS,
            without_target,
            is_stratified: false,
            is_rare: false,
            features: Features::default(),
            given_up: Vec::new(),
        };
        let target = decided.target();
        if let (None, Some(seen)) = (options.classes, target) {
            decided.is_classes =
                matches!(seen.profile.taken, InferredType::Class | InferredType::Text) || seen.distinct == 2;
        }
        decided.layout = decided.row_layout()?;
        let marked = table.test_rows.clone().filter(|found| found.column().is_none_or(|name| !decided.is_target(name)));
        let share = (table.rows - without_target >= ROWS_FOR_TEST).then_some(TestOption::Fraction(0.2));
        let test = options.test.clone().or(marked).or(share);
        decided.test = test.filter(|test| *test != TestOption::Fraction(0.0));
        decided.use_columns();
        if let Some(target) = target.filter(|_| decided.is_classes && decided.layout == RowLayout::Rows) {
            let even = (table.rows - target.profile.missing) as f64 / target.distinct.max(1) as f64;
            decided.is_stratified = target.rarest >= FEWEST_OF_CLASS;
            decided.is_rare = decided.is_stratified && (target.rarest as f64) < RARE * even;
        }
        Ok(decided)
    }

    /// The only target.
    pub fn target(&self) -> Option<&'t ColumnFacts> {
        self.table.column(&self.targets[0]).filter(|_| self.targets.len() == 1)
    }

    /// Decides the dependence of the rows.
    fn row_layout(&self) -> Result<RowLayout> {
        let table = self.table;
        let options = self.options;
        let found = table.layout.as_ref().filter(|found| !found.columns().iter().any(|name| self.is_target(name)));
        match found {
            Some(RowLayout::Events(..)) if options.time.is_none() => {}
            Some(RowLayout::NewUnits(panel)) => {
                let is_long = panel.units < FEWEST_UNITS && panel.times >= ROWS_FOR_TEST / FEWEST_UNITS;
                if options.groups.is_none() && (options.time.is_some() || is_long) {
                    return Ok(RowLayout::NextTimes(panel.clone()));
                }
                if options.groups.is_some() || panel.units >= FEWEST_UNITS {
                    return Ok(RowLayout::NewUnits(panel.clone()));
                }
            }
            Some(found) => return Ok(found.clone()),
            None => {}
        }
        if let Some(time) = &options.time {
            let message = format!(
                "the column `{time}` holds fewer than {FEWEST_TIMES} times, or no numbers, dates, months or quarters"
            );
            return Err(Error::setting("--time", message));
        }
        if let Some(groups) = &options.groups {
            let count = table.column(groups).map_or(0, |seen| seen.distinct);
            return Ok(RowLayout::Groups(groups.clone(), count));
        }
        let is_group = |seen: &&ColumnFacts| {
            let base = base(&seen.profile.name);
            let count = seen.distinct;
            let is_named = is_among(&base, GROUPS) && count >= FEWEST_UNITS
                || is_among(&base, PERHAPS_GROUPS) && count >= FEWEST_GROUPS;
            let repeats = 2 * count <= table.rows && seen.profile.missing == 0 && seen.fault.is_none();
            is_named && repeats && !self.is_target(&seen.profile.name)
        };
        let groups = table.columns.iter().find(is_group);
        let groups = groups.map(|seen| RowLayout::Groups(seen.profile.name.clone(), seen.distinct));
        let events = found.filter(|found| matches!(found, RowLayout::Events(..))).cloned();
        Ok(groups.or(events).unwrap_or(RowLayout::Rows))
    }

    fn is_target(&self, name: &str) -> bool {
        self.targets.iter().any(|target| target == name)
    }

    /// Decides the use of each column; if only the time is left, it becomes a feature.
    fn use_columns(&mut self) {
        self.features = Features::default();
        let table = self.table;
        table.columns.iter().for_each(|seen| self.take(seen));
        if self.features.count > 0 {
            return;
        }
        // Text such as months and quarters is no feature.
        let is_text = |time: &str| table.column(time).is_some_and(|seen| seen.profile.levels > 0);
        let (time, layout) = match &self.layout {
            RowLayout::Events(time, _) => (time.clone(), RowLayout::File(vec![time.clone()])),
            RowLayout::Time(time) if !is_text(time) => (time.clone(), RowLayout::File(vec![time.clone()])),
            RowLayout::NextTimes(panel) if !is_text(&panel.time) => {
                (panel.time.clone(), RowLayout::NewUnits(panel.clone()))
            }
            _ => return,
        };
        self.layout = layout;
        table.column(&time).into_iter().for_each(|seen| self.take(seen));
    }

    /// Decides the use of a column, unless it has a role.
    fn take(&mut self, seen: &ColumnFacts) {
        let profile = &seen.profile;
        let rows = self.table.rows;
        let asked = self.options.exclude.as_ref();
        let name = &profile.name;
        let is_time = match &self.layout {
            RowLayout::File(_) => self.layout.columns().contains(&name.as_str()),
            RowLayout::NewUnits(panel) => panel.time == *name,
            _ => false,
        };
        let is_of_layout = !is_time && self.layout.columns().contains(&name.as_str());
        let says_test = self.test.as_ref().and_then(TestOption::column) == Some(name.as_str());
        if is_of_layout || self.is_target(name) || says_test {
            return;
        }
        let differs = asked.is_none() && self.table.differs(seen);
        let features = &mut self.features;
        let mut exclude = |why: String| features.exclude.push((name.clone(), why));
        if asked.is_some_and(|asked| asked.contains(name)) {
            return exclude(String::new());
        }
        if let Some(why) = &seen.fault {
            return exclude(why.clone());
        }
        let order = self.table.classes.get(name).and_then(Option::as_ref);
        let mut missing = &mut features.numbers_missing;
        match profile.taken {
            InferredType::Empty => return,
            _ if profile.note.as_deref() == Some(BEYOND_DOUBLES) && !is_time => {
                return exclude("no double holds its whole numbers, as those of identifiers".into());
            }
            _ if let Some(order) = order => features.ordinal.push((name.clone(), order.clone())),
            InferredType::Identifier if !is_time && (asked.is_none() || profile.levels > 0) => {
                return exclude("it differs in every row".into());
            }
            _ if is_id(name) && differs && rows > 10 => return exclude("it differs in every row".into()),
            InferredType::Text if ROWS_OF_LEVEL * profile.levels <= rows => features.encoded.push(name.clone()),
            InferredType::Text => return exclude(format!("it has {} levels in {rows} rows", profile.levels)),
            InferredType::Date => features.dates = true,
            InferredType::Class | InferredType::Constant if profile.levels > 0 => {
                features.text = true;
                missing = &mut features.text_missing;
            }
            InferredType::Number | InferredType::Class | InferredType::Constant | InferredType::Identifier => {}
        }
        *missing |= profile.missing > 0;
        features.incomplete += usize::from(profile.missing > 0);
        features.count += usize::from(profile.taken != InferredType::Constant);
    }

    /// Drops the test rows unless the user asked for them; returns whether that is a change.
    pub fn without_test(&mut self, fault: &str) -> bool {
        let is_change = self.options.test.is_none() && self.test.take().is_some();
        if is_change {
            self.given_up.push(format!("no test rows: {fault}"));
            self.use_columns();
        }
        is_change
    }

    /// Treats rows as independent unless the user asked for an order; returns whether that is a change.
    pub fn without_order(&mut self, fault: &str) -> bool {
        let is_asked = self.options.time.is_some() || self.options.groups.is_some();
        let is_change = !is_asked && self.layout != RowLayout::Rows;
        if is_change {
            self.layout = RowLayout::Rows;
            self.given_up.push(format!("rows are taken one by one: {fault}"));
            self.use_columns();
        }
        is_change
    }
}
