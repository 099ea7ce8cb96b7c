//! PMML 4.4 export: every formula is a derived field, the first prediction is that of a regression model, and further
//! ones and the label are output fields.

use crate::calendar::{by_arithmetic, by_choices};
use crate::formulas::{CellKind, Formulas, InputColumn, LABEL, LabelRule, Language};
use vaglio_core::{Condition, Expression, LevelValues, Result};

/// Largest number of points of [`Expression::Between`].
const POINTS: usize = 2000;

struct Pmml<'f> {
    formulas: &'f Formulas,
    /// Derived fields that the next formula needs.
    before: String,
    count: usize,
}

/// Writes the document. Dates are read as seconds since the beginning of 1970.
pub(crate) fn write(formulas: &Formulas) -> Result<String> {
    if let Some(text) = formulas.texts().find(|text| text.chars().any(|c| c.is_control() && !"\t\n\r".contains(c))) {
        return Err(Language::Pmml.refusal(&format!("the text {text:?}, since XML has none of its characters")));
    }
    let mut pmml = Pmml { formulas, before: String::new(), count: 0 };
    let mut derived = String::new();
    for step in &formulas.steps {
        derived += &pmml.derived(&step.name, &step.formula)?;
    }
    let computed = |k: usize| format!("vaglio:prediction {}", k + 1);
    for (k, output) in formulas.outputs.iter().enumerate() {
        derived += &pmml.derived(&computed(k), &output.formula)?;
    }
    let field = |input: &InputColumn| {
        let holds =
            if input.holds == CellKind::Text { "optype=\"categorical\" dataType=\"string\"" } else { CONTINUOUS };
        format!("    <DataField name={} {holds}/>\n", quoted(&input.name))
    };
    let fields: String = formulas.inputs.iter().map(field).collect();
    let mined = |input: &InputColumn| format!("      <MiningField name={}/>\n", quoted(&input.name));
    let mined: String = formulas.inputs.iter().map(mined).collect();
    let mut outputs = String::new();
    for (k, output) in formulas.outputs.iter().enumerate() {
        let name = quoted(&output.name);
        let field = format!("<FieldRef field={}/>", quoted(&computed(k)));
        outputs += &format!(
            "      <OutputField name={name} feature=\"transformedValue\" {CONTINUOUS}>{field}</OutputField>\n"
        );
    }
    if let Some(rule) = &formulas.label {
        let label = label(rule, &computed);
        let name = quoted(LABEL);
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
        quoted(&formulas.about),
        env!("CARGO_PKG_VERSION"),
        quoted(&computed(0))
    ))
}

const CONTINUOUS: &str = "optype=\"continuous\" dataType=\"double\"";

/// Label as an expression of the predictions.
fn label(rule: &LabelRule, computed: &dyn Fn(usize) -> String) -> String {
    let value = |k: usize| format!("<FieldRef field={}/>", quoted(&computed(k)));
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
    format!("<Constant dataType=\"string\">{}</Constant>", escaped(text))
}

fn call(function: &str, parts: &[String]) -> String {
    format!("<Apply function=\"{function}\">{}</Apply>", parts.concat())
}

