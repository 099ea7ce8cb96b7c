//! Resampling: splits of rows into training and held-out rows.

use crate::{AnyResampling, Classes, Design, Result, registered};
use std::fmt::Debug;

/// A way to hold rows out; its fields are its settings.
///
/// # Example
/// ```
/// use vaglio_core::{Classes, Design, Resampling, Result, Split, part};
///
/// /// The last rows are held out.
/// #[part(Resampling, "last")]
/// struct Last {
///     /// How many rows.
///     #[default(20)]
///     rows: usize,
/// }
///
/// impl Resampling for Last {
///     fn splits(&self, design: &Design, _: Option<&Classes>) -> Result<Vec<Split>> {
///         let first = design.rows().saturating_sub(self.rows);
///         Ok(vec![Split::holding_out((first..design.rows()).collect())])
///     }
/// }
/// ```
pub trait Resampling: registered::Resampling + Debug + Send + Sync {
    /// The splits of the rows of a design. A loss is the mean over all held-out rows; a row that is held out twice
    /// counts twice.
    ///
    /// Consecutive splits with disjoint held-out rows are computed together. `classes` are the classes to stratify by,
    /// if asked for: see [`Resampling::can_stratify`].
    ///
    /// # Errors
    /// [`crate::Error::Setting`] for impossible splits, with the field's path inside this resampling.
    fn splits(&self, design: &Design, classes: Option<&Classes>) -> Result<Vec<Split>>;

    /// Whether the splits are stratified when classes are given.
    fn can_stratify(&self) -> bool {
        false
    }

    /// The column of the data that defines the splits, if a setting names one; it is no feature.
    fn assignment(&self) -> Option<&str> {
        None
    }

    /// The words allowed in that column; [`Design::assignment`] gives a row the index of its word. If empty, values are
    /// numbered in order of appearance.
    fn assignment_words(&self) -> &'static [&'static str] {
        &[]
    }

    /// A resampling for repeating a whole search on so many folds, if training must not see some rows, such as later
    /// ones. `None`, the default, allows ordinary folds.
    fn around_search(&self, _folds: usize) -> Option<AnyResampling> {
        None
    }

    /// Description for people: "5 blocks forward in time, each predicted from its past".
    fn sentence(&self) -> String {
        format!("the splits of `{}`", self.typetag_name())
    }

    /// Checks the settings before any data are read.
    ///
    /// # Errors
    /// [`crate::Error::Setting`] with the field's path inside this resampling.
    fn check_settings(&self) -> Result<()> {
        Ok(())
    }
}

/// Rows that are held out together, and the training rows for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    pub(crate) held_out: Vec<usize>,
    pub(crate) training: Option<Vec<usize>>,
}

impl Split {
    /// Holds out rows, counted from 0, and trains on all others.
    pub fn holding_out(rows: Vec<usize>) -> Self {
        Split { held_out: rows, training: None }
    }

    /// The held-out rows.
    pub fn held_out(&self) -> &[usize] {
        &self.held_out
    }

    /// The training rows; `None` for all others.
    pub fn training(&self) -> Option<&[usize]> {
        self.training.as_deref()
    }

    /// Restricts training to these rows.
    #[must_use]
    pub fn training_on(self, rows: Vec<usize>) -> Self {
        Split { training: Some(rows), ..self }
    }
}
