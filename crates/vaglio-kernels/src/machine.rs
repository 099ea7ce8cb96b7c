//! How fast this machine does the work that every run has beside its search.
//!
//! Each rate is the best of a few tries of a millisecond or two: what else the machine does can only make one slower. Engines are
//! chosen by operations, never by these, so that results do not depend on them.

use crate::linalg::{gram, triangle};
use ndarray::Array2;
use std::hint::black_box;
use std::time::Instant;

/// Units of work a second of one thread.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// Doubles that are read far from the processor and summed.
    pub stream: f64,
    /// Bytes of memory that is new to the process.
    pub fresh: f64,
    /// Flops of products of columns.
    pub products: f64,
    /// Flops of reducing rows to a triangle.
    pub reducing: f64,
    /// Exponentials.
    pub exponentials: f64,
    /// Comparisons of a sort.
    pub comparisons: f64,
}

/// Tries of each rate.
const TRIES: usize = 5;
/// Doubles that do not fit near the processor.
const FAR: usize = 1 << 22;
/// Bytes that no allocator keeps back.
const FRESH: usize = 1 << 23;
/// Rows and columns of products and triangles.
const ROWS: usize = 1024;
const COLUMNS: usize = 32;
/// Numbers that are exponentiated and sorted.
const NUMBERS: usize = 1 << 14;

impl Machine {
    /// Measures, which takes about 0.03 s.
    pub fn measured() -> Self {
        let far: Vec<f64> = (0..FAR).map(|k| (k % 1021) as f64).collect();
        let stream = FAR as f64 / least(|| far.iter().copied().fold([0.0; 4], |[a, b, c, d], x| [b, c, d, a + x]));
        drop(far);
        let fresh = FRESH as f64 / least(|| vec![1_u8; FRESH]);
        let entry = |(row, column): (usize, usize)| ((row * 31 + column * 17 + row * column) % 101) as f64 - 50.0;
        let tall = Array2::from_shape_fn((ROWS, COLUMNS), entry);
        let flops = (2 * ROWS * COLUMNS * COLUMNS) as f64;
        let products = flops / least(|| gram(tall.view()));
        let reducing = flops / least(|| triangle(tall.view()).ok());
        let numbers: Vec<f64> = (0..NUMBERS).map(|k| ((k * 7919) % NUMBERS) as f64 / NUMBERS as f64).collect();
        let exponentials = NUMBERS as f64 / least(|| numbers.iter().map(|x| x.exp()).sum::<f64>());
        let comparisons = NUMBERS as f64 * (NUMBERS as f64).log2()
            / least(|| {
                let mut sorted = numbers.clone();
                sorted.sort_unstable_by(f64::total_cmp);
                sorted
            });
        Machine { stream, fresh, products, reducing, exponentials, comparisons }
    }
}

/// Seconds of the fastest of a few tries.
fn least<T>(mut work: impl FnMut() -> T) -> f64 {
    let once = |_| {
        let begun = Instant::now();
        black_box(work());
        begun.elapsed().as_secs_f64()
    };
    (0..TRIES).map(once).fold(f64::INFINITY, f64::min).max(1e-9)
}
