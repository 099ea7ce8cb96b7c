//! Pieces of a journal.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use vaglio_search::{Journal, JournalStore};

#[derive(Default)]
struct Notebook(Mutex<BTreeMap<String, String>>);

impl JournalStore for Notebook {
    fn recall(&self, key: &str) -> Option<String> {
        self.0.lock().unwrap().get(key).cloned()
    }

    fn keep(&self, key: &str, value: &str) {
        self.0.lock().unwrap().insert(key.into(), value.into());
    }

    fn keeps_all(&self) -> bool {
        true
    }

    fn is_others(&self, key: &str) -> bool {
        key.ends_with("elsewhere")
    }
}

#[test]
fn a_piece_of_another_process_is_left_to_it() {
    let journal = Journal::new(Arc::new(Notebook::default())).under("nested");
    let done = |journal: &Journal, key: &str| journal.once(key, || Ok(Some(1))).unwrap();
    assert_eq!((done(&journal, "elsewhere"), done(&journal, "here")), (None, Some(1)));
    assert_eq!(done(&journal.within("here"), "elsewhere"), Some(1));
    journal.keep("elsewhere", &2);
    assert_eq!(done(&journal, "elsewhere"), Some(2));
}

#[test]
fn a_piece_is_done_once() {
    let notebook = Arc::new(Notebook::default());
    let journal = Journal::new(notebook.clone()).under("choose").within(3);
    let mut done = 0;
    for _ in 0..2 {
        let piece = journal.once("trail", || {
            done += 1;
            Ok(Some(vec![0.1, 0.2]))
        });
        assert_eq!(piece.unwrap(), Some(vec![0.1, 0.2]));
    }
    assert_eq!(done, 1);
    assert_eq!(notebook.0.lock().unwrap().keys().collect::<Vec<_>>(), ["choose/3/trail"]);
    assert!(!journal.is_top());
}

#[test]
fn inside_of_a_piece_what_costs_less_than_its_bytes_is_done_again() {
    #[derive(Default)]
    struct Frugal(Notebook);
    impl JournalStore for Frugal {
        fn recall(&self, key: &str) -> Option<String> {
            self.0.recall(key)
        }
        fn keep(&self, key: &str, value: &str) {
            self.0.keep(key, value);
        }
    }
    let journal = Journal::new(Arc::new(Frugal::default()));
    let inside = journal.within("nested");
    let long = "x".repeat(1_000_000);
    for (journal, expected) in [(&journal, true), (&inside, false)] {
        journal.keep_worth(Instant::now() - Duration::from_millis(100), "long", &long);
        assert_eq!(journal.recall::<String>("long").is_some(), expected);
    }
    inside.keep_worth(Instant::now() - Duration::from_secs(2), "long", &long);
    assert!(inside.recall::<String>("long").is_some());
}
