//! Parallel loops.

use std::panic::{AssertUnwindSafe, catch_unwind};
use vaglio_kernels::parallel::{chunks_mut, each_mut, flat_map_chunks, map, map_mut, map_slice, map_vec};

#[test]
fn results_stand_at_their_places() {
    for count in [0, 1, 2, 1000] {
        assert_eq!(map(count, |k| k * k), (0..count).map(|k| k * k).collect::<Vec<_>>());
        let names: Vec<String> = (0..count).map(|k| k.to_string()).collect();
        assert_eq!(map_slice(&names, String::len), names.iter().map(String::len).collect::<Vec<_>>());
        let mut own = names.clone();
        each_mut(&mut own, |k, name| name.push_str(&names[count - 1 - k]));
        let taken = map_mut(&mut own, |_, name| std::mem::take(name));
        assert!(own.iter().all(String::is_empty));
        assert!(taken.iter().enumerate().all(|(k, name)| *name == format!("{k}{}", count - 1 - k)));
        assert_eq!(map_vec(taken.clone(), |name| name), taken);
        assert_eq!(flat_map_chunks(&taken, 7, <[String]>::to_vec), taken);
        chunks_mut(&mut own, 7, |at, names| names.iter_mut().for_each(|name| *name = at.to_string()));
        assert!(own.iter().enumerate().all(|(k, name)| *name == (k / 7).to_string()));
    }
}

#[test]
fn a_panic_comes_through() {
    let done = catch_unwind(AssertUnwindSafe(|| map(100, |k| if k == 57 { panic!("57") } else { vec![k] })));
    assert!(done.is_err());
}
