//! Levels of instructions.

use vaglio_kernels::Level;

#[test]
fn levels_are_from_the_baseline_to_the_widest() {
    let names: Vec<&str> = Level::available().into_iter().map(Level::name).collect();
    assert_eq!(names[0], "baseline");
    assert!(["avx2", "avx512"].starts_with(&names[1..]) || names[1..] == ["other"], "{names:?}");
}

#[test]
fn kernels_run_on_the_level_that_is_set() {
    for level in Level::available() {
        assert_eq!(level.within(|| Level::current().name()), level.name());
    }
}
