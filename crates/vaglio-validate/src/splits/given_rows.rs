//! Validation rows given by the data.

use vaglio_core::{Classes, Error, Problem, Resampling, ResamplingTraits, Result, Split, part};

/// Validation rows given by a column of the data: rows marked `validation` are held out once, rows marked `train` are
/// trained on.
#[part(
    Resampling,
    "given",
    summary = "rows for validation, by a column of the data",
    example = "criterion: {kind: kfold, splits: {kind: given, column: part}}"
)]
#[derive(PartialEq, Eq)]
pub struct Given {
    /// The column.
    #[required]
    pub column: String,
}

impl Given {
    /// Holds out the rows that `column` calls `validation`. In code, `Rows::folds` gives them, whatever the name.
    pub fn new(column: impl Into<String>) -> Self {
        Given { column: column.into() }
    }
}

/// The words of the column, in the order of their numbers.
const WORDS: [&str; 2] = ["train", "validation"];
/// The number that marks held-out rows.
const VALIDATION: u32 = 1;

impl Resampling for Given {
    fn splits(&self, problem: &Problem, _: Option<&Classes>) -> Result<Vec<Split>> {
        let Some(words) = &problem.labels().assignment else {
            let message = format!(
                "the data have no column `{}` that says which rows are for validation; in code, give them by `Rows::folds`",
                self.column
            );
            return Err(Error::setting("column", message));
        };
        let rows = |held_out: bool| (0..words.len()).filter(move |&row| (words[row] == VALIDATION) == held_out);
        for (held_out, word) in [(false, WORDS[0]), (true, WORDS[1])] {
            if rows(held_out).next().is_none() {
                return Err(Error::setting("column", format!("no row is `{word}`")));
            }
        }
        if let Some(classes) = problem.classes() {
            for (class, name) in classes.names.iter().enumerate() {
                let has = |held_out: bool| rows(held_out).any(|row| classes.per_row[row] == class);
                if !has(false) && has(true) {
                    return Err(Error::setting("column", format!("every row of class `{name}` is `{}`", WORDS[1])));
                }
            }
        }
        Ok(vec![Split::holding_out(rows(true).collect())])
    }

    fn traits(&self) -> ResamplingTraits {
        let [train, validation] = WORDS;
        let column = &self.column;
        let sentence =
            format!("the rows that `{column}` calls {validation}, predicted from those that it calls {train}");
        ResamplingTraits {
            assignment: Some(column.clone()),
            assignment_words: &WORDS,
            sentence: Some(sentence),
            ..ResamplingTraits::default()
        }
    }
}
