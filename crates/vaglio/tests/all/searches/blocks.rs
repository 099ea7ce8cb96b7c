//! Blocks of columns that move together.

use super::common::{NEAR, by_definition, designs, fast, loss, named, refs};
use vaglio::core::{Design, StopReason};
use vaglio::search::{Backward, Blocks, Exhaustive, Floating, Greedy, Search, Silent, Step};
use vaglio_testkit::{data, design_copies};

#[test]
fn blocks_of_one_column_change_nothing() {
    let design = &designs()[1];
    let alone = named(&[("a", &[1]), ("b", &[4]), ("c", &[0])]);
    assert_eq!(
        fast(&Search::new(Greedy {}).blocks(alone.clone()), design, &mut Silent),
        fast(&Search::new(Greedy {}), design, &mut Silent)
    );
    assert_eq!(
        fast(&Search::new(Backward::default()).blocks(alone.clone()), design, &mut Silent),
        fast(&Search::new(Backward::default()), design, &mut Silent)
    );
    assert_eq!(
        fast(&Search::new(Floating {}).blocks(alone.clone()), design, &mut Silent),
        fast(&Search::new(Floating {}), design, &mut Silent)
    );
    assert_eq!(
        fast(&Search::new(Exhaustive::default()).blocks(alone), design, &mut Silent),
        fast(&Search::new(Exhaustive::default()), design, &mut Silent)
    );
}

#[test]
fn blocks_move_in_one_step() {
    let plain = data::regression(16, 7, 36).constants(1).design(&[0.3], true);
    // Columns 7 and 8 are copies of 0 and 1; 9 is constant.
    let design = design_copies::with_columns(&plain, &[0, 1, 2, 3, 4, 5, 6, 0, 1, 7]).unwrap();
    let blocks = named(&[("first", &[1, 0]), ("copies", &[7, 8, 9])]);
    let greedy = Search::new(Greedy {}).blocks(blocks.clone());
    for path in [fast(&greedy, &design, &mut Silent), by_definition(&greedy, &design)] {
        let first = path.steps.iter().find(|s| !s.with.is_empty()).unwrap();
        assert_eq!((first.feature, &first.with[..], &first.tied[..]), (0, &[1][..], &[7][..]));
        let mut size = 0;
        for step in &path.steps {
            size += 1 + step.with.len();
            assert_eq!(step.size, size);
        }
        assert_eq!(size, 9);
        for entry in &path.entries {
            assert!(NEAR.holds(entry.score.loss, loss(&design, &entry.subset)));
        }
    }
    for most in 1..=4 {
        let path = fast(&greedy.clone().max_features(most), &design, &mut Silent);
        assert!(path.entries.iter().all(|e| e.subset.len() <= most));
        assert_eq!(path.stop_reason, StopReason::MaxFeatures);
    }
    let path = fast(&Search::new(Backward::default()).blocks(blocks.clone()), &design, &mut Silent);
    let gone: Vec<&Step> = path.steps.iter().filter(|s| !s.with.is_empty()).collect();
    assert_eq!(gone[0].feature, 0, "{gone:?}");
    assert!(gone[0].with == [1] && gone[0].tied == [7]);

    let forced = Greedy::new(3).forced(refs(&[8])).blocks(blocks.clone());
    let path = fast(&forced, &design, &mut Silent);
    assert_eq!((path.steps[0].feature, &path.steps[0].with[..], path.steps[0].size), (7, &[8][..], 2));
    let excluded = Search::new(Greedy {}).excluded(refs(&[8])).blocks(blocks);
    let path = fast(&excluded, &design, &mut Silent);
    assert!(path.entries.iter().all(|e| !e.subset.contains(&7) && !e.subset.contains(&8)));
}

#[test]
fn blocks_of_the_design_are_taken_by_their_word() {
    let problem = data::regression(16, 6, 37).problem();
    let block = vaglio::core::Block { name: "colour".into(), columns: vec![1, 2, 4] };
    let readout = vaglio::core::Readout::new(vec![1.0], true).unwrap();
    let design = Design::identity(&problem.with_blocks(vec![block]), readout);
    let by_word = Search::new(Greedy {}).blocks(Some(Blocks::OneHot));
    let by_name = Search::new(Greedy {}).blocks(named(&[("colour", &[1, 2, 4])]));
    let path = fast(&by_word, &design, &mut Silent);
    assert_eq!(path, fast(&by_name, &design, &mut Silent));
    assert_eq!(path.steps.len(), 4);
}
