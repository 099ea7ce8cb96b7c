//! Formulas as text, in languages with infix operators or function calls.

use crate::calendar::by_arithmetic;
use crate::formulas::{CellKind, Formulas};
use std::collections::HashMap;
use vaglio_core::{Condition, Expression, LevelValues, Result, join};

/// Precedence of an operator.
#[derive(PartialEq, PartialOrd)]
enum Binds {
    Sum,
    Product,
    Whole,
}

/// Largest number of terms in a flat sum; larger sums are nested, since parsers recurse once per term.
const TERMS: usize = 64;

/// Syntax of a language. In texts, `{0}`, `{1}` and so on are arguments: texts that may be operands of anything.
pub struct Syntax {
    /// Text of a finite number.
    pub number: fn(f64) -> String,
    /// Missing number.
    pub missing: &'static str,
    /// Text of a column that is not in [`Writer::names`].
    pub column: fn(&str) -> String,
    /// Multiplication operator.
    pub times: &'static str,
    /// Sum, product, quotient and comparison `<` of `{0}` and `{1}` as function calls; by infix operators if absent.
    pub calls: Option<[&'static str; 4]>,
    /// Functions of `{0}`, in the order of [`Function`](vaglio_core::Function).
    pub functions: [&'static str; 8],
    /// Parts of the date `{0}`, in the order of [`DatePart`](vaglio_core::DatePart), or one text for all; `{1}` is the
    /// name of the part. By arithmetic if empty.
    pub date_parts: &'static [&'static str],
    /// The cell `{0}` of a number or a date, as a value.
    pub read: &'static str,
    /// Test whether `{0}` is missing: a computed value, the cell of a number or a date, and the cell of a text.
    pub is_missing: [&'static str; 3],
    /// The value `{0}`, or `{1}` if it is missing; by a choice if absent.
    pub filled: Option<&'static str>,
    /// The value `{1}` if the condition `{0}` holds, else `{2}`.
    pub choice: &'static str,
    /// 1 if the test of a missing value `{0}` holds, else 0; by a choice if absent.
    pub indicator: Option<&'static str>,
    /// Sum of more than three terms, `{0}`, each on a line of its own; by the operator if absent.
    pub long_sum: Option<&'static str>,
    /// Number for each level of a value.
    pub level: fn(&mut Writer<'_>, &LevelValues, &str) -> Result<String>,
    /// Piecewise linear interpolation of a value between points.
    pub between: fn(&mut Writer<'_>, &[[f64; 2]], &str) -> Result<String>,
    /// Returns a complete text, or puts a long one elsewhere and returns a reference to it.
    pub store_text: fn(&mut Writer<'_>, String) -> Result<String>,
}

/// Notation of mathematics; a language says only what differs.
pub const NEUTRAL: Syntax = Syntax {
    number: |number| format!("{number:?}"),
    missing: "none",
    column: str::to_owned,
    times: " * ",
    calls: None,
    functions: [
        "ln({0})",
        "ln(1 + {0})",
        "exp({0})",
        "(exp({0}) - 1)",
        "sin({0})",
        "cos({0})",
        "tanh({0})",
        "floor({0})",
    ],
    date_parts: &["{1}({0})"],
    read: "{0}",
    is_missing: ["{0} missing"; 3],
    filled: None,
    choice: "({1} if {0}, else {2})",
    indicator: None,
    long_sum: None,
    level: |_, _, operand| Ok(format!("code({operand})")),
    between: |_, _, operand| Ok(format!("target of rank({operand})")),
    store_text: |_, text| Ok(text),
};

/// Writes formulas in a language.
pub struct Writer<'f> {
    syntax: &'static Syntax,
    pub formulas: &'f Formulas,
    /// Texts of columns.
    pub names: HashMap<String, String>,
    /// Further columns that are computed, with their formulas.
    pub made: Vec<(String, String)>,
}

/// Puts arguments into a text of [`Syntax`].
fn with_arguments(words: &str, arguments: &[&str]) -> String {
    let argument = |place: &str| place.parse::<usize>().ok().and_then(|place| arguments.get(place).copied());
    let pieces = words.split(['{', '}']).enumerate();
    pieces.map(|(k, piece)| if k % 2 == 0 { piece } else { argument(piece).unwrap_or_default() }).collect()
}

impl<'f> Writer<'f> {
    pub fn new(syntax: &'static Syntax, formulas: &'f Formulas, names: HashMap<String, String>) -> Self {
        Writer { syntax, formulas, names, made: Vec::new() }
    }

    /// A number, or a missing one for NaN.
    pub fn number(&self, number: f64) -> String {
        if number.is_nan() { self.syntax.missing.into() } else { (self.syntax.number)(number) }
    }

    /// List of one coordinate of all points.
    pub fn coordinates(&self, points: &[[f64; 2]], axis: usize) -> String {
        join(points.iter().map(|point| self.number(point[axis])), ", ")
    }

    /// Literal to compare with a level: a number if values are numbers and the level parses as one, else text.
    pub fn level_key(&self, operand: &Expression, level: &str, literal: fn(&str) -> String) -> String {
        match level.parse::<f64>() {
            Ok(value) if self.formulas.cell_kind(operand) != CellKind::Text => self.number(value),
            _ => literal(level),
        }
    }

    /// Writes a formula as text.
    ///
    /// # Errors
    /// Fails if the language cannot express the formula.
    pub fn text(&mut self, expression: &Expression) -> Result<String> {
        self.write_expression(expression).map(|(text, _)| text)
    }

    /// Statements that read the inputs and compute the steps. `assign` is the statement for the column `{0}` with the
    /// value `{1}`; `reads` are the values of the number, text or date with the name `{0}`, written by `literal`.
    ///
    /// # Errors
    /// Fails if the language cannot express a step.
    pub fn statements(&mut self, assign: &str, reads: [&str; 3], literal: fn(&str) -> String) -> Result<String> {
        let Formulas { inputs, steps, .. } = self.formulas;
        let mut body = String::new();
        for input in inputs {
            let value = with_arguments(reads[input.holds as usize], &[&literal(&input.name)]);
            body += &with_arguments(assign, &[&self.names[&input.name], &value]);
        }
        for step in steps {
            let value = self.text(&step.formula)?;
            body += &with_arguments(assign, &[&self.names[&step.name], &value]);
        }
        Ok(body)
    }

    fn column(&self, name: &str) -> String {
        self.names.get(name).cloned().unwrap_or_else(|| (self.syntax.column)(name))
    }

    /// The cell of a column of the data, if the expression is one, and whether it holds text.
    fn cell(&self, operand: &Expression) -> Option<(String, bool)> {
        let Expression::Column(name) = operand else { return None };
        let input = self.formulas.inputs.iter().find(|input| input.name == *name)?;
        Some((self.column(name), input.holds == CellKind::Text))
    }

    /// Test whether an expression, written as `text`, is missing, and its value otherwise.
    pub fn missing_test(&self, operand: &Expression, text: &str) -> (String, String) {
        let (value, form) = match self.cell(operand) {
            Some((cell, is_text)) => (cell, 1 + usize::from(is_text)),
            None => (text.to_owned(), 0),
        };
        (with_arguments(self.syntax.is_missing[form], &[&value]), value)
    }

    /// Text of an expression as an operand of an operator with precedence `least`.
    fn operand(&mut self, expression: &Expression, least: Binds) -> Result<String> {
        let (text, binds) = self.write_expression(expression)?;
        Ok(if binds < least { format!("({text})") } else { text })
    }

    /// A complete text, or a reference to it.
    pub fn store_text(&mut self, text: String) -> Result<String> {
        let store_text = self.syntax.store_text;
        store_text(self, text)
    }

    fn write_expression(&mut self, expression: &Expression) -> Result<(String, Binds)> {
        let syntax = self.syntax;
        if let Some(calls) = syntax.calls {
            let (call, parts) = match expression {
                Expression::Sum(terms) => (calls[0], &terms[..]),
                Expression::Product(factors) => (calls[1], &factors[..]),
                Expression::Quotient(operands) => (calls[2], &operands[..]),
                _ => ("", &[][..]),
            };
            if !parts.is_empty() {
                return Ok((self.nest_calls(call, parts)?, Binds::Whole));
            }
        }
        let whole = match expression {
            Expression::Column(name) => match self.cell(expression) {
                Some((cell, false)) => with_arguments(syntax.read, &[&cell]),
                _ => self.column(name),
            },
            Expression::Number(value) => {
                // A sign binds weaker than some operators.
                let is_signed = *value < 0.0 && syntax.calls.is_none();
                return Ok((self.number(*value), if is_signed { Binds::Sum } else { Binds::Whole }));
            }
            // A text column without numbers.
            Expression::Text(_) => syntax.missing.into(),
            Expression::Sum(terms) => return self.sum(terms),
            Expression::Product(factors) => return self.product(factors),
            Expression::Quotient(operands) => {
                let [over, under] =
                    [self.operand(&operands[0], Binds::Product)?, self.operand(&operands[1], Binds::Whole)?];
                return Ok((self.store_text(format!("{over} / {under}"))?, Binds::Product));
            }
            Expression::Apply(function, operand) => {
                with_arguments(syntax.functions[*function as usize], &[&self.text(operand)?])
            }
            Expression::If(condition, values) => {
                let (test, indicator) = match condition {
                    Condition::Missing(operand) => {
                        let value = self.operand(operand, Binds::Whole)?;
                        let is_indicator = **values == [1.0.into(), 0.0.into()];
                        (self.missing_test(operand, &value).0, syntax.indicator.filter(|_| is_indicator))
                    }
                    Condition::Below(operands) => match syntax.calls {
                        Some(calls) => (self.nest_calls(calls[3], &**operands)?, None),
                        None => {
                            let [a, b] =
                                [self.operand(&operands[0], Binds::Sum)?, self.operand(&operands[1], Binds::Sum)?];
                            (format!("{a} < {b}"), None)
                        }
                    },
                };
                let values = [self.text(&values[0])?, self.text(&values[1])?];
                with_arguments(indicator.unwrap_or(syntax.choice), &[&test, &values[0], &values[1]])
            }
            Expression::Filled(operands) => {
                let [value, by] = [self.text(&operands[0])?, self.text(&operands[1])?];
                match syntax.filled {
                    Some(filled) => with_arguments(filled, &[&value, &by]),
                    None => {
                        let (test, value) = self.missing_test(&operands[0], &value);
                        with_arguments(syntax.choice, &[&test, &by, &value])
                    }
                }
            }
            Expression::Level(levels) => {
                let operand = self.text(&levels.of)?;
                (syntax.level)(self, levels, &operand)?
            }
            Expression::DatePart(part, operand) if syntax.date_parts.is_empty() => {
                let prefix = format!("vaglio:date {}", self.made.len() + 1);
                let (columns, value) = by_arithmetic(*part, (**operand).clone(), &prefix);
                for (name, formula) in columns {
                    self.make(name, &formula)?;
                }
                self.text(&value)?
            }
            Expression::DatePart(part, operand) => {
                let own = syntax.date_parts.get(*part as usize).unwrap_or(&syntax.date_parts[0]);
                with_arguments(own, &[&self.text(operand)?, part.word()])
            }
            Expression::Between(points, operand) => {
                let operand = self.text(operand)?;
                (syntax.between)(self, points, &operand)?
            }
        };
        Ok((self.store_text(whole)?, Binds::Whole))
    }

    /// Computes a further column.
    pub fn make(&mut self, name: String, formula: &Expression) -> Result<()> {
        let text = self.text(formula)?;
        self.made.push((name, text));
        Ok(())
    }

    /// Nested calls of a function of two values, balanced since parsers recurse.
    fn nest_calls(&mut self, call: &str, parts: &[Expression]) -> Result<String> {
        if let [part] = parts {
            return self.text(part);
        }
        let (left, right) = parts.split_at(parts.len() / 2);
        Ok(with_arguments(call, &[&self.nest_calls(call, left)?, &self.nest_calls(call, right)?]))
    }

    fn sum(&mut self, terms: &[Expression]) -> Result<(String, Binds)> {
        if let [term] = terms {
            return self.write_expression(term);
        }
        if terms.is_empty() {
            return Ok((self.number(0.0), Binds::Whole));
        }
        let texts: Vec<String> = terms.iter().map(|term| self.first_operand(term)).collect::<Result<_>>()?;
        match self.syntax.long_sum.filter(|_| texts.len() > 3) {
            Some(words) => {
                let lines: String = texts.iter().map(|term| format!("\n            {term},")).collect();
                Ok((self.store_text(with_arguments(words, &[&lines]))?, Binds::Whole))
            }
            None => Ok((self.join_terms(&texts)?, Binds::Sum)),
        }
    }

    /// Text of a term, or of the first factor of a product: a negative number needs no parentheses there.
    fn first_operand(&mut self, expression: &Expression) -> Result<String> {
        match expression {
            Expression::Number(number) => Ok(self.number(*number)),
            _ => self.operand(expression, Binds::Product),
        }
    }

    /// Joins terms with signs.
    fn join_terms(&mut self, terms: &[String]) -> Result<String> {
        if terms.len() > TERMS {
            let size = terms.len().div_ceil(TERMS).max(TERMS);
            let groups: Vec<String> =
                terms.chunks(size).map(|group| Ok(format!("({})", self.join_terms(group)?))).collect::<Result<_>>()?;
            return self.join_terms(&groups);
        }
        let mut text = String::new();
        for (place, term) in terms.iter().enumerate() {
            match (place, term.strip_prefix('-')) {
                (0, _) => text.push_str(term),
                (_, Some(positive)) => text += &format!(" - {positive}"),
                (_, None) => text += &format!(" + {term}"),
            }
            text = self.store_text(text)?;
        }
        Ok(text)
    }

    fn product(&mut self, factors: &[Expression]) -> Result<(String, Binds)> {
        let mut texts = Vec::with_capacity(factors.len());
        for (place, factor) in factors.iter().enumerate() {
            texts.push(match factor {
                _ if place == 0 => self.first_operand(factor)?,
                // Parentheses keep the rounding of x * (a / b).
                Expression::Quotient(_) => format!("({})", self.operand(factor, Binds::Product)?),
                _ => self.operand(factor, Binds::Product)?,
            });
        }
        if texts.is_empty() {
            Ok((self.number(1.0), Binds::Whole))
        } else {
            Ok((self.store_text(texts.join(self.syntax.times))?, Binds::Product))
        }
    }
}

/// Text in quotes, with the quotes inside doubled.
pub fn in_quotes(text: &str, quote: char) -> String {
    format!("{quote}{}{quote}", text.replace(quote, &format!("{quote}{quote}")))
}

/// ASCII string literal in double quotes; `short` escapes unprintable characters below 0x10000.
pub fn ascii_literal(text: &str, short: fn(u32) -> String) -> String {
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
