//! Random mutations of files.

use vaglio_testkit::SplitMix64;

/// Words with a meaning for one of the readers.
const WORDS: [&[u8]; 24] = [
    b"\"",
    b"\n",
    b"\r",
    b",",
    b";",
    b"\0",
    b"\x1b[31m",
    "\u{202e}".as_bytes(),
    b"1e999",
    b"-",
    b"NaN",
    b"=1+1",
    b"{",
    b"[[[[[[[[",
    b"}",
    b": ",
    b"&a",
    b"*a",
    b"1e308",
    b"99999999999999999999",
    b"null",
    b"PAR1",
    b"[]",
    b"0",
];
/// Wrong values for lengths.
const NUMBERS: [i64; 10] = [0, -1, 1, 255, 1 << 16, 1 << 31, i32::MAX as i64, 1 << 40, i64::MAX, i64::MIN];

/// Changes some bytes of a file, and sometimes replaces a part by one of another file.
pub fn mutated(seed: &[u8], other: &[u8], random: &mut SplitMix64) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len().max(1));
        let span = (1 + random.below(32)).min(bytes.len() - at.min(bytes.len()));
        match random.below(10) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..at + span)),
            2 => {
                let copy = bytes[at..at + span].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            3 => drop(bytes.splice(at..at, WORDS[random.below(WORDS.len())].iter().copied())),
            4 | 5 => {
                let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
                let width = [1, 2, 4, 8][random.below(4)].min(bytes.len() - at);
                bytes[at..at + width].copy_from_slice(&number[..width]);
            }
            6 => {
                let from = random.below(other.len().max(1));
                let to = other.len().min(from + 1 + random.below(256));
                bytes.splice(at..at + span, other[from.min(to)..to].iter().copied());
            }
            _ if at < bytes.len() => bytes[at] = [bytes[at] ^ (1 << random.below(8)), 0xff, 0][random.below(3)],
            _ => {}
        }
    }
    bytes
}
