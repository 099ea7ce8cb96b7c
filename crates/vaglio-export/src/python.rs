//! Python export: a module for Python 3.8 and later, with the standard library only.

use crate::formulas::{ABOUT, Formulas, LABEL, LabelRule};
use crate::identifiers::identifiers;
use crate::infix::{NEUTRAL, Syntax, Writer, ascii_literal};
use vaglio_core::{Result, join};

/// Reserved words, and names that the module uses.
const RESERVED: &str = "all and as assert async await break class continue def del elif else except false finally for from global if \
    import in is lambda none nonlocal not or pass raise return true try while with yield math datetime bisect row \
    predict columns predictions label float str list dict max values value prediction";

/// Helper functions of the module, two empty lines apart. Callers stand before what they call.
const HELPERS: &str = include_str!("helpers.py");

/// Writes the module.
pub fn write(formulas: &Formulas) -> Result<String> {
    let mut python = Writer::new(&PYTHON, formulas, identifiers(formulas, RESERVED));
    let reads = ["_number(row, {0})", "_text(row, {0})", "_date(row, {0})"];
    let mut body = python.statements("    {0} = {1}\n", reads, quote)?;
    body += "    predictions = {\n";
    for output in &formulas.outputs {
        body += &format!("        {}: {},\n", quote(&output.name), python.text(&output.formula)?);
    }
    body += "    }\n    if not all(math.isfinite(value) for value in predictions.values()):\n        raise ValueError(\"no prediction: a cell is missing, or holds what the model cannot take\")\n";
    body += &label(formulas);
    body += "    return predictions\n";
    Ok(module(formulas, &body))
}

/// Code that adds the label to the predictions.
fn label(formulas: &Formulas) -> String {
    let first = formulas.outputs.first().map(|output| quote(&output.name)).unwrap_or_default();
    let rule = match &formulas.label {
        None => return String::new(),
        Some(LabelRule::Threshold { at, above, below }) => {
            format!("{} if predictions[{first}] > {at:e} else {}", quote(above), quote(below))
        }
        Some(LabelRule::Largest { within, labels }) => {
            let pair = |(place, label): &(usize, String)| {
                format!("({}, {})", quote(&formulas.outputs[*place].name), quote(label))
            };
            let pairs = join(labels.iter().map(pair), ", ");
            let is_largest = format!("predictions[name] + {within:e} >= max(predictions.values())");
            format!("next(label for name, label in [{pairs}] if {is_largest})")
        }
    };
    format!("    predictions[{}] = {rule}\n", quote(LABEL))
}

fn module(formulas: &Formulas, body: &str) -> String {
    let mut used = body.to_owned();
    let mut helpers = String::new();
    for helper in HELPERS.trim_end().split("\n\n\n") {
        let call = helper.trim_start_matches("def ").split_inclusive('(').next().unwrap_or_default();
        if used.contains(call) {
            used += helper;
            helpers += &format!("\n\n{helper}\n");
        }
    }
    let imports: String = [("bisect.", "bisect"), ("datetime.", "datetime"), ("", "math"), ("re.fullmatch", "re")]
        .iter()
        .filter(|(call, _)| used.contains(call))
        .map(|(_, name)| format!("import {name}\n"))
        .collect();
    let columns = join(formulas.inputs.iter().map(|input| quote(&input.name)), ", ");
    format!(
        "# {ABOUT}\n# predict(row) takes a mapping from names of columns to cells; None, \"\" and NaN are missing cells.\n\
         {imports}\nCOLUMNS = [{columns}]\n{helpers}\n\ndef predict(row):\n{body}"
    )
}

const PYTHON: Syntax = Syntax {
    missing: "math.nan",
    functions: [
        "_ln({0})",
        "_ln1p({0})",
        "math.exp({0})",
        "math.expm1({0})",
        "math.sin({0})",
        "math.cos({0})",
        "math.tanh({0})",
        "math.floor({0})",
    ],
    date_parts: &["_part({0}, \"{1}\")"],
    is_missing: ["_missing({0})"; 3],
    filled: Some("_filled({0}, {1})"),
    choice: "({1} if {0} else {2})",
    long_sum: Some("math.fsum([{0}\n        ])"),
    level: |python, levels, operand| {
        let pair = |(level, value): &(String, f64)| {
            format!("{}: {}", python.level_key(&levels.of, level, quote), python.number(*value))
        };
        let pairs = join(levels.levels.iter().map(pair), ", ");
        let missing = python.number(levels.missing);
        let other = python.number(levels.other);
        Ok(format!("_level({operand}, {{{pairs}}}, {missing}, {other})"))
    },
    between: |python, points, operand| {
        let list = |axis| python.coordinates(points, axis);
        Ok(format!("_between({operand}, [{}], [{}])", list(0), list(1)))
    },
    ..NEUTRAL
};

/// ASCII string literal.
fn quote(text: &str) -> String {
    ascii_literal(text, |code| if code < 0x100 { format!("\\x{code:02x}") } else { format!("\\u{code:04x}") })
}
