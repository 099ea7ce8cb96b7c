//! Spreadsheet export: a header and a row of formulas, as CSV.

use crate::formulas::{CellKind, Formulas, InputColumn, LABEL, LabelRule, Language};
use crate::infix::{Syntax, Words, number, text, with_arguments};
use std::collections::HashMap;
use vaglio_core::{Expression, LevelValues, Result};

struct Excel<'f> {
    formulas: &'f Formulas,
    /// Cell of each column.
    cells: HashMap<String, String>,
    /// Computed columns after the inputs, with their formulas.
    made: Vec<(String, String)>,
}

/// Length in characters after which a formula is continued in another cell.
const LONG: usize = 1000;
/// Largest length in characters of a formula, and of a text in it.
const MOST: usize = 8192;
const MOST_OF_TEXT: usize = 255;
/// Largest number of columns of a sheet.
const COLUMNS: usize = 16_384;
/// Largest number of points of [`Expression::Between`], each of which nests a choice.
const POINTS: usize = 60;

/// Writes the header and the row of formulas.
pub(crate) fn write(formulas: &Formulas) -> Result<String> {
    let cell = |(place, input): (usize, &InputColumn)| (input.name.clone(), format!("{}2", letters(place)));
    let cells = formulas.inputs.iter().enumerate().map(cell).collect();
    let mut excel = Excel { formulas, cells, made: Vec::new() };
    let mut outputs = Vec::new();
    for named in formulas.steps.iter().chain(&formulas.outputs) {
        let formula = text(&mut excel, &named.formula)?;
        let cell = excel.add(&named.name, formula)?;
        excel.cells.insert(named.name.clone(), cell.clone());
        outputs.push(cell);
    }
    if let Some(rule) = &formulas.label {
        let label = excel.label(rule, &outputs[formulas.steps.len()..])?;
        excel.add(LABEL, label)?;
    }
    let names =
        formulas.inputs.iter().map(|input| input.name.as_str()).chain(excel.made.iter().map(|(name, _)| &**name));
    let header: Vec<String> = names.map(|name| quoted(&inert(name))).collect();
    let blanks = formulas.inputs.iter().map(|_| String::new());
    let row: Vec<String> = blanks.chain(excel.made.iter().map(|(_, text)| quoted(&format!("={text}")))).collect();
    Ok(format!("{}\n{}\n", header.join(","), row.join(",")))
}

impl Excel<'_> {
    /// Adds a column and returns its cell.
    fn add(&mut self, name: &str, formula: String) -> Result<String> {
        if formula.len() >= MOST {
            return Err(
                Language::Excel.refusal(&format!("a formula of {} characters: {MOST} are the most", formula.len()))
            );
        }
        let place = self.formulas.inputs.len() + self.made.len();
        if place >= COLUMNS {
            return Err(Language::Excel.refusal(&format!("more than {COLUMNS} columns")));
        }
        self.made.push((name.to_owned(), formula));
        Ok(format!("{}2", letters(place)))
    }

    fn label(&mut self, rule: &LabelRule, cells: &[String]) -> Result<String> {
        match rule {
            LabelRule::Threshold { at, above, below } => {
                let prediction = cells.first().cloned().unwrap_or_default();
                Ok(format!("IF({prediction}>{at:E},{},{})", literal(above)?, literal(below)?))
            }
            LabelRule::Largest { within, labels } => {
                // Nested choices from the last label to the first, continued in other cells when long.
                let largest = format!("MAX({})", cells.join(","));
                let mut text = literal(labels.last().map_or("", |(_, label)| label))?;
                for (place, label) in labels.iter().rev().skip(1) {
                    let cell = &cells[*place];
                    text = self.kept(format!("IF({cell}+{within:E}>={largest},{},{text})", literal(label)?))?;
                }
                Ok(text)
            }
        }
    }
}

