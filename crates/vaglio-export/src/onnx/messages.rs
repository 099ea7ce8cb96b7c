//! Protocol buffers of ONNX, written as bytes with the field numbers of `onnx.proto`.

/// A message, written field by field.
#[derive(Debug, Default)]
pub struct Message(Vec<u8>);

impl Message {
    pub fn new() -> Self {
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
    pub fn whole(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3);
        self.varint(value as u64);
        self
    }

    /// Adds bytes, a text or a message.
    pub fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds a text.
    pub fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    /// Adds a message.
    pub fn message(self, field: u64, message: &Message) -> Self {
        self.bytes(field, &message.0)
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// `TensorProto.DataType`.
pub const WHOLE: i64 = 7;
const TEXT: i64 = 8;
pub const DOUBLE: i64 = 11;

/// `TensorProto` of doubles or integers, given by their bytes; a scalar without dimensions.
pub fn numbers(name: &str, dims: &[i64], holds: i64, values: impl IntoIterator<Item = [u8; 8]>) -> Message {
    let raw: Vec<u8> = values.into_iter().flatten().collect();
    tensor(name, dims, holds).bytes(9, &raw)
}

/// `TensorProto` of texts.
pub fn texts(name: &str, values: &[&str]) -> Message {
    let tensor = tensor(name, &[values.len() as i64], TEXT);
    values.iter().fold(tensor, |tensor, value| tensor.text(6, value))
}

fn tensor(name: &str, dims: &[i64], holds: i64) -> Message {
    let message = dims.iter().fold(Message::new(), |message, dim| message.whole(1, *dim));
    message.whole(2, holds).text(8, name)
}

/// `ValueInfoProto` of a column of text or doubles, rows × 1.
pub fn column(name: &str, is_text: bool) -> Message {
    let rows = Message::new().text(2, "rows");
    let one = Message::new().whole(1, 1);
    let shape = Message::new().message(1, &rows).message(1, &one);
    let tensor = Message::new().whole(1, if is_text { TEXT } else { DOUBLE }).message(2, &shape);
    Message::new().text(1, name).message(2, &Message::new().message(1, &tensor))
}

/// `AttributeProto` of an integer.
pub fn attribute(name: &str, value: i64) -> Message {
    Message::new().text(1, name).whole(3, value).whole(20, 2)
}

/// `AttributeProto` of integers.
pub fn attributes(name: &str, values: &[i64]) -> Message {
    values.iter().fold(Message::new().text(1, name), |message, value| message.whole(8, *value)).whole(20, 7)
}

/// `AttributeProto` of texts.
pub fn text_attributes(name: &str, values: &[&str]) -> Message {
    values.iter().fold(Message::new().text(1, name), |message, value| message.text(9, value)).whole(20, 8)
}
