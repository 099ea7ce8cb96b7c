//! Resampling: which rows are held out, and which are trained on meanwhile.

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
    /// The splits of the rows of a design. A loss is the mean over all rows that are held out, and a row that is held out
    /// twice counts twice.
    ///
    /// Splits that follow each other and hold out rows of their own are worked on together. `classes` are those that rows
    /// are to be spread by, where that is asked for: see [`Resampling::can_stratify`].
    ///
    /// # Errors
    /// [`crate::Error::Setting`] for splits that cannot be made, with the field's path inside this resampling.
    fn splits(&self, design: &Design, classes: Option<&Classes>) -> Result<Vec<Split>>;

    /// Whether it spreads classes over splits where it is given them.
    fn can_stratify(&self) -> bool {
        false
    }

    /// The column of the data that it goes by, if a setting names one; it is no feature.
    fn assignment(&self) -> Option<&str> {
        None
    }

    /// The words that this column may have, in the order of the numbers that [`Design::assignment`] has for them. Without
    /// any, its values are numbered as they come.
    fn assignment_words(&self) -> &'static [&'static str] {
        &[]
    }

    /// Splits of so many folds, to repeat a whole search by: where training must not see what rows hold out, as what
    /// comes after them. `None`, the default, where rows may as well be held out once each.
    fn around_search(&self, _folds: usize) -> Option<AnyResampling> {
        None
    }

    /// How rows are parted, for people: "5 blocks forward in time, each predicted from its past".
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

/// Rows that are held out together, and those that are trained on meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    pub(crate) held_out: Vec<usize>,
    pub(crate) training: Option<Vec<usize>>,
}

impl Split {
    /// Rows, counted from 0, that are predicted from all others.
    pub fn holding_out(rows: Vec<usize>) -> Self {
        Split { held_out: rows, training: None }
    }

    /// The rows that are held out.
    pub fn held_out(&self) -> &[usize] {
        &self.held_out
    }

    /// The rows that are trained on; `None`: all others.
    pub fn training(&self) -> Option<&[usize]> {
        self.training.as_deref()
    }

    /// Predicts the held-out rows from these rows alone.
    #[must_use]
    pub fn training_on(self, rows: Vec<usize>) -> Self {
        Split { training: Some(rows), ..self }
    }
}
