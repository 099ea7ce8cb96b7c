//! Graph of an ONNX model, with shared nodes and constants, written as protocol buffers with the field numbers of
//! `onnx.proto`.

use crate::formulas::{ABOUT, CellKind, Formulas};
use std::collections::{HashMap, HashSet};

/// Name of a tensor of the graph.
pub type Tensor = String;

/// Versions of the operator sets by domain, and of the format.
const OPERATORS: [(&str, i64); 2] = [("", 17), ("ai.onnx.ml", 3)];
const FORMAT: i64 = 8;

/// A graph of formulas under construction.
pub struct Graph<'f> {
    pub formulas: &'f Formulas,
    /// Values of columns.
    pub values: HashMap<String, Tensor>,
    nodes: Vec<Message>,
    constants: Vec<Message>,
    /// Existing values by their definition, for reuse.
    known: HashMap<String, Tensor>,
    /// Names in use.
    taken: HashSet<String>,
    count: usize,
}

impl<'f> Graph<'f> {
    /// A graph of the input columns.
    pub fn new(formulas: &'f Formulas) -> Self {
        let inputs = || formulas.inputs.iter().map(|input| input.name.clone());
        Graph {
            formulas,
            values: inputs().map(|name| (name.clone(), name)).collect(),
            nodes: Vec::new(),
            constants: Vec::new(),
            known: HashMap::new(),
            taken: inputs().collect(),
            count: 0,
        }
    }

