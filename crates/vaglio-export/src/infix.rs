//! Formulas in languages with infix operators.

use crate::CellKind;
use vaglio_core::{Condition, DatePart, Expression, LevelValues, Result};

/// Precedence of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Binds {
    Sum,
    Product,
    Whole,
}

/// Largest number of terms in a flat sum; larger sums are nested, since parsers recurse once per term.
const TERMS: usize = 64;

/// Syntax of a language. Arguments are texts that may be operands of anything.
pub(crate) trait Syntax {
    /// Texts of all functions, in the order of `Function`, with `{}` for the argument.
    const FUNCTIONS: [&'static str; 8];
    /// Missing number.
    const MISSING: &'static str;
    /// Multiplication operator.
    const TIMES: &'static str = " * ";

    /// Cell of a column, numeric within arithmetic.
    fn column(&mut self, name: &str) -> String;

    /// A finite number.
    fn number(&self, number: f64) -> String {
        format!("{number:?}")
    }

    /// A number, or a missing one for NaN.
    fn or_missing(&self, number: f64) -> String {
        if number.is_nan() { Self::MISSING.into() } else { self.number(number) }
    }

    /// List of one coordinate of all points.
    fn listed(&self, points: &[[f64; 2]], axis: usize) -> String {
        points.iter().map(|point| self.number(point[axis])).collect::<Vec<_>>().join(", ")
    }

    /// Literal to compare with a level: a number if values are numbers and the level parses as one, else text.
    fn level_key(&self, holds: CellKind, level: &str, literal: fn(&str) -> String) -> String {
        match level.parse::<f64>() {
            Ok(number) if holds != CellKind::Text => self.number(number),
            _ => literal(level),
        }
    }

    /// Test for a missing value.
    fn is_missing(&self, of: &Expression, text: &str) -> String;

    /// Conditional choice of two values.
    fn choice(&self, condition: &str, then: &str, otherwise: &str) -> String;

    /// A value, or a replacement if it is missing.
    fn filled(&self, of: &Expression, text: &str, by: &str) -> String;

    /// Number for each level.
    ///
    /// # Errors
    /// Fails for levels that the language cannot express.
    fn level(&mut self, levels: &LevelValues, of: &str) -> Result<String>;

    /// Part of a date.
    fn date_part(&self, part: DatePart, of: &str) -> String;

    /// Piecewise linear interpolation between points.
    ///
    /// # Errors
    /// Fails for points that the language cannot express.
    fn between(&mut self, points: &[[f64; 2]], of: &str) -> Result<String>;

    /// Special form of a sum of more than three terms, if there is one.
    fn long_sum(&self, _terms: &[String]) -> Option<String> {
        None
    }

    /// A complete text, or a reference to it.
    ///
    /// # Errors
    /// Fails for a text that is too long.
    fn kept(&mut self, text: String) -> Result<String> {
        Ok(text)
    }

    /// Writes a formula as text.
    ///
    /// # Errors
    /// Fails if the language cannot express the formula.
    fn text(&mut self, expression: &Expression) -> Result<String>
    where
        Self: Sized,
    {
        written(self, expression).map(|(text, _)| text)
    }
}

/// Text of an expression as an operand of an operator with precedence `least`.
fn operand(syntax: &mut impl Syntax, expression: &Expression, least: Binds) -> Result<String> {
    let (text, binds) = written(syntax, expression)?;
    Ok(if binds < least { format!("({text})") } else { text })
}

fn written<S: Syntax>(syntax: &mut S, expression: &Expression) -> Result<(String, Binds)> {
    let text = match expression {
        Expression::Column(name) => syntax.column(name),
        Expression::Number(number) if number.is_nan() => S::MISSING.into(),
        Expression::Number(number) => {
            let text = syntax.number(*number);
            // A sign binds weaker than some operators.
            return Ok((text, if *number < 0.0 { Binds::Sum } else { Binds::Whole }));
        }
        // A text column without numbers.
        Expression::Text(_) => S::MISSING.into(),
        Expression::Sum(terms) => return sum(syntax, terms),
        Expression::Product(factors) => return product(syntax, factors),
        Expression::Quotient(of) => {
            let text =
                format!("{} / {}", operand(syntax, &of[0], Binds::Product)?, operand(syntax, &of[1], Binds::Whole)?);
            return Ok((syntax.kept(text)?, Binds::Product));
        }
        Expression::Apply(function, of) => {
            let of = syntax.text(of)?;
            S::FUNCTIONS[*function as usize].replace("{}", &of)
        }
        Expression::If(condition, values) => {
            let condition = match condition {
                Condition::Missing(of) => {
                    let text = operand(syntax, of, Binds::Whole)?;
                    syntax.is_missing(of, &text)
                }
                Condition::Below(of) => {
                    format!("{} < {}", operand(syntax, &of[0], Binds::Sum)?, operand(syntax, &of[1], Binds::Sum)?)
                }
            };
            let (then, otherwise) = (syntax.text(&values[0])?, syntax.text(&values[1])?);
            syntax.choice(&condition, &then, &otherwise)
        }
        Expression::Filled(of) => {
            let (value, by) = (syntax.text(&of[0])?, syntax.text(&of[1])?);
            syntax.filled(&of[0], &value, &by)
        }
        Expression::Level(levels) => {
            let of = syntax.text(&levels.of)?;
            syntax.level(levels, &of)?
        }
        Expression::DatePart(part, of) => {
            let of = syntax.text(of)?;
            syntax.date_part(*part, &of)
        }
        Expression::Between(points, of) => {
            let of = syntax.text(of)?;
            syntax.between(points, &of)?
        }
    };
    Ok((syntax.kept(text)?, Binds::Whole))
}

fn sum(syntax: &mut impl Syntax, terms: &[Expression]) -> Result<(String, Binds)> {
    if let [term] = terms {
        return written(syntax, term);
    }
    if terms.is_empty() {
        return Ok((syntax.number(0.0), Binds::Whole));
    }
    let texts: Vec<String> = terms.iter().map(|term| operand(syntax, term, Binds::Product)).collect::<Result<_>>()?;
    // Negative terms were put in parentheses, which a sum does not need.
    let texts: Vec<String> = texts.into_iter().zip(terms).map(|(text, term)| bare(text, term)).collect();
    if texts.len() > 3
        && let Some(text) = syntax.long_sum(&texts)
    {
        return Ok((syntax.kept(text)?, Binds::Whole));
    }
    Ok((added(syntax, &texts)?, Binds::Sum))
}

fn bare(text: String, term: &Expression) -> String {
    match term {
        Expression::Number(_) => text.trim_matches(['(', ')']).to_owned(),
        _ => text,
    }
}

/// Joins terms with signs.
fn added(syntax: &mut impl Syntax, terms: &[String]) -> Result<String> {
    if terms.len() > TERMS {
        let size = terms.len().div_ceil(TERMS).max(TERMS);
        let groups: Vec<String> =
            terms.chunks(size).map(|group| Ok(format!("({})", added(syntax, group)?))).collect::<Result<_>>()?;
        return added(syntax, &groups);
    }
    let mut text = String::new();
    for (place, term) in terms.iter().enumerate() {
        match (place, term.strip_prefix('-')) {
            (0, _) => text.push_str(term),
            (_, Some(positive)) => text += &format!(" - {positive}"),
            (_, None) => text += &format!(" + {term}"),
        }
        text = syntax.kept(text)?;
    }
    Ok(text)
}

fn product<S: Syntax>(syntax: &mut S, factors: &[Expression]) -> Result<(String, Binds)> {
    let mut texts = Vec::with_capacity(factors.len());
    for (place, factor) in factors.iter().enumerate() {
        let text = operand(syntax, factor, Binds::Product)?;
        let text = if place == 0 { bare(text, factor) } else { text };
        // Parentheses keep the rounding of x * (a / b).
        let nested = place > 0 && matches!(factor, Expression::Quotient(_));
        texts.push(if nested { format!("({text})") } else { text });
    }
    match texts.is_empty() {
        true => Ok((syntax.number(1.0), Binds::Whole)),
        false => Ok((syntax.kept(texts.join(S::TIMES))?, Binds::Product)),
    }
}

/// ASCII string literal in double quotes; `short` escapes unprintable characters below 0x10000.
pub(crate) fn ascii_literal(text: &str, short: fn(u32) -> String) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            c if (c as u32) < 0x10000 => out += &short(c as u32),
            c => out += &format!("\\U{:08x}", c as u32),
        }
    }
    out.push('"');
    out
}
