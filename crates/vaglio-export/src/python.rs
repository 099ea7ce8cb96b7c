//! Python export: a module for Python 3.8 and later, with the standard library only.

use crate::formulas::{ABOUT, Formulas, LABEL, LabelRule};
use crate::identifiers::identifiers;
use crate::infix::{NEUTRAL, Syntax, Writer, ascii_literal};
use vaglio_core::{Result, join};

/// Reserved words, and names that the module uses.
const RESERVED: &str = "all and as assert async await break class continue def del elif else except false finally for from global if \
    import in is lambda none nonlocal not or pass raise return true try while with yield math datetime bisect row \
    predict columns predictions label float str list dict max values value prediction";

/// Helper functions of the module, each with the text that shows a call. Callers stand before what they call.
const HELPERS: &[(&str, &str)] = &[
    (
        "_number(",
        "def _number(row, name):\n    value = row.get(name)\n    return math.nan if value is None or value == \"\" else float(value)\n",
    ),
    (
        "_text(",
        "def _text(row, name):\n    value = row.get(name)\n    return None if value is None or value == \"\" or value != value else str(value)\n",
    ),
    (
        "_date(",
        "def _date(row, name):\n    value = row.get(name)\n    if value is None or value == \"\" or value != value:\n        return None\n    if isinstance(value, str):\n        return _moment(value)\n    if not isinstance(value, datetime.datetime):\n        value = datetime.datetime(value.year, value.month, value.day)\n    return value.replace(tzinfo=None) - (value.utcoffset() or datetime.timedelta(0))\n",
    ),
    (
        "_moment(",
        r#"def _moment(text):
    form = r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d+))?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?"
    found = re.fullmatch(form, text.strip())
    if found is None:
        raise ValueError("no date as in ISO 8601: " + repr(text))
    day, clock, second, fraction, zone = found.groups()
    whole = day + "T" + (clock or "00:00") + (second or ":00") + "." + (fraction or "")[:6].ljust(6, "0")
    moment = datetime.datetime.fromisoformat(whole)
    if zone in (None, "Z"):
        return moment
    digits = zone[1:].replace(":", "").ljust(4, "0")
    ahead = datetime.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return moment + ahead if zone[0] == "-" else moment - ahead
"#,
    ),
    ("_filled(", "def _filled(value, by):\n    return by if _missing(value) else value\n"),
    ("_ln(", "def _ln(value):\n    return math.log(value) if value > 0 else math.nan\n"),
    ("_ln1p(", "def _ln1p(value):\n    return math.log1p(value) if value > -1 else math.nan\n"),
    (
        "_level(",
        "def _level(value, levels, missing, other):\n    return missing if _missing(value) else levels.get(value, other)\n",
    ),
    ("_missing(", "def _missing(value):\n    return value is None or value != value\n"),
    (
        "_part(",
        "def _part(date, part):\n    if date is None:\n        return math.nan\n    since = date - datetime.datetime(1970, 1, 1)\n    seconds = since.days * 86400 + since.seconds + since.microseconds / 1e6\n    return float({\n        \"seconds\": seconds,\n        \"days\": seconds / 86400,\n        \"year\": date.year,\n        \"month\": date.month,\n        \"day\": date.day,\n        \"weekday\": date.isoweekday(),\n        \"day_of_year\": date.timetuple().tm_yday,\n        \"hour\": date.hour,\n        \"minute\": date.minute,\n    }[part])\n",
    ),
    (
        "_between(",
        "def _between(value, x, y):\n    if math.isnan(value):\n        return value\n    after = bisect.bisect_right(x, value)\n    if after == 0 or after == len(x):\n        return y[0] if after == 0 else y[-1]\n    share = (value - x[after - 1]) / (x[after] - x[after - 1])\n    return y[after - 1] + share * (y[after] - y[after - 1])\n",
    ),
];

/// Writes the module.
pub(crate) fn write(formulas: &Formulas) -> Result<String> {
    let mut python = Writer::new(&PYTHON, formulas, identifiers(formulas, RESERVED));
    let reads = ["_number(row, {0})", "_text(row, {0})", "_date(row, {0})"];
    let mut body = python.statements("    {0} = {1}\n", reads, quoted)?;
    body += "    predictions = {\n";
    for output in &formulas.outputs {
        body += &format!("        {}: {},\n", quoted(&output.name), python.text(&output.formula)?);
    }
    body += "    }\n    if not all(math.isfinite(value) for value in predictions.values()):\n        raise ValueError(\"no prediction: a cell is missing, or holds what the model cannot take\")\n";
    body += &label(formulas);
    body += "    return predictions\n";
    Ok(module(formulas, &body))
}

/// Code that adds the label to the predictions.
fn label(formulas: &Formulas) -> String {
    let first = formulas.outputs.first().map(|output| quoted(&output.name)).unwrap_or_default();
    let rule = match &formulas.label {
        None => return String::new(),
        Some(LabelRule::Threshold { at, above, below }) => {
            format!("{} if predictions[{first}] > {at:e} else {}", quoted(above), quoted(below))
        }
        Some(LabelRule::Largest { within, labels }) => {
            let pair = |(place, label): &(usize, String)| {
                format!("({}, {})", quoted(&formulas.outputs[*place].name), quoted(label))
            };
            let pairs = join(labels.iter().map(pair), ", ");
            let is_largest = format!("predictions[name] + {within:e} >= max(predictions.values())");
            format!("next(label for name, label in [{pairs}] if {is_largest})")
        }
    };
    format!("    predictions[{}] = {rule}\n", quoted(LABEL))
}

fn module(formulas: &Formulas, body: &str) -> String {
    let (mut used, mut helpers) = (body.to_owned(), String::new());
    for (call, helper) in HELPERS {
        if used.contains(call) {
            used += helper;
            helpers += &format!("\n\n{helper}");
        }
    }
    let imports: String = [("bisect.", "bisect"), ("datetime.", "datetime"), ("", "math"), ("re.fullmatch", "re")]
        .iter()
        .filter(|(call, _)| used.contains(call))
        .map(|(_, name)| format!("import {name}\n"))
        .collect();
    let columns = join(formulas.inputs.iter().map(|input| quoted(&input.name)), ", ");
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
    level: |python, levels, of| {
        let pair = |(level, value): &(String, f64)| {
            format!("{}: {}", python.level_key(&levels.of, level, quoted), python.number(*value))
        };
        let pairs = join(levels.levels.iter().map(pair), ", ");
        let (missing, other) = (python.number(levels.missing), python.number(levels.other));
        Ok(format!("_level({of}, {{{pairs}}}, {missing}, {other})"))
    },
    between: |python, points, of| {
        let list = |axis| python.coordinates(points, axis);
        Ok(format!("_between({of}, [{}], [{}])", list(0), list(1)))
    },
    ..NEUTRAL
};

/// ASCII string literal.
fn quoted(text: &str) -> String {
    ascii_literal(text, |code| if code < 0x100 { format!("\\x{code:02x}") } else { format!("\\u{code:04x}") })
}