impl Syntax for Excel<'_> {
    const WORDS: Words = Words {
        number: |number| format!("{number:?}").replace('e', "E"),
        missing: "NA()",
        times: " * ",
        functions: [
            "LN({0})",
            "LN(1+({0}))",
            "EXP({0})",
            "(EXP({0})-1)",
            "SIN({0})",
            "COS({0})",
            "TANH({0})",
            "INT({0})",
        ],
        // Sheets count days from the end of 1899.
        date_parts: &[
            "(({0}-25569)*86400)",
            "({0}-25569)",
            "YEAR({0})",
            "MONTH({0})",
            "DAY({0})",
            "WEEKDAY({0},2)",
            "(INT({0})-DATE(YEAR({0}),1,1)+1)",
            "HOUR({0})",
            "MINUTE({0})",
        ],
        is_missing: "ISNA({0})",
        filled: "IF(ISNA({0}),{1},{0})",
        choice: "IF({0},{1},{2})",
        long_sum: None,
    };

    fn column(&mut self, name: &str) -> String {
        let cell = self.cells.get(name).cloned().unwrap_or_default();
        match self.formulas.inputs.iter().any(|input| input.name == name && input.holds != CellKind::Text) {
            // Excel would treat an empty cell as 0.
            true => format!("IF({cell}=\"\",NA(),{cell})"),
            false => cell,
        }
    }

    fn is_missing(&self, of: &Expression, text: &str) -> String {
        match of {
            Expression::Column(name)
                if self.cells.contains_key(name) && self.formulas.steps.iter().all(|s| s.name != *name) =>
            {
                format!("{}=\"\"", self.cells[name])
            }
            _ => with_arguments(Self::WORDS.is_missing, &[text]),
        }
    }

    fn filled(&self, of: &Expression, text: &str, by: &str) -> String {
        match of {
            Expression::Column(name) if self.cells.contains_key(name) => {
                format!("IF({},{by},{})", self.is_missing(of, text), self.cells[name])
            }
            _ => with_arguments(Self::WORDS.filled, &[text, by]),
        }
    }

    fn level(&mut self, levels: &LevelValues, of: &str) -> Result<String> {
        let is_text = self.formulas.holds_of(&levels.of) == CellKind::Text;
        let mut is_one = Vec::new();
        for (level, value) in &levels.levels {
            // `=` ignores case.
            let same = match level.parse::<f64>() {
                Ok(value) if !is_text => format!("{of}={}", number::<Self>(value)),
                _ => format!("EXACT({of},{})", literal(level)?),
            };
            is_one.push((same, *value));
        }
        let mut text = number::<Self>(levels.other);
        for (same, value) in is_one.into_iter().rev() {
            text = self.kept(format!("IF({same},{},{text})", number::<Self>(value)))?;
        }
        let is_missing = self.is_missing(&levels.of, of);
        let missing = number::<Self>(levels.missing);
        Ok(format!("IF({is_missing},{missing},{text})"))
    }

    fn between(&mut self, points: &[[f64; 2]], of: &str) -> Result<String> {
        if points.len() > POINTS {
            let what = format!("the target map, which has {} points: {POINTS} are the most", points.len());
            return Err(Language::Excel.refusal(&what));
        }
        let Some([_, last]) = points.last() else { return Ok(Self::WORDS.missing.into()) };
        let mut text = number::<Self>(*last);
        for pair in points.windows(2).rev() {
            let ([a, from], [b, to]) = (pair[0], pair[1]);
            let number = number::<Self>;
            let line = format!("{}+({of}-({}))/({})*({})", number(from), number(a), number(b - a), number(to - from));
            text = self.kept(format!("IF({of}<{},{line},{text})", number(b)))?;
        }
        let [first, value] = points[0];
        Ok(format!("IF({of}<{},{},{text})", number::<Self>(first), number::<Self>(value)))
    }

    fn kept(&mut self, text: String) -> Result<String> {
        if text.len() < LONG {
            return Ok(text);
        }
        let name = format!("({})", self.made.len() + 1);
        self.add(&name, text)
    }
}

/// Column letters of an index: A to Z, AA and so on.
fn letters(mut place: usize) -> String {
    let mut out = Vec::new();
    loop {
        out.push(char::from(b'A' + (place % 26) as u8));
        if place < 26 {
            return out.into_iter().rev().collect();
        }
        place = place / 26 - 1;
    }
}

/// Escapes a text that a spreadsheet would take for a formula.
fn inert(text: &str) -> String {
    let acts = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    if acts { format!("'{text}") } else { text.to_owned() }
}

/// CSV cell.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// String literal in a formula.
fn literal(text: &str) -> Result<String> {
    if text.chars().count() > MOST_OF_TEXT || text.contains('\0') {
        let what = format!("a text of {} characters in a formula", text.chars().count());
        return Err(Language::Excel.refusal(&format!("{what}; {MOST_OF_TEXT} are the most, and none of them 0")));
    }
    Ok(format!("\"{}\"", text.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_letters_of_a_sheet() {
        let found: Vec<String> = [0, 25, 26, 51, 52, 701, 702, 16_383].into_iter().map(letters).collect();
        assert_eq!(found, ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA", "XFD"]);
    }
}
