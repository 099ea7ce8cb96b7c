//! Date parts by arithmetic, for languages without a calendar.

use vaglio_core::{Condition, DatePart, Expression, Function, LevelValues};

fn minus(a: Expression, b: Expression) -> Expression {
    a.plus(b.times(-1.0))
}

fn whole(value: Expression, by: f64) -> Expression {
    value.over(by).apply(Function::Floor)
}

fn remainder(value: Expression, by: f64) -> Expression {
    minus(value.clone(), whole(value, by).times(by))
}

/// Computes a part of a date, given in seconds since the beginning of 1970. Returns intermediate columns, whose names
/// begin with `prefix`, and the part as an expression of these.
///
/// # Reference
/// C. Neri, L. Schneider, *Euclidean affine functions and their application to calendar algorithms*, Software: Practice
/// and Experience 53(4), 2023.
pub fn by_arithmetic(part: DatePart, seconds: Expression, prefix: &str) -> (Vec<(String, Expression)>, Expression) {
    let mut made = Vec::new();
    // Adds a column and returns a reference to it.
    let mut keep = |expression: Expression| {
        let name = format!("{prefix}_{}", made.len() + 1);
        made.push((name.clone(), expression));
        Expression::Column(name)
    };
    let seconds = keep(seconds);
    let value = match part {
        DatePart::Seconds => seconds,
        DatePart::Days => seconds.over(86_400.0),
        DatePart::Hour => whole(remainder(seconds, 86_400.0), 3600.0),
        DatePart::Minute => whole(remainder(seconds, 3600.0), 60.0),
        DatePart::Weekday => {
            // 1 January 1970 was a Thursday.
            let days = keep(whole(seconds, 86_400.0).plus(3.0));
            remainder(days, 7.0).plus(1.0)
        }
        DatePart::Year | DatePart::Month | DatePart::Day | DatePart::DayOfYear => {
            // Days since 1 March of year 0; years begin in March, with month 3.
            let days = keep(whole(seconds, 86_400.0).plus(719_468.0));
            // Number of the cycle that a day is in, and the day in that cycle; cycles have `length` / `per` days.
            let mut cycle = |day: Expression, first: f64, length: f64, per: f64| {
                let scaled = keep(day.times(per).plus(first));
                let number = keep(whole(scaled.clone(), length));
                (number.clone(), keep(whole(minus(scaled, number.times(length)), per)))
            };
            let (century, day) = cycle(days.clone(), 3.0, 146_097.0, 4.0);
            let (year, day) = cycle(day, 3.0, 1461.0, 4.0);
            let (month, day) = cycle(day, 461.0, 153.0, 5.0);
            // Months 13 and 14 are January and February of the next year.
            let if_next = |value: f64| month.clone().if_above(12.5, value, 0.0);
            let year = century.times(100.0).plus(year).plus(if_next(1.0));
            match part {
                DatePart::Year => year,
                DatePart::Month => month.clone().plus(if_next(-12.0)),
                DatePart::Day => day.plus(1.0),
                _ => {
                    let last = keep(year.plus(-1.0));
                    let leaps = [(4.0, 1.0), (100.0, -1.0), (400.0, 1.0)];
                    let leaps = leaps.map(|(every, sign)| whole(last.clone(), every).times(sign));
                    let before = [last.clone().times(365.0), 306.0.into()].into_iter().chain(leaps);
                    minus(days, Expression::Sum(before.collect())).plus(1.0)
                }
            }
        }
    };
    (made, value)
}

/// Nested conditions that map the numeric levels of a column to their numbers.
pub fn by_choices(levels: &LevelValues) -> Expression {
    let LevelValues { of: operand, levels, missing, other } = levels;
    let number = |(level, number): &(String, f64)| Some((level.parse::<f64>().ok()?, *number));
    let mut numbers: Vec<(f64, f64)> = levels.iter().filter_map(number).collect();
    numbers.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let is_missing = Condition::Missing(Box::new(operand.clone()));
    Expression::If(is_missing, Box::new([Expression::Number(*missing), choice(operand, &numbers, *other)]))
}

/// Binary search of a value among sorted levels, each with its number; `other` is the number of other values.
fn choice(value: &Expression, levels: &[(f64, f64)], other: f64) -> Expression {
    let (below, rest) = levels.split_at(levels.len() / 2);
    let Some((&(level, number), above)) = rest.split_first() else { return other.into() };
    let above = value.clone().if_above(level, choice(value, above, other), number);
    value.clone().if_below(level, choice(value, below, other), above)
}
