//! Figures of the chosen columns that were not computed.

use serde::{Deserialize, Serialize};
use vaglio_core::Feature;

/// Figures of chosen columns that were not computed; `vaglio explain` and `vaglio run --worth` compute them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WorthRecord {
    /// Chosen columns whose drop-column score was not computed.
    pub no_without: Vec<Feature>,
    /// Chosen columns whose substitutes were not tried.
    pub no_substitutes: Vec<Feature>,
}

impl WorthRecord {
    /// Sentence with the missing figures and how to compute them; `None` if there are none.
    pub fn sentence(&self) -> Option<String> {
        let of = |columns: usize| {
            if columns == 1 { "one chosen column".into() } else { format!("{columns} chosen columns") }
        };
        let (without, substitutes) = (self.no_without.len(), self.no_substitutes.len());
        let what = match (without, substitutes) {
            (0, 0) => return None,
            (0, some) => format!("substitutes of {}", of(some)),
            (some, 0) => format!("the score without {}", of(some)),
            (one, other) if one == other => format!("the score without {}, and their substitutes", of(one)),
            (one, other) => format!("the score without {}, and substitutes of {}", of(one), of(other)),
        };
        Some(format!(
            "not computed, as it would take long beside the search: {what}; `vaglio explain` with the folder of this run does, and \
             `vaglio run --worth`"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_told_with_how_to_have_it() {
        let left_out = |no_without: &[Feature], no_substitutes: &[Feature]| WorthRecord {
            no_without: no_without.to_vec(),
            no_substitutes: no_substitutes.to_vec(),
        };
        assert_eq!(left_out(&[], &[]).sentence(), None);
        let told = |a: &[Feature], b: &[Feature]| left_out(a, b).sentence().unwrap();
        assert!(told(&[], &[1, 2]).contains(": substitutes of 2 chosen columns; `vaglio explain`"));
        assert!(told(&[3], &[3]).contains(": the score without one chosen column, and their substitutes; "));
        assert!(
            told(&[3], &[3, 4])
                .contains(": the score without one chosen column, and substitutes of 2 chosen columns; ")
        );
    }
}
