//! R export: a function of a data frame, in base R.

use crate::formulas::{ABOUT, Formulas, LABEL, LabelRule, Language};
use crate::identifiers::identifiers;
use crate::infix::{NEUTRAL, Syntax, Writer, ascii_literal};
use vaglio_core::{Result, join};

/// Reserved words, and names that the function uses.
const RESERVED: &str = "if else repeat while function for next break true false null inf nan na in c data exp expm1 log log1p sin cos \
    tanh floor choose level filled missing date_part refused checked number text date approx predictions rows names match is t f";

/// Helper functions inside the function.
const HELPERS: &str = include_str!("helpers.R");

/// Writes the file with the function.
pub fn write(formulas: &Formulas) -> Result<String> {
    Language::R.refuse_nul(formulas)?;
    let mut r = Writer::new(&R, formulas, identifiers(formulas, RESERVED));
    let mut body = String::from(HELPERS);
    body += &r.statements("  {0} <- {1}\n", ["number({0})", "text({0})", "date({0})"], quote)?;
    body += "  predictions <- list(\n";
    let mut columns = Vec::new();
    for output in &formulas.outputs {
        columns.push(format!("    replace(rep_len({}, rows), refused, NA)", r.text(&output.formula)?));
    }
    let names = join(formulas.outputs.iter().map(|output| quote(&output.name)), ", ");
    body += &format!("{}\n  )\n  names(predictions) <- c({names})\n", columns.join(",\n"));
    body += &label(formulas);
    body += "  as.data.frame(predictions, check.names = FALSE, optional = TRUE, stringsAsFactors = FALSE)\n";
    let takes = "predict_rows(data) takes a data frame. A row that the model cannot take has no prediction: NA.";
    Ok(format!("# {ABOUT}\n# {takes}\npredict_rows <- function(data) suppressWarnings({{\n{body}}})\n"))
}

fn label(formulas: &Formulas) -> String {
    let rule = match &formulas.label {
        None => return String::new(),
        Some(LabelRule::Threshold { at, above, below }) => {
            format!("ifelse(predictions[[1]] > {at:e}, {}, {})", quote(above), quote(below))
        }
        Some(LabelRule::Largest { within, labels }) => {
            let places = join(labels.iter().map(|(place, _)| place + 1), ", ");
            let labels = join(labels.iter().map(|(_, label)| quote(label)), ", ");
            let values = format!("matrix(unlist(predictions[c({places})]), nrow = rows)");
            let first = format!("function(row) if (anyNA(row)) NA else which(row + {within:e} >= max(row))[1]");
            format!("c({labels})[apply({values}, 1, {first})]")
        }
    };
    format!("  predictions[[{}]] <- {rule}\n", quote(LABEL))
}

const R: Syntax = Syntax {
    missing: "NA_real_",
    functions: ["log({0})", "log1p({0})", "exp({0})", "expm1({0})", "sin({0})", "cos({0})", "tanh({0})", "floor({0})"],
    date_parts: &["date_part({0}, \"{1}\")"],
    is_missing: ["is.na({0})"; 3],
    filled: Some("filled({0}, {1})"),
    choice: "choose({0}, {1}, {2})",
    level: |r, levels, operand| {
        let listed =
            |text: &dyn Fn(&(String, f64)) -> String| format!("c({})", join(levels.levels.iter().map(text), ", "));
        let keys = listed(&|(level, _)| r.level_key(&levels.of, level, quote));
        let values = listed(&|(_, value)| r.number(*value));
        let missing = r.number(levels.missing);
        let other = r.number(levels.other);
        Ok(format!("level({operand}, {keys}, {values}, {missing}, {other})"))
    },
    between: |r, points, operand| match points {
        [[_, only]] => Ok(format!("choose(is.na({operand}), NA_real_, {})", r.number(*only))),
        _ => {
            let list = |axis| r.coordinates(points, axis);
            Ok(format!("approx(c({}), c({}), {operand}, rule = 2)$y", list(0), list(1)))
        }
    },
    ..NEUTRAL
};

/// ASCII string literal.
fn quote(text: &str) -> String {
    ascii_literal(text, |code| format!("\\u{code:04x}"))
}
