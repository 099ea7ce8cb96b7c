//! Formulas in languages with infix operators.

use crate::formulas::CellKind;
use vaglio_core::{Condition, Expression, LevelValues, Result};

/// Precedence of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Binds {
    Sum,
    Product,
    Whole,
}

/// Largest number of terms in a flat sum; larger sums are nested, since parsers recurse once per term.
const TERMS: usize = 64;

/// Words of a language. `{0}`, `{1}` and so on are arguments: texts that may be operands of anything.
pub(crate) struct Words {
    /// Text of a finite number.
    pub number: fn(f64) -> String,
    /// Missing number.
    pub missing: &'static str,
    /// Multiplication operator.
    pub times: &'static str,
    /// Functions of `{0}`, in the order of [`Function`](vaglio_core::Function).
    pub functions: [&'static str; 8],
    /// Parts of the date `{0}`, in the order of [`DatePart`](vaglio_core::DatePart), or one text for all; `{1}` is the name of the part.
    pub date_parts: &'static [&'static str],
    /// Test whether `{0}` is missing.
    pub is_missing: &'static str,
    /// The value `{0}`, or `{1}` if it is missing.
    pub filled: &'static str,
    /// The value `{1}` if the condition `{0}` holds, else `{2}`.
    pub choice: &'static str,
    /// Sum of more than three terms, `{0}`, each on a line of its own; by the operator if absent.
    pub long_sum: Option<&'static str>,
}

/// Syntax of a language.
pub(crate) trait Syntax {
    /// The words.
    const WORDS: Words;

    /// Cell of a column, numeric within arithmetic.
    fn column(&mut self, name: &str) -> String;

    /// Test for a missing value.
    fn is_missing(&self, _of: &Expression, text: &str) -> String {
        with_arguments(Self::WORDS.is_missing, &[text])
    }

    /// A value, or a replacement if it is missing.
    fn filled(&self, _of: &Expression, text: &str, by: &str) -> String {
        with_arguments(Self::WORDS.filled, &[text, by])
    }

    /// Number for each level.
    ///
    /// # Errors
    /// Fails for levels that the language cannot express.
    fn level(&mut self, levels: &LevelValues, of: &str) -> Result<String>;

    /// Piecewise linear interpolation between points.
    ///
    /// # Errors
    /// Fails for points that the language cannot express.
    fn between(&mut self, points: &[[f64; 2]], of: &str) -> Result<String>;

    /// A complete text, or a reference to it.
    ///
    /// # Errors
    /// Fails for a text that is too long.
    fn kept(&mut self, text: String) -> Result<String> {
        Ok(text)
    }
}

/// Puts arguments into a text of [`Words`].
pub(crate) fn with_arguments(words: &str, arguments: &[&str]) -> String {
    let argument = |place: &str| place.parse::<usize>().ok().and_then(|place| arguments.get(place).copied());
    let pieces = words.split(['{', '}']).enumerate();
    pieces.map(|(k, piece)| if k % 2 == 0 { piece } else { argument(piece).unwrap_or_default() }).collect()
}

/// A number, or a missing one for NaN.
pub(crate) fn number<S: Syntax>(number: f64) -> String {
    if number.is_nan() { S::WORDS.missing.into() } else { (S::WORDS.number)(number) }
}

/// List of one coordinate of all points.
pub(crate) fn coordinates<S: Syntax>(points: &[[f64; 2]], axis: usize) -> String {
    points.iter().map(|point| number::<S>(point[axis])).collect::<Vec<_>>().join(", ")
}

/// Literal to compare with a level: a number if values are numbers and the level parses as one, else text.
pub(crate) fn level_key<S: Syntax>(holds: CellKind, level: &str, literal: fn(&str) -> String) -> String {
    match level.parse::<f64>() {
        Ok(value) if holds != CellKind::Text => (S::WORDS.number)(value),
        _ => literal(level),
    }
}

