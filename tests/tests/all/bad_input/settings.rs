//! Settings that cannot be, and names that nothing bears.

use super::{ErrorClass, Problem, Sheet, everywhere, refused};
use crate::common::Folder;

#[test]
fn sizes_names_and_blocks_that_cannot_be_are_refused_where_they_stand() {
    let base = Sheet::base();
    for (search, words) in [
        ("max_features: 0", "`search.max_features`: 0 features cannot be selected"),
        ("max_features: 1, forced: [0, 1]", "2 columns are forced"),
        ("forced: [q]", "`search.forced[0]`: there is no column `q`"),
        ("forced: [9]", "`search.forced"),
        ("excluded: [q]", "`search.excluded[0]`: there is no column `q`"),
        ("forced: [0], excluded: [0]", "is forced as well"),
        ("blocks: {p: [0, 1], q: [1, 2]}", "`search.blocks.q"),
        ("blocks: {p: [0, q]}", "`search.blocks.p"),
        ("blocks: {p: []}", "`search.blocks.p`"),
        ("max_featurs: 2", "did you mean `max_features`?"),
        ("choose: 9", "`search.choose`"),
    ] {
        everywhere(|parts| {
            // Searches without the setting say so.
            let lacks = parts.has(&["all", "backward", "lars", "rank", "random"]);
            let words = if lacks { "search" } else { words };
            refused(
                Problem { search, ..Problem::new(&base) }.result(parts),
                ErrorClass::Configuration,
                &["search", words],
            )
        });
    }
}

#[test]
fn settings_are_refused_before_data_are_read() {
    let folder = Folder::new("unread");
    for (lines, words) in [
        (
            "search: {kind: greedy, max_features: 0}",
            "p.yaml:3:38: `search.max_features`: 0 features cannot be selected",
        ),
        ("learner: {kind: rls, lambda: 0}", "p.yaml:3:30: `learner.lambda`"),
        ("criterion: {kind: kfold, folds: 1}", "`criterion.folds`"),
        ("search: gredy", "there is no search `gredy`; did you mean `greedy`?"),
    ] {
        folder.write("p.yaml", crate::common::pipeline(lines));
        folder.vaglio(&["run", "p.yaml", "--out", "out"]).refused(2, words);
    }
}