impl Pmml<'_> {
    /// Derived field, preceded by those that it needs.
    fn derived(&mut self, name: &str, formula: &Expression) -> Result<String> {
        let body = self.text(formula)?;
        let before = std::mem::take(&mut self.before);
        Ok(format!("{before}    <DerivedField name={} {CONTINUOUS}>{body}</DerivedField>\n", quoted(name)))
    }

    fn all(&mut self, parts: &[Expression]) -> Result<Vec<String>> {
        parts.iter().map(|part| self.text(part)).collect()
    }

    fn text(&mut self, expression: &Expression) -> Result<String> {
        Ok(match expression {
            Expression::Column(name) => format!("<FieldRef field={}/>", quoted(name)),
            Expression::Number(number) if number.is_nan() => "<Constant missing=\"true\"/>".into(),
            Expression::Number(number) => constant(*number),
            Expression::Text(_) => "<Constant missing=\"true\"/>".into(),
            Expression::Sum(terms) => self.folded("+", terms, 0.0)?,
            Expression::Product(factors) => self.folded("*", factors, 1.0)?,
            Expression::Quotient(of) => call("/", &self.all(&**of)?),
            Expression::Apply(function, of) => call(FUNCTIONS[*function as usize], &[self.text(of)?]),
            Expression::If(condition, values) => {
                let condition = match condition {
                    Condition::Missing(of) => call("isMissing", &[self.text(of)?]),
                    Condition::Below(of) => call("lessThan", &self.all(&**of)?),
                };
                call("if", &[condition, self.text(&values[0])?, self.text(&values[1])?])
            }
            Expression::Filled(of) => {
                let [value, by] = [self.text(&of[0])?, self.text(&of[1])?];
                call("if", &[call("isMissing", std::slice::from_ref(&value)), by, value])
            }
            Expression::Level(levels) => self.level(levels)?,
            Expression::DatePart(part, of) => {
                self.count += 1;
                let prefix = format!("vaglio:date {}", self.count);
                let (columns, value) = by_arithmetic(*part, (**of).clone(), &prefix);
                for (name, expression) in columns {
                    let field = self.derived(&name, &expression)?;
                    self.before += &field;
                }
                self.text(&value)?
            }
            Expression::Between(points, of) => self.between(points, of)?,
        })
    }

    /// Nested applications of a binary function, in order.
    fn folded(&mut self, function: &str, parts: &[Expression], neutral: f64) -> Result<String> {
        let parts = self.all(parts)?;
        // Balanced nesting keeps parsers' recursion shallow.
        fn halves(function: &str, parts: &[String]) -> String {
            match parts {
                [one] => one.clone(),
                _ => {
                    let (left, right) = parts.split_at(parts.len() / 2);
                    call(function, &[halves(function, left), halves(function, right)])
                }
            }
        }
        Ok(if parts.is_empty() { constant(neutral) } else { halves(function, &parts) })
    }

    fn level(&mut self, levels: &LevelValues) -> Result<String> {
        if self.formulas.holds_of(&levels.of) != CellKind::Text {
            return self.text(&by_choices(Language::Pmml, levels)?);
        }
        let Expression::Column(name) = &levels.of else {
            return Err(Language::Pmml.refusal("levels of text that is computed"));
        };
        let named =
            |word: &str, value: f64| if value.is_nan() { String::new() } else { format!(" {word}=\"{value:?}\"") };
        let rows = levels.levels.iter().filter(|(_, value)| !value.is_nan());
        let row = |(level, value): &(String, f64)| {
            format!("<row><level>{}</level><value>{value:?}</value></row>", escaped(level))
        };
        let rows: String = rows.map(row).collect();
        Ok(format!(
            "<MapValues outputColumn=\"value\" dataType=\"double\"{}{}><FieldColumnPair field={} column=\"level\"/>\
             <InlineTable>{rows}</InlineTable></MapValues>",
            named("defaultValue", levels.other),
            named("mapMissingTo", levels.missing),
            quoted(name)
        ))
    }

    fn between(&mut self, points: &[[f64; 2]], of: &Expression) -> Result<String> {
        if points.len() > POINTS {
            let what = format!("the target map, which has {} points: {POINTS} are the most", points.len());
            return Err(Language::Pmml.refusal(&what));
        }
        self.count += 1;
        let field = format!("vaglio:mapped {}", self.count);
        let mapped = self.derived(&field, of)?;
        self.before += &mapped;
        let point = |[x, y]: &[f64; 2]| format!("<LinearNorm orig=\"{x:?}\" norm=\"{y:?}\"/>");
        // One point is a horizontal line through two.
        let mut points = points.to_vec();
        if let [[x, y]] = points[..] {
            points.push([x + 1.0, y]);
        }
        let points: String = points.iter().map(point).collect();
        let lines =
            format!("<NormContinuous field={} outliers=\"asExtremeValues\">{points}</NormContinuous>", quoted(&field));
        self.count += 1;
        let name = quoted(&format!("vaglio:mapped {}", self.count));
        self.before += &format!("    <DerivedField name={name} {CONTINUOUS}>{lines}</DerivedField>\n");
        Ok(format!("<FieldRef field={name}/>"))
    }
}

/// Names of all functions, in the order of `Function`.
const FUNCTIONS: [&str; 8] = ["ln", "ln1p", "exp", "expm1", "sin", "cos", "tanh", "floor"];

fn escaped(text: &str) -> String {
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

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}
