//! Date parts by arithmetic, for languages without a calendar.

use crate::formulas::Language;
use vaglio_core::{Condition, DatePart, Expression, Function, LevelValues, Result};

fn minus(a: Expression, b: Expression) -> Expression {
    a.plus(b.times(-1.0))
}

/// Computes a part of a date, given in seconds since the beginning of 1970. Returns intermediate columns, whose names
/// begin with `prefix`, and the part as an expression of these.
///
/// # Reference
/// H. Hinnant, *chrono-compatible low-level date algorithms*, `civil_from_days`.
pub(crate) fn by_arithmetic(
    part: DatePart,
    seconds: Expression,
    prefix: &str,
) -> (Vec<(String, Expression)>, Expression) {
    let mut made = Vec::new();
    // Adds a column and returns a reference to it.
    let mut keep = |expression: Expression| {
        let name = format!("{prefix}_{}", made.len() + 1);
        made.push((name.clone(), expression));
        Expression::Column(name)
    };
    let seconds = keep(seconds);
    let whole = |of: Expression, by: f64| of.over(by).apply(Function::Floor);
    let value = match part {
        DatePart::Seconds => seconds,
        DatePart::Days => seconds.over(86_400.0),
        DatePart::Hour | DatePart::Minute => {
            let days = whole(seconds.clone(), 86_400.0);
            let of_day = keep(minus(seconds, days.times(86_400.0)));
            let hours = keep(whole(of_day.clone(), 3600.0));
            match part {
                DatePart::Hour => hours,
                _ => whole(minus(of_day, hours.times(3600.0)), 60.0),
            }
        }
        DatePart::Weekday => {
            // 1 January 1970 was a Thursday.
            let days = keep(whole(seconds, 86_400.0).plus(3.0));
            minus(days.clone(), whole(days, 7.0).times(7.0)).plus(1.0)
        }
        DatePart::Year | DatePart::Month | DatePart::Day | DatePart::DayOfYear => {
            // Years begin in March, in eras of 400.
            let days = keep(whole(seconds, 86_400.0).plus(719_468.0));
            let era = keep(whole(days.clone(), 146_097.0));
            let day_of_era = keep(minus(days.clone(), era.clone().times(146_097.0)));
            let leaps = [(1460.0, -1.0), (36_524.0, 1.0), (146_096.0, -1.0)];
            let terms = leaps.map(|(every, sign)| whole(day_of_era.clone(), every).times(sign));
            let counted = Expression::Sum([day_of_era.clone()].into_iter().chain(terms).collect());
            let year_of_era = keep(whole(counted, 365.0));
            let before = |year: Expression| {
                let terms = [year.clone().times(365.0), whole(year.clone(), 4.0), whole(year, 100.0).times(-1.0)];
                Expression::Sum(terms.into())
            };
            let day = keep(minus(day_of_era, before(year_of_era.clone())));
            let month = keep(whole(day.clone().times(5.0).plus(2.0), 153.0));
            let civil_month = keep(month.clone().plus(month.clone().if_below(9.5, 3.0, -9.0)));
            let year = year_of_era.plus(era.times(400.0)).plus(civil_month.clone().if_below(2.5, 1.0, 0.0));
            match part {
                DatePart::Month => civil_month,
                DatePart::Day => minus(day.plus(1.0), whole(month.times(153.0).plus(2.0), 5.0)),
                DatePart::Year => year,
                _ => {
                    // Days from 1 March of year 0 to 1 January.
                    let last = keep(year.plus(-1.0));
                    let first = before(last.clone()).plus(whole(last, 400.0)).plus(306.0);
                    minus(days, first).plus(1.0)
                }
            }
        }
    };
    (made, value)
}

/// Nested conditions that map the numeric levels of a column to their numbers.
///
/// # Errors
/// Refuses a level that is no number.
pub(crate) fn by_choices(language: Language, levels: &LevelValues) -> Result<Expression> {
    let refused = |_| language.refusal("levels of a column of numbers that are no numbers");
    let LevelValues { of, levels, missing, other } = levels;
    let mut value = Expression::Number(*other);
    for (level, number) in levels.iter().rev() {
        let level: f64 = level.parse().map_err(refused)?;
        let above = of.clone().if_above(level, value.clone(), *number);
        value = of.clone().if_below(level, value, above);
    }
    let is_missing = Condition::Missing(Box::new(of.clone()));
    Ok(Expression::If(is_missing, Box::new([Expression::Number(*missing), value])))
}
