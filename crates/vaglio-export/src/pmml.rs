//! PMML 4.4 export: every formula is a derived field, the first prediction is that of a regression model, and further
//! ones and the label are output fields.

use crate::calendar::by_choices;
use crate::formulas::{ABOUT, CellKind, Formulas, InputColumn, LABEL, LabelRule, Language, NamedFormula};
use crate::infix::{NEUTRAL, Syntax, Writer};
use std::collections::HashMap;
use vaglio_core::{Expression, LevelValues, Result};

/// Largest number of points of [`Expression::Between`].
const POINTS: usize = 2000;

/// Writes the document. Dates are read as seconds since the beginning of 1970.
pub fn write(formulas: &Formulas) -> Result<String> {
    if let Some(text) = formulas.texts().find(|text| text.chars().any(|c| c.is_control() && !"\t\n\r".contains(c))) {
        return Err(Language::Pmml.refusal(&format!("the text {text:?}, since XML has none of its characters")));
    }
    let mut pmml = Writer::new(&PMML, formulas, HashMap::new());
    for step in &formulas.steps {
        pmml.make(step.name.clone(), &step.formula)?;
    }
    let computed = |k: usize| format!("vaglio:prediction {}", k + 1);
    for (k, output) in formulas.outputs.iter().enumerate() {
        pmml.make(computed(k), &output.formula)?;
    }
    let derived = |(name, body): &(String, String)| {
        format!("    <DerivedField name={} {CONTINUOUS}>{body}</DerivedField>\n", quote(name))
    };
    let derived: String = pmml.made.iter().map(derived).collect();
    let field = |input: &InputColumn| {
        let holds =
            if input.holds == CellKind::Text { "optype=\"categorical\" dataType=\"string\"" } else { CONTINUOUS };
        format!("    <DataField name={} {holds}/>\n", quote(&input.name))
    };
    let fields: String = formulas.inputs.iter().map(field).collect();
    let mined = |input: &InputColumn| format!("      <MiningField name={}/>\n", quote(&input.name));
    let mined: String = formulas.inputs.iter().map(mined).collect();
    let output = |(k, output): (usize, &NamedFormula)| {
        let name = quote(&output.name);
        let field = reference(&computed(k));
        format!("      <OutputField name={name} feature=\"transformedValue\" {CONTINUOUS}>{field}</OutputField>\n")
    };
    let mut outputs: String = formulas.outputs.iter().enumerate().map(output).collect();
    if let Some(rule) = &formulas.label {
        let label = label(rule, &computed);
        let name = quote(LABEL);
        outputs += &format!(
            "      <OutputField name={name} feature=\"transformedValue\" optype=\"categorical\" dataType=\"string\">{label}</OutputField>\n"
        );
    }
    Ok(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<PMML xmlns=\"http://www.dmg.org/PMML-4_4\" version=\"4.4\">\n  \
         <Header description={}><Application name=\"vaglio\" version=\"{}\"/></Header>\n  <DataDictionary>\n{fields}  \
         </DataDictionary>\n  <TransformationDictionary>\n{derived}  </TransformationDictionary>\n  <RegressionModel \
         functionName=\"regression\">\n    <MiningSchema>\n{mined}    </MiningSchema>\n    <Output>\n{outputs}    \
         </Output>\n    <RegressionTable intercept=\"0\"><NumericPredictor name={} coefficient=\"1\"/></RegressionTable>\n  \
         </RegressionModel>\n</PMML>\n",
        quote(ABOUT),
        env!("CARGO_PKG_VERSION"),
        quote(&computed(0))
    ))
}

const CONTINUOUS: &str = "optype=\"continuous\" dataType=\"double\"";

/// Label as an expression of the predictions.
fn label(rule: &LabelRule, computed: &dyn Fn(usize) -> String) -> String {
    let value = |k: usize| reference(&computed(k));
    match rule {
        LabelRule::Threshold { at, above, below } => {
            let is_above = call("greaterThan", &[value(0), constant(*at)]);
            call("if", &[is_above, text(above), text(below)])
        }
        LabelRule::Largest { within, labels } => {
            let all: String = (0..labels.len()).map(value).collect();
            let largest = call("max", &[all]);
            let mut rest = text(labels.last().map_or("", |(_, label)| label));
            for (place, label) in labels.iter().rev().skip(1) {
                let own = call("+", &[value(*place), constant(*within)]);
                let is_largest = call("greaterOrEqual", &[own, largest.clone()]);
                rest = call("if", &[is_largest, text(label), rest]);
            }
            rest
        }
    }
}

