//! SQL export: a query of one table, in standard SQL except for date functions, which are SQLite's.

use crate::formulas::{ABOUT, CellKind, Formulas, InputColumn, LABEL, LabelRule, Language, NamedFormula};
use crate::infix::{NEUTRAL, Syntax, Writer, in_quotes};
use std::collections::HashMap;
use vaglio_core::{LevelValues, Result, join};

/// Largest number of points of [`Expression::Between`].
const POINTS: usize = 500;

/// Writes the query.
pub fn write(formulas: &Formulas) -> Result<String> {
    Language::Sql.refuse_nul(formulas)?;
    let mut sql = Writer::new(&SQL, formulas, HashMap::new());
    let mut from = "\"data\"".to_owned();
    for (place, steps) in stages(&formulas.steps).into_iter().enumerate() {
        let mut columns = String::new();
        for step in steps {
            columns += &format!(",\n  {} AS {}", sql.text(&step.formula)?, identifier(&step.name));
        }
        from = format!("(\nSELECT *{columns}\nFROM {from}\n) AS \"step_{}\"", place + 1);
    }
    let refused: String = formulas.inputs.iter().filter_map(unreadable).collect();
    let mut query = String::new();
    for output in &formulas.outputs {
        let formula = match (sql.text(&output.formula)?, &*refused) {
            (formula, "") => formula,
            (formula, _) => format!("CASE{refused}\n    ELSE {formula}\n  END"),
        };
        query += &format!(",\n  {formula} AS {}", identifier(&output.name));
    }
    query = format!("SELECT *{query}\nFROM {from}");
    if let Some(rule) = &formulas.label {
        let label = label(formulas, rule);
        query = format!("SELECT *,\n  {label} AS {}\nFROM (\n{query}\n) AS \"predicted\"", identifier(LABEL));
    }
    let reads = "It reads the table \"data\". A row that the model cannot take has no prediction: NULL.";
    Ok(format!("-- {ABOUT}\n-- {reads}\n{query}\n"))
}

/// Groups steps into stages; each stage reads only earlier ones and adds one level of nesting.
fn stages(steps: &[NamedFormula]) -> Vec<Vec<&NamedFormula>> {
    let mut stage_of: HashMap<&str, usize> = HashMap::new();
    let mut stages: Vec<Vec<&NamedFormula>> = Vec::new();
    for step in steps {
        let reads = step.formula.columns().into_iter().filter_map(|name| stage_of.get(name));
        let own = reads.max().map_or(0, |last| last + 1);
        stage_of.insert(&step.name, own);
        if stages.len() <= own {
            stages.push(Vec::new());
        }
        stages[own].push(step);
    }
    stages
}

fn label(formulas: &Formulas, rule: &LabelRule) -> String {
    let outputs: Vec<String> = formulas.outputs.iter().map(|output| identifier(&output.name)).collect();
    match rule {
        LabelRule::Threshold { at, above, below } => {
            let prediction = outputs.first().cloned().unwrap_or_default();
            format!(
                "CASE WHEN {prediction} > {at:e} THEN {} WHEN {prediction} <= {at:e} THEN {} END",
                literal(above),
                literal(below)
            )
        }
        LabelRule::Largest { within, labels } => {
            let whens = labels.iter().map(|(place, label)| {
                let own = &outputs[*place];
                let others = outputs.iter().filter(|other| *other != own);
                let largest = join(others.map(|other| format!("{own} + {within:e} >= {other}")), " AND ");
                let largest = if largest.is_empty() { format!("{own} IS NOT NULL") } else { largest };
                format!("\n    WHEN {largest} THEN {}", literal(label))
            });
            format!("CASE{}\n  END", whens.collect::<String>())
        }
    }
}

const SQL: Syntax = Syntax {
    missing: "NULL",
    column: identifier,
    functions: [
        "LN({0})",
        "LN(1.0 + ({0}))",
        "EXP({0})",
        "(EXP({0}) - 1.0)",
        "SIN({0})",
        "COS({0})",
        "TANH({0})",
        "FLOOR({0})",
    ],
    date_parts: &[
        "(CAST(STRFTIME('%s', {0}) AS REAL) + CAST(STRFTIME('%f', {0}) AS REAL) - CAST(STRFTIME('%S', {0}) AS REAL))",
        "((CAST(STRFTIME('%s', {0}) AS REAL) + CAST(STRFTIME('%f', {0}) AS REAL) - CAST(STRFTIME('%S', {0}) AS REAL)) / 86400.0)",
        "CAST(STRFTIME('%Y', {0}) AS REAL)",
        "CAST(STRFTIME('%m', {0}) AS REAL)",
        "CAST(STRFTIME('%d', {0}) AS REAL)",
        // Weekdays count from Sunday, 0.
        "((CAST(STRFTIME('%w', {0}) AS INTEGER) + 6) % 7 + 1.0)",
        "CAST(STRFTIME('%j', {0}) AS REAL)",
        "CAST(STRFTIME('%H', {0}) AS REAL)",
        "CAST(STRFTIME('%M', {0}) AS REAL)",
    ],
    is_missing: ["{0} IS NULL", "{0} IS NULL", "{0} IS NULL OR {0} = ''"],
    filled: Some("COALESCE({0}, {1})"),
    choice: "CASE WHEN {0} THEN {1} ELSE {2} END",
    level,
    between,
    ..NEUTRAL
};

fn level(sql: &mut Writer<'_>, levels: &LevelValues, operand: &str) -> Result<String> {
    let (is_missing, _) = sql.missing_test(&levels.of, operand);
    let mut text = format!("CASE WHEN {is_missing} THEN {}", sql.number(levels.missing));
    for (level, value) in &levels.levels {
        let key = sql.level_key(&levels.of, level, literal);
        text += &format!(" WHEN {operand} = {key} THEN {}", sql.number(*value));
    }
    Ok(format!("{text} ELSE {} END", sql.number(levels.other)))
}

fn between(sql: &mut Writer<'_>, points: &[[f64; 2]], operand: &str) -> Result<String> {
    let ([[first, value], ..], [.., [_, last]]) = (points, points) else { return Ok(sql.number(f64::NAN)) };
    Language::Sql.refuse_points(points, POINTS)?;
    let mut text = format!("CASE WHEN {operand} IS NULL THEN NULL WHEN {operand} < {first:?} THEN {value:?}");
    for pair in points.windows(2) {
        let ([a, from], [b, to]) = (pair[0], pair[1]);
        text += &format!(
            " WHEN {operand} < {b:?} THEN {from:?} + ({operand} - ({a:?})) / ({:?}) * ({:?})",
            b - a,
            to - from
        );
    }
    Ok(format!("{text} ELSE {last:?} END"))
}

/// Case of a cell that is neither missing nor of the input's type. SQLite allows such cells, and its dates are text.
fn unreadable(input: &InputColumn) -> Option<String> {
    let name = identifier(&input.name);
    let condition = match input.holds {
        CellKind::Number => format!("{name} <> CAST({name} AS DOUBLE PRECISION)"),
        CellKind::Text => return None,
        CellKind::Date => {
            let day = format!("SUBSTR({name}, 1, 10)");
            format!("{name} <> '' AND (STRFTIME('%s', {name}) IS NULL OR {day} <> DATE({day}, '+0 days'))")
        }
    };
    Some(format!("\n    WHEN {condition} THEN NULL"))
}

fn identifier(name: &str) -> String {
    in_quotes(name, '"')
}

fn literal(text: &str) -> String {
    in_quotes(text, '\'')
}
