//! Finished work that a later run of the same configuration need not do again, and the sign to stop.

use crate::{Error, Result, StopReason};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where pieces of finished work are kept, each under a key of its own.
pub trait Keeper: Send + Sync {
    /// What an earlier run of the same configuration kept under this key.
    fn recall(&self, key: &str) -> Option<String>;

    /// Keeps one whole piece of work.
    fn keep(&self, key: &str, value: &str);

    /// Whether pieces are kept that took no time at all, as tests want it.
    fn keeps_all(&self) -> bool {
        false
    }
}

/// A part of what a [`Keeper`] keeps: keys below a path. The default keeps nothing and knows nothing.
///
/// What is kept must follow from the configuration and the data alone, and reading it back must give the same bits.
#[derive(Clone, Default)]
pub struct Journal(Option<Below>);

#[derive(Clone)]
struct Below {
    keeper: Arc<dyn Keeper>,
    path: String,
    /// Work that takes less is not worth a line.
    least: Duration,
    is_top: bool,
}

/// Work that takes less is done again rather than kept.
const LEAST: Duration = Duration::from_millis(5);
/// The same inside of a piece that is kept once it is whole.
const LEAST_INSIDE: Duration = Duration::from_secs(1);

impl Journal {
    /// All that a keeper keeps.
    pub fn new(keeper: Arc<dyn Keeper>) -> Self {
        Journal(Some(Below { keeper, path: String::new(), least: LEAST, is_top: true }))
    }

    /// The part below a name.
    #[must_use]
    pub fn under(&self, part: impl fmt::Display) -> Self {
        Journal(self.0.as_ref().map(|below| Below { path: format!("{}{part}/", below.path), ..below.clone() }))
    }

    /// The part inside of a piece of that name, which is kept itself once it is whole: only what takes long is kept.
    #[must_use]
    pub fn within(&self, piece: impl fmt::Display) -> Self {
        let Journal(inside) = self.under(piece);
        Journal(inside.map(|below| Below { least: LEAST_INSIDE, is_top: false, ..below }))
    }

    /// Whether anything is kept.
    pub fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Whether this is no part of a piece.
    pub fn is_top(&self) -> bool {
        self.0.as_ref().is_some_and(|below| below.is_top)
    }

    /// What an earlier run kept under this key; nothing where it does not read as such.
    pub fn recall<T: DeserializeOwned>(&self, key: impl fmt::Display) -> Option<T> {
        let below = self.0.as_ref()?;
        serde_json::from_str(&below.keeper.recall(&format!("{}{key}", below.path))?).ok()
    }

    /// Keeps a piece, whatever it took.
    pub fn keep<T: Serialize + ?Sized>(&self, key: impl fmt::Display, piece: &T) {
        let Some(below) = &self.0 else { return };
        // What cannot be written is done again.
        if let Ok(value) = serde_json::to_string(piece) {
            below.keeper.keep(&format!("{}{key}", below.path), &value);
        }
    }

    /// Whether work that was begun then is worth `lines`, in multiples of a short one.
    pub fn is_worth(&self, begun: Instant, lines: usize) -> bool {
        let least =
            |below: &Below| below.least.max(Duration::from_micros(5) * u32::try_from(lines).unwrap_or(u32::MAX));
        self.0.as_ref().is_some_and(|below| below.keeper.keeps_all() || begun.elapsed() >= least(below))
    }

    /// Recalls a piece, or does the work and keeps what comes of it; `None` is work that was stopped.
    ///
    /// # Errors
    /// Those of the work.
    pub fn once<T: Serialize + DeserializeOwned>(
        &self,
        key: impl fmt::Display,
        work: impl FnOnce() -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        if let Some(piece) = self.recall(&key) {
            return Ok(Some(piece));
        }
        let begun = Instant::now();
        let piece = work()?;
        if let Some(piece) = piece.as_ref().filter(|_| self.is_worth(begun, 1)) {
            self.keep(key, piece);
        }
        Ok(piece)
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Journal").field(&self.0.as_ref().map(|below| &below.path)).finish()
    }
}

/// Whether a run is to end, for work that cannot ask the observer. The default never says so.
#[derive(Clone, Default)]
pub struct StopSign(Option<Arc<dyn Fn() -> Option<StopReason> + Send + Sync>>);

impl StopSign {
    /// The sign that `reason` gives; once it gave a reason it keeps giving one.
    pub fn new(reason: impl Fn() -> Option<StopReason> + Send + Sync + 'static) -> Self {
        StopSign(Some(Arc::new(reason)))
    }

    /// Why the run is to end, if it is.
    pub fn reason(&self) -> Option<StopReason> {
        self.0.as_ref().and_then(|reason| reason())
    }

    /// Ends work that has far to go when the run is to end.
    ///
    /// # Errors
    /// [`Error::Stopped`], of which searches make the end of their path.
    pub fn check(&self) -> Result<()> {
        self.reason().map_or(Ok(()), |reason| Err(Error::Stopped(reason)))
    }
}

impl fmt::Debug for StopSign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StopSign").field(&self.reason()).finish()
    }
}

/// A number that is read back to the last bit, also where it is not finite.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exact(pub f64);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Finite(f64),
    Bits(String),
}

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0.is_finite() {
            true => serializer.serialize_f64(self.0),
            false => serializer.serialize_str(&format!("{:016x}", self.0.to_bits())),
        }
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Finite(number) => Ok(Exact(number)),
            Written::Bits(bits) => {
                let bits = u64::from_str_radix(&bits, 16).map_err(serde::de::Error::custom)?;
                Ok(Exact(f64::from_bits(bits)))
            }
        }
    }
}

/// Fields of one number, for `#[serde(with)]`.
pub mod exact {
    use super::Exact;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Writes a number that is read back to the last bit, also where it is not finite.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Exact(*number).serialize(serializer)
    }

    /// Reads such a number.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Exact::deserialize(deserializer).map(|Exact(number)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Book(Mutex<BTreeMap<String, String>>);

    impl Keeper for Book {
        fn recall(&self, key: &str) -> Option<String> {
            self.0.lock().unwrap().get(key).cloned()
        }

        fn keep(&self, key: &str, value: &str) {
            self.0.lock().unwrap().insert(key.into(), value.into());
        }

        fn keeps_all(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_piece_is_done_once() {
        let book = Arc::new(Book::default());
        let journal = Journal::new(book.clone()).under("choose").within(3);
        let mut done = 0;
        for _ in 0..2 {
            let piece = journal.once("trail", || {
                done += 1;
                Ok(Some(vec![0.1, 0.2]))
            });
            assert_eq!(piece.unwrap(), Some(vec![0.1, 0.2]));
        }
        assert_eq!(done, 1);
        assert_eq!(book.0.lock().unwrap().keys().collect::<Vec<_>>(), ["choose/3/trail"]);
        assert!(!journal.is_top() && journal.is_kept() && !Journal::default().is_kept());
    }

    #[test]
    fn numbers_are_read_back_to_the_last_bit() {
        for number in [0.1, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 1.0 / 3.0, 1e300, 7.0] {
            let text = serde_json::to_string(&Exact(number)).unwrap();
            let Exact(read) = serde_json::from_str(&text).unwrap();
            assert_eq!(read.to_bits(), number.to_bits(), "{text}");
        }
    }
}
