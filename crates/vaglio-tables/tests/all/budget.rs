//! The memory limit, sizes in settings, and release of cached memory.

use crate::create_folder;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_tables::budget::{Budget, ByteSize, memory_below, register_release, resident_within};

#[test]
fn what_is_refused_is_told_with_its_size_and_remedy() {
    let error = Budget::new(1 << 20).need(5e9, "one_hot", "drop it").unwrap_err();
    assert_eq!(error.field(), Some("limits.memory"));
    let message = error.to_string();
    assert!(message.starts_with("`limits.memory`: one_hot would take about 5.0 GB beside the "), "{message}");
    assert!(message.ends_with(" that are held, and the limit is 1.0 MB; drop it"), "{message}");
    assert!(Budget::new(u64::MAX).need(5e9, "x", "y").is_ok());
    assert!(Budget::new(1).need(100.0, "x", "y").is_ok(), "what is small is not asked for");
    assert!(
        Budget::new(1000).need_in_total(1001.0, "x", "y").is_err()
            && Budget::new(1000).need_in_total(1000.0, "x", "y").is_ok()
    );
    if cfg!(target_os = "linux") {
        assert!(Budget::new(100).check_limit("x", "y").is_err());
        let machine_budget = Budget::for_machine();
        assert!(machine_budget.limit() > 1 << 28 && machine_budget.limit() < 1 << 50, "{machine_budget}");
        let error = machine_budget.need(1e18, "x", "y").unwrap_err().to_string();
        assert!(error.contains(", 80 % of the "), "{error}");
    }
}

#[test]
fn sizes_are_read_as_people_write_them() {
    let read = |text: &str| serde_json::from_value::<ByteSize>(text.into()).ok();
    for (text, bytes) in [
        ("8GiB", 8 << 30),
        ("500 MB", 500_000_000),
        ("1.5gib", 3 << 29),
        ("64 kb", 64_000),
        ("10 KiB", 10_240),
        ("123", 123),
        ("2TB", 2_000_000_000_000),
        ("7 B", 7),
    ] {
        assert_eq!(read(text), Some(ByteSize(bytes)), "{text}");
    }
    for text in ["", "GiB", "8G", "0", "0GiB", "-1GiB", "8 GiB 1", "1e99", "1..5GiB", "99999999999999999999", "nan"] {
        assert_eq!(read(text), None, "{text}");
    }
    for (bytes, text) in [(8u64 << 30, "8GiB"), (500_000_000, "500MB"), (3 << 29, "1536MiB"), (7, "7B")] {
        assert_eq!(ByteSize(bytes).to_string(), text);
        assert_eq!(read(text), Some(ByteSize(bytes)));
    }
}

#[test]
fn what_is_kept_is_given_back_only_beyond_a_limit() {
    static GIVEN_BACK: AtomicUsize = AtomicUsize::new(0);
    register_release(|| {
        GIVEN_BACK.fetch_add(1, Ordering::Relaxed);
    });
    register_release(|| unreachable!("the first counts"));
    assert!(resident_within(u64::MAX).is_some_and(|held| held > 0));
    assert_eq!(GIVEN_BACK.load(Ordering::Relaxed), 0);
    assert!(resident_within(0).is_some_and(|held| held > 0));
    assert_eq!(GIVEN_BACK.load(Ordering::Relaxed), 1);
}

#[test]
fn the_least_of_machine_and_groups_counts() {
    let root: PathBuf = create_folder("machine");
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    assert_eq!(memory_below(&root), None);
    write("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 1 kB\n");
    assert_eq!(memory_below(&root), Some(1_024_000));
    write("proc/self/cgroup", "0::/a/b\n");
    assert_eq!(memory_below(&root), Some(1_024_000));
    write("sys/fs/cgroup/a/b/memory.max", "max\n");
    write("sys/fs/cgroup/a/memory.max", "5000\n");
    assert_eq!(memory_below(&root), Some(5000));
    write("proc/self/cgroup", "5:cpu:/x\n4:memory,hugetlb:/not/seen\n");
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "7000\n");
    assert_eq!(memory_below(&root), Some(7000));
    write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_eq!(memory_below(&root), Some(1_024_000));
    std::fs::remove_dir_all(&root).unwrap();
}
