//! Work that ends at a checkpoint.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_columns::{CancelToken, checkpoint};

#[test]
fn work_ends_at_a_checkpoint_and_the_function_before_is_back() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let halt = CancelToken::new(move || count.fetch_add(1, Ordering::SeqCst) >= 3);
    let mut steps = 0;
    let done = halt.within(|| {
        loop {
            steps += 1;
            assert_eq!(CancelToken::default().within(|| (0..10).for_each(|_| checkpoint())), Some(()));
            checkpoint();
        }
    });
    assert!(done.is_none() && steps == 4, "{steps}");
    checkpoint();
    assert_eq!(halt.within(|| 7), Some(7), "nobody asked");
    let other = catch_unwind(AssertUnwindSafe(|| halt.within(|| -> u8 { panic!("oh") })));
    assert_eq!(other.unwrap_err().downcast_ref::<&str>(), Some(&"oh"));
}
