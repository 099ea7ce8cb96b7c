//! Arrays in NumPy's `.npy`: a header that describes the numbers, and the numbers.

/// An array: its shape and its bytes.
pub(super) struct Array {
    pub name: &'static str,
    kind: u8,
    size: usize,
    is_big_endian: bool,
    /// Number of entries in each dimension.
    pub shape: Vec<usize>,
    data: Vec<u8>,
}

/// First bytes of the format.
const MAGIC: &[u8] = b"\x93NUMPY";

impl Array {
    /// Parses the bytes of the array `name`, or returns a description of the fault.
    pub fn new(name: &'static str, mut bytes: Vec<u8>) -> Result<Self, String> {
        let rest = bytes.strip_prefix(MAGIC).ok_or("it is no .npy")?;
        let (length, rest) = match rest {
            [1, _, a, b, rest @ ..] => (usize::from(u16::from_le_bytes([*a, *b])), rest),
            [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
            _ => return Err("it is a .npy of an unknown version".into()),
        };
        let header =
            rest.get(..length).and_then(|header| std::str::from_utf8(header).ok()).ok_or("its header is torn")?;
        let quoted = after(header, "descr").and_then(|text| text.strip_prefix('\'')?.split('\'').next());
        let descr = quoted.ok_or("its header does not say what its numbers are")?;
        let shape = shape(header).ok_or("its header does not say its shape")?;
        let [order, kind, size @ ..] = descr.as_bytes() else { return Err(format!("its numbers are `{descr}`")) };
        let size = std::str::from_utf8(size).ok().and_then(|size| size.parse().ok()).unwrap_or(0usize);
        let known =
            matches!((*kind, size), (b'i' | b'u', 1 | 2 | 4 | 8) | (b'f', 4 | 8) | (b'b', 1) | (b'S' | b'U', 1..=16));
        if !known || !matches!(order, b'<' | b'>' | b'|' | b'=') {
            return Err(format!("its numbers are `{descr}`, and whole numbers and floats of 4 or 8 bytes are read"));
        }
        let count = shape.iter().try_fold(1usize, |all, own| all.checked_mul(*own));
        let each = if *kind == b'U' { 4 * size } else { size };
        let needed = count.and_then(|count| count.checked_mul(each));
        let needed =
            needed.filter(|needed| *needed <= rest.len() - length).ok_or("it has fewer numbers than it says")?;
        let (kind, is_big_endian, start) = (*kind, *order == b'>', bytes.len() - rest.len() + length);
        bytes.truncate(start + needed);
        bytes.drain(..start);
        Ok(Array { name, kind, size: each, is_big_endian, shape, data: bytes })
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.data.len() / self.size
    }

    /// Text of an array of one word.
    pub fn text(&self) -> String {
        let step = if self.kind == b'U' { 4 } else { 1 };
        let letters = self.data.chunks(step).map(|letter| letter.iter().copied().max().unwrap_or(0));
        letters.filter(|letter| *letter != 0).map(char::from).collect()
    }

    /// Number at a place, as a double. Whole numbers beyond 2⁵³ are rounded.
    pub fn number(&self, at: usize) -> f64 {
        let bytes = self.data[at * self.size..][..self.size].iter();
        let add = |all: u64, byte: &u8| all << 8 | u64::from(*byte);
        let bits = if self.is_big_endian { bytes.fold(0, add) } else { bytes.rev().fold(0, add) };
        match (self.kind, self.size) {
            (b'f', 4) => f64::from(f32::from_bits(bits as u32)),
            (b'f', _) => f64::from_bits(bits),
            (b'i', size) => {
                let unused = 64 - 8 * size as u32;
                ((bits << unused) as i64 >> unused) as f64
            }
            _ => bits as f64,
        }
    }

    /// Non-negative whole number at a place, if it is one.
    pub fn index(&self, at: usize) -> Option<usize> {
        let is_whole = at < self.len() && matches!(self.kind, b'i' | b'u');
        is_whole.then(|| self.number(at)).filter(|number| *number >= 0.0).map(|number| number as usize)
    }
}

/// Text after a key of the header.
fn after<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    let at = header.find(&format!("'{key}'"))?;
    header[at + key.len() + 2..].trim_start().strip_prefix(':').map(str::trim_start)
}

fn shape(header: &str) -> Option<Vec<usize>> {
    let inside = after(header, "shape")?.strip_prefix('(')?.split(')').next()?;
    inside.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
}
