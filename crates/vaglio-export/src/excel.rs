//! Spreadsheet export: a header and a row of formulas, as CSV.

use crate::formulas::{CellKind, Formulas, InputColumn, LABEL, LabelRule, Language};
use crate::infix::{NEUTRAL, Syntax, Writer, in_quotes};
use vaglio_core::{LevelValues, Result, join};

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
pub fn write(formulas: &Formulas) -> Result<String> {
    let cell = |(place, input): (usize, &InputColumn)| (input.name.clone(), format!("{}2", letters(place)));
    let cells = formulas.inputs.iter().enumerate().map(cell).collect();
    let mut excel = Writer::new(&EXCEL, formulas, cells);
    let mut outputs = Vec::new();
    for named in formulas.steps.iter().chain(&formulas.outputs) {
        let formula = excel.text(&named.formula)?;
        let cell = add(&mut excel, &named.name, formula)?;
        excel.names.insert(named.name.clone(), cell.clone());
        outputs.push(cell);
    }
    if let Some(rule) = &formulas.label {
        let label = label(&mut excel, rule, &outputs[formulas.steps.len()..])?;
        add(&mut excel, LABEL, label)?;
    }
    let names = formulas.inputs.iter().map(|input| &input.name).chain(excel.made.iter().map(|(name, _)| name));
    let header = join(names.map(|name| in_quotes(&inert(name), '"')), ",");
    let blanks = formulas.inputs.iter().map(|_| String::new());
    let row = blanks.chain(excel.made.iter().map(|(_, text)| in_quotes(&format!("={text}"), '"')));
    Ok(format!("{header}\n{}\n", join(row, ",")))
}

/// Adds a column and returns its cell.
fn add(excel: &mut Writer<'_>, name: &str, formula: String) -> Result<String> {
    if formula.len() >= MOST {
        let what = format!("a formula of {} characters: {MOST} are the most", formula.len());
        return Err(Language::Excel.refusal(&what));
    }
    let place = excel.formulas.inputs.len() + excel.made.len();
    if place >= COLUMNS {
        return Err(Language::Excel.refusal(&format!("more than {COLUMNS} columns")));
    }
    excel.made.push((name.to_owned(), formula));
    Ok(format!("{}2", letters(place)))
}

fn label(excel: &mut Writer<'_>, rule: &LabelRule, cells: &[String]) -> Result<String> {
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
                text = excel.store_text(format!("IF({cell}+{within:E}>={largest},{},{text})", literal(label)?))?;
            }
            Ok(text)
        }
    }
}

const EXCEL: Syntax = Syntax {
    number: |number| format!("{number:?}").replace('e', "E"),
    missing: "NA()",
    functions: ["LN({0})", "LN(1+({0}))", "EXP({0})", "(EXP({0})-1)", "SIN({0})", "COS({0})", "TANH({0})", "INT({0})"],
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
    // Excel would treat an empty cell as 0.
    read: "IF({0}=\"\",NA(),{0})",
    is_missing: ["ISNA({0})", "{0}=\"\"", "{0}=\"\""],
    choice: "IF({0},{1},{2})",
    level,
    between,
    store_text: |excel, text| {
        let name = format!("({})", excel.made.len() + 1);
        if text.len() < LONG { Ok(text) } else { add(excel, &name, text) }
    },
    ..NEUTRAL
};

fn level(excel: &mut Writer<'_>, levels: &LevelValues, input: &str) -> Result<String> {
    let is_text = excel.formulas.cell_kind(&levels.of) == CellKind::Text;
    let mut text = excel.number(levels.other);
    for (level, value) in levels.levels.iter().rev() {
        // `=` ignores case.
        let same = match level.parse::<f64>() {
            Ok(number) if !is_text => format!("{input}={}", excel.number(number)),
            _ => format!("EXACT({input},{})", literal(level)?),
        };
        text = excel.store_text(format!("IF({same},{},{text})", excel.number(*value)))?;
    }
    let (is_missing, _) = excel.missing_test(&levels.of, input);
    Ok(format!("IF({is_missing},{},{text})", excel.number(levels.missing)))
}

fn between(excel: &mut Writer<'_>, points: &[[f64; 2]], input: &str) -> Result<String> {
    let ([[first, value], ..], [.., [_, last]]) = (points, points) else { return Ok(excel.number(f64::NAN)) };
    Language::Excel.refuse_points(points, POINTS)?;
    let number = EXCEL.number;
    let mut text = number(*last);
    for pair in points.windows(2).rev() {
        let ([a, from], [b, to]) = (pair[0], pair[1]);
        let line = format!("{}+({input}-({}))/({})*({})", number(from), number(a), number(b - a), number(to - from));
        text = excel.store_text(format!("IF({input}<{},{line},{text})", number(b)))?;
    }
    Ok(format!("IF({input}<{},{},{text})", number(*first), number(*value)))
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

/// String literal in a formula.
fn literal(text: &str) -> Result<String> {
    if text.chars().count() > MOST_OF_TEXT || text.contains('\0') {
        let what = format!("a text of {} characters in a formula", text.chars().count());
        return Err(Language::Excel.refusal(&format!("{what}; {MOST_OF_TEXT} are the most, and none of them 0")));
    }
    Ok(in_quotes(text, '"'))
}
