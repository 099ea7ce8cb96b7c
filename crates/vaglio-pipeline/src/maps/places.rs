//! Hash index of names.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

/// A lazily built index from name to position. `PartialEq` ignores it, since it is derived from the names.
#[derive(Debug, Clone, Default)]
pub(super) struct NameIndex(OnceLock<Vec<(u64, u32)>>);

impl NameIndex {
    /// Candidate positions of a name among the listed ones, in increasing order; hashes may collide. Cost O(log names),
    /// and O(names · log names) on first use.
    pub fn find<N: Iterator<Item = String>>(&self, name: &str, names: impl Fn() -> N) -> impl Iterator<Item = usize> {
        let places = self.0.get_or_init(|| {
            let mut places: Vec<(u64, u32)> =
                names().enumerate().map(|(place, name)| (hash(&name), place as u32)).collect();
            places.sort_unstable();
            places
        });
        let hash = hash(name);
        let from = places.partition_point(|(other, _)| *other < hash);
        places[from..].iter().take_while(move |(other, _)| *other == hash).map(|(_, place)| *place as usize)
    }
}

impl PartialEq for NameIndex {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for NameIndex {}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_at_all_of_their_places() {
        let names: Vec<String> = (0..1000).map(|k| format!("x{}", k % 700)).collect();
        let places = NameIndex::default();
        for (name, expected) in [("x5", vec![5, 705]), ("x650", vec![650]), ("x700", vec![]), ("", vec![])] {
            assert_eq!(places.find(name, || names.iter().cloned()).collect::<Vec<_>>(), expected, "{name}");
        }
    }
}
