//! Expressions over columns that describe fitted parts, so that other languages can compute them.

use crate::setting;
use chrono::{DateTime, Datelike, Timelike};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashSet;

/// A value computed from the cells of one row.
///
/// A missing cell makes every value that uses it missing, except in [`Expression::Filled`], [`Expression::Level`] and
/// [`Condition::Missing`]. A function outside of its domain is missing too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expression {
    /// The cell of a column.
    Column(String),
    /// A number; NaN is a missing one.
    Number(f64),
    /// A text; only in [`Expression::Filled`].
    Text(String),
    /// The sum of several values; 0 of none.
    Sum(Vec<Expression>),
    /// The product of several values; 1 of none.
    Product(Vec<Expression>),
    /// The first divided by the second.
    Quotient(Box<[Expression; 2]>),
    /// A function of a value.
    Apply(Function, Box<Expression>),
    /// The first if the condition holds, else the second. Also the second if a compared value is missing.
    If(Condition, Box<[Expression; 2]>),
    /// The first, or the second if the first is missing.
    Filled(Box<[Expression; 2]>),
    /// A number for each level of a value.
    Level(Box<LevelValues>),
    /// A number derived from a date.
    DatePart(DatePart, Box<Expression>),
    /// Linear interpolation between points (x, y) with increasing x; constant beyond the first and the last point.
    Between(Vec<[f64; 2]>, Box<Expression>),
}

/// Reads a number, or NaN for null.
fn read_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// A number for each level of a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LevelValues {
    /// The value: a text, or a number whose text is compared with the levels.
    pub of: Expression,
    /// Levels with their numbers, no level twice.
    pub levels: Vec<(String, f64)>,
    /// The number for a missing value; NaN if that stays missing.
    #[serde(deserialize_with = "read_number")]
    pub missing: f64,
    /// The number for all other levels; NaN if they are missing.
    #[serde(deserialize_with = "read_number")]
    pub other: f64,
}

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// The natural logarithm.
    Ln,
    /// ln(1 + x).
    Ln1p,
    /// e to the power x.
    Exp,
    /// eˣ − 1.
    ExpM1,
    /// The sine.
    Sin,
    /// The cosine.
    Cos,
    /// The hyperbolic tangent.
    Tanh,
    /// The largest integer not above x.
    Floor,
}

/// A condition on a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// A value is missing.
    Missing(Box<Expression>),
    /// The first is below the second.
    Below(Box<[Expression; 2]>),
}

/// A number of a date.
#[setting]
#[derive(Copy, PartialEq, Eq, Hash)]
pub enum DatePart {
    /// Seconds since the beginning of 1970.
    Seconds,
    /// Days since the beginning of 1970, the time of day as a fraction.
    Days,
    /// The year.
    Year,
    /// The month, from 1 to 12.
    Month,
    /// The day of the month, from 1 to 31.
    Day,
    /// The day of the week: 1 is Monday, 7 is Sunday.
    Weekday,
    /// The day of the year, from 1 to 366.
    DayOfYear,
    /// The hour, from 0 to 23.
    Hour,
    /// The minute, from 0 to 59.
    Minute,
}

impl DatePart {
    /// The part of a moment in seconds since the beginning of 1970; NaN for a missing one and outside of the calendar.
    fn value(self, seconds: f64) -> f64 {
        let whole = seconds.floor();
        // A cast of a larger number would saturate.
        let moment = (whole.abs() < 1e15).then(|| DateTime::from_timestamp(whole as i64, 0)).flatten();
        let Some(date) = moment.map(|moment| moment.naive_utc()) else { return f64::NAN };
        match self {
            DatePart::Seconds => seconds,
            DatePart::Days => seconds / 86_400.0,
            DatePart::Year => f64::from(date.year()),
            DatePart::Month => f64::from(date.month()),
            DatePart::Day => f64::from(date.day()),
            DatePart::Weekday => f64::from(date.weekday().number_from_monday()),
            DatePart::DayOfYear => f64::from(date.ordinal()),
            DatePart::Hour => f64::from(date.hour()),
            DatePart::Minute => f64::from(date.minute()),
        }
    }
}

impl Function {
    /// The value at x; NaN outside of the domain.
    fn value(self, x: f64) -> f64 {
        match self {
            Function::Ln if x > 0.0 => x.ln(),
            Function::Ln1p if x > -1.0 => x.ln_1p(),
            Function::Ln | Function::Ln1p => f64::NAN,
            Function::Exp => x.exp(),
            Function::ExpM1 => x.exp_m1(),
            Function::Sin => x.sin(),
            Function::Cos => x.cos(),
            Function::Tanh => x.tanh(),
            Function::Floor => x.floor(),
        }
    }
}

impl Condition {
    fn holds(&self, cell: &dyn Fn(&str) -> f64) -> bool {
        match self {
            Condition::Missing(operand) => operand.value(cell).is_nan(),
            Condition::Below(operands) => operands[0].value(cell) < operands[1].value(cell),
        }
    }
}

/// Linear interpolation between points with increasing x, constant beyond the ends.
fn between(points: &[[f64; 2]], x: f64) -> f64 {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return f64::NAN };
    match points.partition_point(|[known, _]| *known <= x) {
        _ if x.is_nan() => f64::NAN,
        0 => first[1],
        next if next == points.len() => last[1],
        next => {
            let ([a, from], [b, to]) = (points[next - 1], points[next]);
            from + (x - a) / (b - a) * (to - from)
        }
    }
}

