//! Times, threads and memory.

#[path = "../../src/memory_slots.rs"]
mod memory_slots;

use memory_slots::MemorySlots;
use vaglio_pipeline::learners::Rls;
use vaglio_pipeline::pipeline::{Pipeline, check_threads, parse_duration, pool};
use vaglio_search::Greedy;
use vaglio_validate::Loo;

#[test]
fn times_are_read_as_people_write_them() {
    for (text, seconds, shown) in [
        ("10m", 600.0, "10m"),
        ("90 s", 90.0, "90s"),
        ("1h30m", 5400.0, "90m"),
        ("1h 30min", 5400.0, "90m"),
        ("0.5", 0.5, "500ms"),
        ("2 days", 172_800.0, "2d"),
        ("250ms", 0.25, "250ms"),
        ("36H", 129_600.0, "36h"),
    ] {
        let duration = parse_duration(text).unwrap();
        let pipeline = Pipeline::new(Loo::default(), Greedy::new(1), Rls::default()).time_limit(duration);
        let written = serde_json::to_value(pipeline).unwrap()["limits"]["time"].clone();
        assert_eq!((duration.as_secs_f64(), written.as_str()), (seconds, Some(shown)), "{text}");
        assert_eq!(parse_duration(shown).unwrap(), duration);
    }
    for text in ["", "m", "10x", "0", "-1m", "10 m 5", "1e99", "nan", "inf", "m10", "1..5m", "99999999d"] {
        assert!(parse_duration(text).is_err(), "{text}");
    }
}

#[test]
fn more_threads_than_can_be_of_use_are_refused() {
    let message = check_threads("engine.threads", usize::MAX).unwrap_err().to_string();
    let (_, most) = message.split_once("at most ").unwrap();
    let most: usize = most.split(',').next().unwrap().parse().unwrap();
    for threads in [0, 1, 64, most] {
        assert!(check_threads("engine.threads", threads).is_ok());
    }
    for threads in [most + 1, usize::MAX] {
        let error = check_threads("engine.threads", threads).unwrap_err().to_string();
        let expected = format!("`engine.threads`: {threads} threads are more than this machine has use for; at most ");
        assert!(error.starts_with(&expected), "{error}");
        assert!(pool(threads).is_err());
    }
}

#[test]
fn what_is_occupied_is_given_back() {
    let slots = MemorySlots::new(10.0, 3.0);
    let two = slots.all(2).unwrap();
    assert!(slots.all(2).is_none());
    let (some, one) = slots.some(4);
    assert_eq!(some, 1);
    // One repetition continues even without a free slot.
    assert_eq!(slots.some(4).0, 1);
    assert!(slots.all(1).is_none());
    drop((two, one));
    assert!(slots.all(3).is_some());
    assert_eq!(MemorySlots::default().some(7).0, 7);
    assert_eq!(MemorySlots::new(1e30, 1.0).some(7).0, 7);
    assert!(MemorySlots::new(f64::NAN, 1.0).all(1).is_none());
}
