//! Reading of tables from text, Parquet and Arrow files, a memory budget, and atomic file writing.
//!
//! Without features this crate defines how text is read ([`ReadSpec`]), inferred column types ([`InferredType`]) and
//! the memory limit ([`budget::Budget`]). The feature `text` reads text files, `parquet` Parquet, Arrow and compressed
//! ones.

pub mod budget;
pub mod disk;
mod profile;
pub mod quantity;
mod quoting;
#[cfg(feature = "text")]
pub mod read;
mod read_spec;
pub mod scratch;

pub use profile::{ColumnProfile, InferredType, Notation, TableProfile};
pub use quoting::quote_for_yaml;
pub use read_spec::{DateOrder, Decimal, Delimiter, ReadSpec, word_list};