/// Direct subexpressions of an expression, shared or to change.
macro_rules! parts {
    ($expression:expr, $iter:ident, $as:ident $(, $mut:tt)?) => {
        match $expression {
            Expression::Column(_) | Expression::Number(_) | Expression::Text(_) => Vec::new(),
            Expression::Sum(parts) | Expression::Product(parts) => parts.$iter().collect(),
            Expression::Quotient(parts) | Expression::Filled(parts) => parts.$iter().collect(),
            Expression::Apply(_, operand) | Expression::DatePart(_, operand) | Expression::Between(_, operand) => vec![operand.$as()],
            Expression::If(Condition::Missing(operand), parts) => std::iter::once(operand.$as()).chain(parts.$iter()).collect(),
            Expression::If(Condition::Below(operands), parts) => operands.$iter().chain(parts.$iter()).collect(),
            Expression::Level(levels) => vec![&$($mut)? levels.of],
        }
    };
}

impl Expression {
    /// The value in a row, given its cells as numbers: NaN for a missing one, and dates in seconds since the beginning
    /// of 1970. Texts and levels are missing.
    pub fn value(&self, cell: &dyn Fn(&str) -> f64) -> f64 {
        match self {
            Expression::Column(name) => cell(name),
            Expression::Number(number) => *number,
            Expression::Text(_) | Expression::Level(_) => f64::NAN,
            Expression::Sum(terms) => terms.iter().map(|term| term.value(cell)).reduce(|a, b| a + b).unwrap_or(0.0),
            Expression::Product(factors) => {
                factors.iter().map(|factor| factor.value(cell)).reduce(|a, b| a * b).unwrap_or(1.0)
            }
            Expression::Quotient(operands) => operands[0].value(cell) / operands[1].value(cell),
            Expression::Apply(function, operand) => function.value(operand.value(cell)),
            Expression::If(condition, either) => either[usize::from(!condition.holds(cell))].value(cell),
            Expression::Filled(operands) => match operands[0].value(cell) {
                value if value.is_nan() => operands[1].value(cell),
                value => value,
            },
            Expression::DatePart(part, operand) => part.value(operand.value(cell)),
            Expression::Between(points, operand) => between(points, operand.value(cell)),
        }
    }

    /// Shift and scale, if the expression is a column minus a number, divided by another.
    pub(crate) fn scaling(&self) -> Option<(f64, f64)> {
        if let Expression::Column(_) = self {
            return Some((0.0, 1.0));
        }
        let Expression::Quotient(operands) = self else { return None };
        let [Expression::Sum(terms), Expression::Number(scale)] = &**operands else { return None };
        let [Expression::Column(_), Expression::Number(shift)] = &terms[..] else { return None };
        Some((-shift, *scale))
    }

    /// Whether the expression takes a part of a date.
    pub(crate) fn has_dates(&self) -> bool {
        matches!(self, Expression::DatePart(..)) || self.parts().into_iter().any(Expression::has_dates)
    }

    /// The cell of a column.
    pub fn column(name: impl Into<String>) -> Self {
        Expression::Column(name.into())
    }

    /// A number for each level of a column, and one for other levels; missing cells stay missing.
    pub fn levels(column: impl Into<String>, levels: Vec<(String, f64)>, other: f64) -> Self {
        let of = Expression::column(column);
        Expression::Level(Box::new(LevelValues { of, levels, missing: f64::NAN, other }))
    }

    /// The sum with another value.
    #[must_use]
    pub fn plus(self, other: impl Into<Expression>) -> Self {
        Expression::Sum(vec![self, other.into()])
    }

    /// The product with another value.
    #[must_use]
    pub fn times(self, other: impl Into<Expression>) -> Self {
        Expression::Product(vec![self, other.into()])
    }

    /// The quotient by another value.
    #[must_use]
    pub fn over(self, other: impl Into<Expression>) -> Self {
        Expression::Quotient(Box::new([self, other.into()]))
    }

    /// A function of this value.
    #[must_use]
    pub fn apply(self, function: Function) -> Self {
        Expression::Apply(function, Box::new(self))
    }

    /// One value if this is below a bound, else another.
    #[must_use]
    pub fn if_below(self, bound: f64, then: impl Into<Expression>, otherwise: impl Into<Expression>) -> Self {
        Expression::If(Condition::Below(Box::new([self, bound.into()])), Box::new([then.into(), otherwise.into()]))
    }

    /// One value if this is above a bound, else another.
    #[must_use]
    pub fn if_above(self, bound: f64, then: impl Into<Expression>, otherwise: impl Into<Expression>) -> Self {
        Expression::If(Condition::Below(Box::new([bound.into(), self])), Box::new([then.into(), otherwise.into()]))
    }

    /// The direct subexpressions.
    pub fn parts(&self) -> Vec<&Expression> {
        parts!(self, iter, as_ref)
    }

    /// The direct subexpressions, to change.
    pub fn parts_mut(&mut self) -> Vec<&mut Expression> {
        parts!(self, iter_mut, as_mut, mut)
    }

    /// The columns that the expression reads, each once.
    pub(crate) fn sources(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        self.columns().into_iter().filter(|name| seen.insert(*name)).map(str::to_owned).collect()
    }

    /// The columns that the expression reads, with repetitions.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            Expression::Column(name) => vec![name],
            _ => self.parts().into_iter().flat_map(Expression::columns).collect(),
        }
    }
}

impl From<f64> for Expression {
    fn from(number: f64) -> Self {
        Expression::Number(number)
    }
}