/// Writes a formula as text.
///
/// # Errors
/// Fails if the language cannot express the formula.
pub(crate) fn text(syntax: &mut impl Syntax, expression: &Expression) -> Result<String> {
    written(syntax, expression).map(|(text, _)| text)
}

/// Text of an expression as an operand of an operator with precedence `least`.
pub(crate) fn operand(syntax: &mut impl Syntax, expression: &Expression, least: Binds) -> Result<String> {
    let (text, binds) = written(syntax, expression)?;
    Ok(if binds < least { format!("({text})") } else { text })
}

fn written<S: Syntax>(syntax: &mut S, expression: &Expression) -> Result<(String, Binds)> {
    let words = &S::WORDS;
    let whole = match expression {
        Expression::Column(name) => syntax.column(name),
        Expression::Number(value) if value.is_nan() => number::<S>(*value),
        Expression::Number(value) => {
            // A sign binds weaker than some operators.
            return Ok((number::<S>(*value), if *value < 0.0 { Binds::Sum } else { Binds::Whole }));
        }
        // A text column without numbers.
        Expression::Text(_) => number::<S>(f64::NAN),
        Expression::Sum(terms) => return sum(syntax, terms),
        Expression::Product(factors) => return product(syntax, factors),
        Expression::Quotient(of) => {
            let text =
                format!("{} / {}", operand(syntax, &of[0], Binds::Product)?, operand(syntax, &of[1], Binds::Whole)?);
            return Ok((syntax.kept(text)?, Binds::Product));
        }
        Expression::Apply(function, of) => with_arguments(words.functions[*function as usize], &[&text(syntax, of)?]),
        Expression::If(condition, values) => {
            let condition = match condition {
                Condition::Missing(of) => {
                    let value = operand(syntax, of, Binds::Whole)?;
                    syntax.is_missing(of, &value)
                }
                Condition::Below(of) => {
                    format!("{} < {}", operand(syntax, &of[0], Binds::Sum)?, operand(syntax, &of[1], Binds::Sum)?)
                }
            };
            let (then, otherwise) = (text(syntax, &values[0])?, text(syntax, &values[1])?);
            with_arguments(words.choice, &[&condition, &then, &otherwise])
        }
        Expression::Filled(of) => {
            let (value, by) = (text(syntax, &of[0])?, text(syntax, &of[1])?);
            syntax.filled(&of[0], &value, &by)
        }
        Expression::Level(levels) => {
            let of = text(syntax, &levels.of)?;
            syntax.level(levels, &of)?
        }
        Expression::DatePart(part, of) => {
            let own = words.date_parts.get(*part as usize).unwrap_or(&words.date_parts[0]);
            with_arguments(own, &[&text(syntax, of)?, part.name()])
        }
        Expression::Between(points, of) => {
            let of = text(syntax, of)?;
            syntax.between(points, &of)?
        }
    };
    Ok((syntax.kept(whole)?, Binds::Whole))
}

fn sum<S: Syntax>(syntax: &mut S, terms: &[Expression]) -> Result<(String, Binds)> {
    if let [term] = terms {
        return written(syntax, term);
    }
    if terms.is_empty() {
        return Ok((number::<S>(0.0), Binds::Whole));
    }
    let texts: Vec<String> = terms.iter().map(|term| operand(syntax, term, Binds::Product)).collect::<Result<_>>()?;
    // Negative terms were put in parentheses, which a sum does not need.
    let texts: Vec<String> = texts.into_iter().zip(terms).map(|(text, term)| bare(text, term)).collect();
    if texts.len() > 3
        && let Some(words) = S::WORDS.long_sum
    {
        let lines: String = texts.iter().map(|term| format!("\n            {term},")).collect();
        return Ok((syntax.kept(with_arguments(words, &[&lines]))?, Binds::Whole));
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
        true => Ok((number::<S>(1.0), Binds::Whole)),
        false => Ok((syntax.kept(texts.join(S::WORDS.times))?, Binds::Product)),
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
