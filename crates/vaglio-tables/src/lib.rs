//! Tables from files, and what they may take: reading of text, Parquet and Arrow, a memory budget, files that appear whole.
//!
//! Without features this crate says how text is read ([`ReadSpec`]), what a column is taken for ([`InferredType`]) and how much
//! memory a run may take ([`budget::Budget`]); the feature `text` reads text files, `parquet` Parquet, Arrow and compressed ones.

pub mod budget;
mod digest_kind;
pub mod disk;
pub mod quantity;
mod quoted;
#[cfg(feature = "text")]
pub mod read;
mod read_spec;
mod survey;

pub use digest_kind::DigestKind;
pub use quoted::quoted;
pub use read_spec::{DateOrder, Decimal, Delimiter, ReadSpec, Word};
pub use survey::{ColumnSurvey, InferredType, Notation, Survey};
