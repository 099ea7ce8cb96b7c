//! Equality of labels.

use vaglio_core::numerals::normalize_number;

/// Whether two texts are one label: equal, or the same number.
pub(crate) fn same_label(a: &str, b: &str) -> bool {
    a == b || normalize_number(a).is_some_and(|a| normalize_number(b).is_some_and(|b| a == b))
}

/// The index of the label that equals `text`, or else is the same number.
pub(crate) fn place_of_label<'l>(labels: impl Iterator<Item = &'l str> + Clone, text: &str) -> Option<usize> {
    let alike = || labels.clone().position(|label| label == text);
    let same = || {
        let own = normalize_number(text)?;
        labels.clone().position(|label| normalize_number(label).is_some_and(|label| label == own))
    };
    alike().or_else(same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_is_one_label() {
        for (a, b) in [("1", "1.0"), ("01", "1"), ("true", "1"), ("False", "0"), ("-0", "0"), ("1e3", "1000")] {
            assert!(same_label(a, b), "{a} {b}");
        }
        assert!(same_label("01500000000000000060.0", "1500000000000000060"));
        for (a, b) in [("1500000000000000060", "1500000000000000061"), ("a", "A"), ("inf", "INF"), ("yes", "1")] {
            assert!(!same_label(a, b), "{a} {b}");
        }
        assert_eq!(place_of_label(["1", "1.0"].into_iter(), "1.0"), Some(1));
        assert_eq!(place_of_label(["2", "1"].into_iter(), "1.00"), Some(1));
    }
}
