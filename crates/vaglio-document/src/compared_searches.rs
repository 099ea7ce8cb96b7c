//! Compared searches: the former search `race`, and the default of `search`.

use super::{Node, NodeValue};

impl Node {
    /// Reads `search: {kind: race, of: […]}` as `tune: {search: […]}`. If `search` is missing, it becomes the first of
    /// the compared searches.
    pub fn compare_searches(&mut self) {
        if self.kind("search").is_some_and(|(kind, _)| kind == "race") {
            tracing::warn!("`search: {{kind: race}}` is written `tune: {{search: [...]}}` now");
            let Some(race) = self.get("search").cloned() else { return };
            let place = race.place.clone();
            let word = |word: &str| Node::word_at(word, place.clone());
            self.put("search", &word(""));
            let mut all = match race.child("of").map(|(_, of)| of.value.clone()) {
                Some(NodeValue::List(searches)) => searches,
                _ => vec![word("greedy"), word("all")],
            };
            if let Some((_, choose)) = race.child("choose") {
                all.iter_mut().for_each(|search| search.put("choose", choose));
            }
            let tune = self.child_or_new("tune", &place);
            let searches = tune.and_then(|tune| tune.child_or_new("search", &place));
            if let Ok(searches) = searches {
                searches.value = NodeValue::List(all);
            }
        }
        let first = self.get("tune.search").and_then(|list| list.child("[0]")).map(|(_, first)| first.clone());
        if let Some(first) = first.filter(|_| self.get("search").is_none_or(Node::is_null)) {
            self.put("search", &first);
        }
    }

    /// Sets a key of a component; of a list of searches, of the last.
    fn put(&mut self, key: &str, value: &Node) {
        if let NodeValue::List(stages) = &mut self.value {
            stages.iter_mut().last().into_iter().for_each(|last| last.put(key, value));
        } else if let Ok(node) = self.child_or_new(key, &value.place) {
            *node = value.clone();
        }
    }
}