fn constant(number: f64) -> String {
    format!("<Constant dataType=\"double\">{number:?}</Constant>")
}

fn text(text: &str) -> String {
    format!("<Constant dataType=\"string\">{}</Constant>", escape(text))
}

fn call(function: &str, parts: &[String]) -> String {
    format!("<Apply function=\"{function}\">{}</Apply>", parts.concat())
}

fn reference(name: &str) -> String {
    format!("<FieldRef field={}/>", quote(name))
}

const PMML: Syntax = Syntax {
    number: constant,
    missing: "<Constant missing=\"true\"/>",
    column: reference,
    calls: Some([
        "<Apply function=\"+\">{0}{1}</Apply>",
        "<Apply function=\"*\">{0}{1}</Apply>",
        "<Apply function=\"/\">{0}{1}</Apply>",
        "<Apply function=\"lessThan\">{0}{1}</Apply>",
    ]),
    functions: [
        "<Apply function=\"ln\">{0}</Apply>",
        "<Apply function=\"ln1p\">{0}</Apply>",
        "<Apply function=\"exp\">{0}</Apply>",
        "<Apply function=\"expm1\">{0}</Apply>",
        "<Apply function=\"sin\">{0}</Apply>",
        "<Apply function=\"cos\">{0}</Apply>",
        "<Apply function=\"tanh\">{0}</Apply>",
        "<Apply function=\"floor\">{0}</Apply>",
    ],
    date_parts: &[],
    is_missing: ["<Apply function=\"isMissing\">{0}</Apply>"; 3],
    choice: "<Apply function=\"if\">{0}{1}{2}</Apply>",
    level,
    between,
    ..NEUTRAL
};

fn level(pmml: &mut Writer<'_>, levels: &LevelValues, _: &str) -> Result<String> {
    if pmml.formulas.cell_kind(&levels.of) != CellKind::Text {
        return pmml.text(&by_choices(levels));
    }
    let Expression::Column(name) = &levels.of else {
        return Err(Language::Pmml.refusal("levels of text that is computed"));
    };
    let named = |word: &str, value: f64| if value.is_nan() { String::new() } else { format!(" {word}=\"{value:?}\"") };
    let rows = levels.levels.iter().filter(|(_, value)| !value.is_nan());
    let row =
        |(level, value): &(String, f64)| format!("<row><level>{}</level><value>{value:?}</value></row>", escape(level));
    let rows: String = rows.map(row).collect();
    Ok(format!(
        "<MapValues outputColumn=\"value\" dataType=\"double\"{}{}><FieldColumnPair field={} column=\"level\"/>\
         <InlineTable>{rows}</InlineTable></MapValues>",
        named("defaultValue", levels.other),
        named("mapMissingTo", levels.missing),
        quote(name)
    ))
}

fn between(pmml: &mut Writer<'_>, points: &[[f64; 2]], operand: &str) -> Result<String> {
    Language::Pmml.refuse_points(points, POINTS)?;
    let mut make = |body: String| {
        let name = format!("vaglio:mapped {}", pmml.made.len() + 1);
        pmml.made.push((name.clone(), body));
        name
    };
    let field = quote(&make(operand.to_owned()));
    let point = |[x, y]: &[f64; 2]| format!("<LinearNorm orig=\"{x:?}\" norm=\"{y:?}\"/>");
    // One point is a horizontal line through two.
    let mut points = points.to_vec();
    if let [[x, y]] = points[..] {
        points.push([x + 1.0, y]);
    }
    let points: String = points.iter().map(point).collect();
    let lines = format!("<NormContinuous field={field} outliers=\"asExtremeValues\">{points}</NormContinuous>");
    Ok(reference(&make(lines)))
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\t' | '\n' | '\r' => out += &format!("&#{};", c as u32),
            c => out.push(c),
        }
    }
    out
}

fn quote(text: &str) -> String {
    format!("\"{}\"", escape(text))
}