    /// An unused name.
    pub fn fresh(&mut self) -> String {
        loop {
            self.count += 1;
            let name = format!("value_{}", self.count);
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    /// Constant that is made under a name.
    fn constant(&mut self, make: impl Fn(&str) -> Message) -> Tensor {
        let key = format!("{:?}", make(""));
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let name = self.fresh();
        self.constants.push(make(&name));
        self.known.insert(key, name.clone());
        name
    }

    /// Constant number.
    pub fn number(&mut self, number: f64) -> Tensor {
        self.constant(|name| numbers(name, &[], DOUBLE, [number.to_le_bytes()]))
    }

    /// Constant integer.
    pub fn whole(&mut self, number: i64) -> Tensor {
        self.constant(|name| numbers(name, &[], WHOLE, [number.to_le_bytes()]))
    }

    /// Constant list of numbers.
    pub fn numbers(&mut self, values: &[f64]) -> Tensor {
        let bytes = || values.iter().map(|value| value.to_le_bytes());
        self.constant(|name| numbers(name, &[values.len() as i64], DOUBLE, bytes()))
    }

    /// Constant list of texts.
    pub fn strings(&mut self, strings: &[&str]) -> Tensor {
        self.constant(|name| texts(name, strings))
    }

    /// Result of an operator.
    pub fn node(&mut self, operator: &str, inputs: &[Tensor]) -> Tensor {
        self.with_attributes(operator, "", inputs, &[])
    }

    fn with_attributes(&mut self, operator: &str, domain: &str, inputs: &[Tensor], own: &[Message]) -> Tensor {
        let key = format!("{operator} {inputs:?} {own:?}");
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let name = self.fresh();
        let node = inputs.iter().fold(Message::new(), |node, input| node.text(1, input));
        let node = own.iter().fold(node.text(2, &name).text(4, operator), |node, own| node.message(5, own));
        self.nodes.push(if domain.is_empty() { node } else { node.text(7, domain) });
        self.known.insert(key, name.clone());
        name
    }

    /// Index of each text among `keys`, or `keys.len()` if it is not among them.
    pub fn place(&mut self, text: Tensor, keys: &[&str]) -> Tensor {
        let places: Vec<i64> = (0..keys.len() as i64).collect();
        let own = [
            text_attributes("keys_strings", keys),
            attributes("values_int64s", &places),
            attribute("default_int64", keys.len() as i64),
        ];
        self.with_attributes("LabelEncoder", "ai.onnx.ml", &[text], &own)
    }

    /// Converts booleans to 0 and 1.
    pub fn as_whole(&mut self, booleans: Tensor) -> Tensor {
        self.with_attributes("Cast", "", &[booleans], &[attribute("to", WHOLE)])
    }

    /// Number of true values in each row, rows × 1.
    pub fn count_true(&mut self, booleans: Tensor) -> Tensor {
        let whole = self.as_whole(booleans);
        let axis = self.constant(|name| numbers(name, &[1], WHOLE, [1i64.to_le_bytes()]));
        self.with_attributes("ReduceSum", "", &[whole, axis], &[attribute("keepdims", 1)])
    }

    /// Index of the first largest value, rows × 1; values at most `within` apart are ties.
    pub fn largest(&mut self, values: &[Tensor], within: f64) -> Tensor {
        let all = self.with_attributes("Concat", "", values, &[attribute("axis", 1)]);
        let largest = self.node("Max", values);
        let within = self.number(within);
        let level = self.node("Sub", &[largest, within]);
        let is_largest = self.node("GreaterOrEqual", &[all, level]);
        let is_largest = self.with_attributes("Cast", "", &[is_largest], &[attribute("to", DOUBLE)]);
        self.with_attributes("ArgMax", "", &[is_largest], &[attribute("axis", 1), attribute("keepdims", 1)])
    }

    /// Broadcasts a single number to all rows of an input, rows × 1.
    pub fn in_each_row(&mut self, value: Tensor, input: &str) -> Tensor {
        let shape = self.node("Shape", &[input.to_owned()]);
        self.node("Expand", &[value, shape])
    }

    /// Names a value as an output, or similarly if the name is taken; returns the name.
    pub fn output(&mut self, name: &str, value: &Tensor) -> String {
        let mut own = name.to_owned();
        while !self.taken.insert(own.clone()) {
            own.push('_');
        }
        self.nodes.push(Message::new().text(1, value).text(2, &own).text(4, "Identity"));
        own
    }

    /// Builds the `ModelProto`, with the names of the outputs and whether they hold text.
    pub fn model(self, outputs: &[(String, bool)]) -> Vec<u8> {
        let graph = self.nodes.iter().fold(Message::new(), |graph, node| graph.message(1, node)).text(2, "vaglio");
        let graph = self.constants.iter().fold(graph, |graph, constant| graph.message(5, constant));
        let inputs = self.formulas.inputs.iter().map(|input| (11, column(&input.name, input.holds == CellKind::Text)));
        let outputs = outputs.iter().map(|(name, is_text)| (12, column(name, *is_text)));
        let graph = inputs.chain(outputs).fold(graph, |graph, (field, column)| graph.message(field, &column));
        let model = Message::new().whole(1, FORMAT).text(2, "vaglio").text(3, env!("CARGO_PKG_VERSION")).text(6, ABOUT);
        let operators = |(domain, version): (&str, i64)| Message::new().text(1, domain).whole(2, version);
        let model = OPERATORS.into_iter().fold(model, |model, own| model.message(8, &operators(own)));
        model.message(7, &graph).into_bytes()
    }
}

/// A message, written field by field.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn new() -> Self {
        Message::default()
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// Adds an integer.
    fn whole(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    /// Adds bytes, a text or a message.
    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds a text.
    fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// Adds a message.
    fn message(self, field: u64, message: &Message) -> Self {
        self.bytes(field, &message.0)
    }

    fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// `TensorProto.DataType`.
const WHOLE: i64 = 7;
const TEXT: i64 = 8;
const DOUBLE: i64 = 11;

/// `TensorProto` of doubles or integers, given by their bytes; a scalar without dimensions.
fn numbers(name: &str, dims: &[i64], holds: i64, values: impl IntoIterator<Item = [u8; 8]>) -> Message {
    let raw: Vec<u8> = values.into_iter().flatten().collect();
    tensor(name, dims, holds).bytes(9, &raw)
}

/// `TensorProto` of texts.
fn texts(name: &str, values: &[&str]) -> Message {
    let tensor = tensor(name, &[values.len() as i64], TEXT);
    values.iter().fold(tensor, |tensor, value| tensor.text(6, value))
}

fn tensor(name: &str, dims: &[i64], holds: i64) -> Message {
    let message = dims.iter().fold(Message::new(), |message, dim| message.whole(1, *dim));
    message.whole(2, holds).text(8, name)
}

/// `ValueInfoProto` of a column of text or doubles, rows × 1.
fn column(name: &str, is_text: bool) -> Message {
    let rows = Message::new().text(2, "rows");
    let one = Message::new().whole(1, 1);
    let shape = Message::new().message(1, &rows).message(1, &one);
    let tensor = Message::new().whole(1, if is_text { TEXT } else { DOUBLE }).message(2, &shape);
    Message::new().text(1, name).message(2, &Message::new().message(1, &tensor))
}

/// `AttributeProto` of an integer.
fn attribute(name: &str, value: i64) -> Message {
    Message::new().text(1, name).whole(3, value).whole(20, 2)
}

/// `AttributeProto` of integers.
fn attributes(name: &str, values: &[i64]) -> Message {
    values.iter().fold(Message::new().text(1, name), |message, value| message.whole(8, *value)).whole(20, 7)
}

/// `AttributeProto` of texts.
fn text_attributes(name: &str, values: &[&str]) -> Message {
    values.iter().fold(Message::new().text(1, name), |message, value| message.text(9, value)).whole(20, 8)
}
