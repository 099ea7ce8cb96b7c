//! Tests with threads as processes that share a folder.
#![allow(clippy::unwrap_used)]

use super::*;

const ITEMS: usize = 1000;

fn fresh(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("vaglio-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn process_group(folder: &Path, run: &str, index: usize, count: usize) -> SearchParts {
    let group = SearchParts::new(folder.join("parts"), folder.join("end"), run.into(), index, count);
    SearchParts { least: Duration::ZERO, ..group }
}

/// A number for an item.
fn number(question: usize, item: usize) -> f64 {
    (question * ITEMS + item) as f64 / 7.0
}

/// Asks some queries and checks the answers; returns how many numbers were computed here.
fn ask(process_group: &SearchParts, questions: usize, pause: Duration) -> usize {
    let mut made = 0;
    for question in 0..questions {
        let which = question.to_string();
        let parts = process_group.gather("k", &which, ITEMS, &mut |range| {
            made += range.len();
            std::thread::sleep(pause);
            Ok(range.map(|item| number(question, item)).collect())
        });
        let all: Vec<f64> = (0..ITEMS).map(|item| number(question, item)).collect();
        assert_eq!(parts.unwrap().concat(), all, "{question}");
    }
    made
}

#[test]
fn each_of_three_makes_its_part() {
    let folder = fresh("process_group-three");
    let made: Vec<usize> = std::thread::scope(|scope| {
        let begun: Vec<_> = (0..3)
            .map(|index| {
                let folder = &folder;
                scope.spawn(move || ask(&process_group(folder, "run", index, 3), 20, Duration::from_millis(20)))
            })
            .collect();
        begun.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let sum: usize = made.iter().sum();
    // A slow machine may make some parts twice.
    assert!((20 * ITEMS..2 * 20 * ITEMS).contains(&sum) && !made.contains(&0), "{made:?}");
}

/// Two of four processes are present, and each takes one of the missing parts.
#[test]
fn those_that_are_there_share_the_parts_of_others() {
    let folder = fresh("process_group-half");
    let made: Vec<usize> = std::thread::scope(|scope| {
        let begun = [0, 1].map(|index| {
            let process_group = process_group(&folder, "run", index, 4);
            scope.spawn(move || ask(&process_group, 20, Duration::from_millis(20)))
        });
        begun.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let sum: usize = made.iter().sum();
    assert!((20 * ITEMS..34 * ITEMS).contains(&sum), "{made:?}");
}

#[test]
fn one_that_is_alone_makes_all_and_one_that_comes_later_nothing() {
    let folder = fresh("process_group-late");
    assert_eq!(ask(&process_group(&folder, "run", 1, 4), 10, Duration::ZERO), 10 * ITEMS);
    assert_eq!(ask(&process_group(&folder, "run", 0, 4), 10, Duration::ZERO), 0);
    // Parts of another run, or of another division, are ignored.
    assert_eq!(ask(&process_group(&folder, "other", 0, 4), 10, Duration::ZERO), 10 * ITEMS);
    assert_eq!(ask(&process_group(&folder, "run", 0, 3), 10, Duration::ZERO), 10 * ITEMS);
}

#[test]
fn one_that_is_lost_in_the_middle_of_a_part_is_made_up_for() {
    let folder = fresh("process_group-lost");
    assert!(ask(&process_group(&folder, "run", 1, 2), 5, Duration::ZERO) == 5 * ITEMS);
    let path = folder.join("parts/1.0");
    let length = std::fs::metadata(&path).unwrap().len();
    for cut in [1, 9, length / 2] {
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - cut).unwrap();
        let made = ask(&process_group(&folder, "run", 0, 2), 5, Duration::ZERO);
        assert!(made > 0 && made < 5 * ITEMS, "{cut}: {made}");
        std::fs::remove_file(folder.join("parts/0.0")).unwrap();
    }
}

#[test]
fn an_altered_part_is_made_again() {
    let folder = fresh("process_group-altered");
    ask(&process_group(&folder, "run", 1, 2), 3, Duration::ZERO);
    let path = folder.join("parts/1.0");
    let mut bytes = std::fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert!(ask(&process_group(&folder, "run", 0, 2), 3, Duration::ZERO) > 0);
}

#[test]
fn questions_that_take_little_are_not_parted_unless_another_parts_them() {
    let folder = fresh("process_group-short");
    let short = SearchParts { least: Duration::from_millis(100), ..process_group(&folder, "run", 0, 2) };
    let calls = |question: usize, pause: u64| {
        let (which, mut calls) = (question.to_string(), 0);
        let parts = short.gather("k", &which, ITEMS, &mut |range| {
            calls += 1;
            std::thread::sleep(Duration::from_millis(pause));
            Ok(range.map(|item| number(question, item)).collect())
        });
        assert_eq!(parts.unwrap().concat().len(), ITEMS);
        calls
    };
    // Of the first nothing is known; one that took long parts the next.
    assert_eq!([calls(0, 0), calls(1, 0), calls(2, 150), calls(3, 0), calls(4, 0)], [2, 1, 1, 2, 1]);
    ask(&process_group(&folder, "run", 1, 2), 7, Duration::ZERO);
    std::thread::sleep(LOOK);
    assert_eq!([calls(5, 0), calls(7, 0)], [0, 1]);
}

#[test]
fn a_helper_ends_with_the_search() {
    let folder = fresh("process_group-end");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("end"), "").unwrap();
    let asked = |index| {
        process_group(&folder, "run", index, 2).gather("k", "0", ITEMS, &mut |range| Ok(vec![0.0; range.len()]))
    };
    assert!(matches!(asked(1), Err(Error::Stopped(StopReason::Interrupted))));
    assert!(asked(0).is_ok());
}
