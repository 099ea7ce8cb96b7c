//! Files that were changed at random are read or refused, in bounded time and memory, with short messages: what the fuzz
//! targets try, without a fuzzer.
//!
//! `VAGLIO_FUZZ_SECONDS` says for how long each kind of file is tried, or `VAGLIO_MUTATIONS` how many files in all;
//! `VAGLIO_FUZZ_SEED` says which.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;
use vaglio_testkit::SplitMix64;
use vaglio_tests::hostile::{Input, Stand, forged, mutated, peak, room};

/// Bytes by which the memory limit may be exceeded.
const BEYOND: u64 = 100_000_000;

fn asked<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

/// Prints progress for those who wait for hours.
fn say(line: &str) {
    let _nobody_reads = writeln!(std::io::stderr(), "{line}");
}

/// The file under way, which is there where the process ends with it.
fn under_way(input: Input) -> PathBuf {
    std::env::temp_dir().join(format!("vaglio-under-way-{}-{}", std::process::id(), input.name()))
}

/// Tries one file; why it was not read, if it was not.
fn tried(stand: &Stand, input: Input, name: &str, bytes: &[u8], measures: bool) -> Option<Vec<String>> {
    let _reset = measures.then(|| std::fs::write("/proc/self/clear_refs", "5"));
    let limit = room();
    let attempt = stand.attempt(input, bytes, limit).unwrap();
    let most = peak().filter(|peak| measures && *peak > limit + BEYOND);
    let broken = attempt.broken().or(most.map(|peak| format!("it took {} MB", peak / 1_000_000)));
    if let Some(broken) = broken {
        let kept = under_way(input).with_extension("broken");
        std::fs::write(&kept, bytes).unwrap();
        panic!("{} {name}: {broken}; the file is {}", input.name(), kept.display());
    }
    (!attempt.is_read).then_some(attempt.messages)
}

fn try_all(input: Input) {
    let (stand, measures) = (Stand::new().unwrap(), asked::<usize>("VAGLIO_MUTATIONS"));
    let seconds: f64 = asked("VAGLIO_FUZZ_SECONDS").unwrap_or(1.0);
    let seed: u64 = asked("VAGLIO_FUZZ_SEED").unwrap_or(1);
    let mut seeds = input.corpus().unwrap();
    seeds.extend(stand.whole(input).unwrap().map(|bytes| ("whole.now".to_owned(), bytes)));
    for (name, bytes) in &seeds {
        let refused = tried(&stand, input, name, bytes, false).filter(|_| name.contains('.'));
        assert!(refused.is_none(), "{} {name} is refused: {refused:?}", input.name());
    }
    for (name, bytes) in input.regressions().unwrap() {
        tried(&stand, input, &name, &bytes, false);
    }
    let (mut random, mut count, mut read, begun) = (SplitMix64::new(seed), 0, 0, Instant::now());
    // Runs take longer than all others.
    let most = measures.map(|all| if input == Input::Journal { all / 60 } else { all * 59 / 300 });
    while most.map_or(begun.elapsed().as_secs_f64() < seconds, |most| count < most) {
        let [seed, other] = [0; 2].map(|_| &seeds[random.below(seeds.len())].1);
        // Half of the models and journals are whole but for a value: checksums are made anew.
        let is_forged = random.below(2) == 0;
        let forged = if is_forged { forged(input, seed, &mut random) } else { None };
        let bytes = forged.unwrap_or_else(|| mutated(seed, other, &mut random));
        if measures.is_some() || seconds > 10.0 {
            std::fs::write(under_way(input), &bytes).unwrap();
        }
        read += usize::from(tried(&stand, input, &format!("number {count}"), &bytes, measures.is_some()).is_none());
        count += 1;
        if count % 50_000 == 0 {
            say(&format!("{}: {count} files, {read} read", input.name()));
        }
    }
    let _ = std::fs::remove_file(under_way(input));
    let seconds = begun.elapsed().as_secs_f64();
    say(&format!("{}: {count} files in {seconds:.0} s, {read} read, seed {seed}", input.name()));
}

#[test]
fn mutated_pipelines_are_planned_or_refused() {
    try_all(Input::Pipeline);
}

#[test]
fn mutated_models_predict_or_are_refused() {
    try_all(Input::Model);
}

#[test]
fn mutated_journals_are_gone_on_from_or_refused() {
    try_all(Input::Journal);
}

#[test]
fn mutated_tables_of_text_are_read_or_refused() {
    try_all(Input::Text);
}

#[test]
fn mutated_parquet_is_read_or_refused() {
    try_all(Input::Parquet);
}

#[test]
fn mutated_arrow_is_read_or_refused() {
    try_all(Input::Arrow);
}
