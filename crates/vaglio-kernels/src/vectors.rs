//! Products and distances of rows with vectors, in blocks of both.

use crate::f64x8::F64x8;
use crate::tile::Tile;
use crate::vectorize;

/// Vectors per group: sums of eight rows against this many stay in registers.
const GROUP: usize = 4;

/// Vectors of equal length that rows are multiplied with or measured against.
///
/// Every sum runs over the inputs in order, so a result depends on its row and its vector alone: not on the other rows
/// and vectors, the level or the number of threads.
#[derive(Debug, Clone)]
pub struct Vectors {
    count: usize,
    inputs: usize,
    /// Entries of each group's vectors for input 0, input 1, …; padded with zeros.
    packed: Vec<[f64; GROUP]>,
}

impl Vectors {
    /// Creates `count` vectors of `inputs` entries; `entry(k, i)` is entry i of vector k.
    pub fn new(count: usize, inputs: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let mut packed = vec![[0.0; GROUP]; count.div_ceil(GROUP) * inputs];
        for k in 0..count {
            for i in 0..inputs {
                packed[k / GROUP * inputs + i][k % GROUP] = entry(k, i);
            }
        }
        Vectors { count, inputs, packed }
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there is no vector.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Products start_k + Σ_i w_ki x_i, as rows × vectors. Cost O(rows·vectors·inputs).
    ///
    /// # Panics
    /// If the tile's columns do not match the vectors' entries, or `start` the number of vectors.
    pub fn products(&self, x: &Tile, start: &[f64]) -> Tile {
        assert_eq!(start.len(), self.count, "one start a vector");
        self.against::<false>(x, start)
    }

    /// Squared distances Σ_i (x_i − w_ki)², as rows × vectors. Sums differences, so no digit is lost far from the
    /// origin. Cost O(rows·vectors·inputs).
    ///
    /// # Panics
    /// If the tile's columns do not match the vectors' entries.
    pub fn squared_distances(&self, x: &Tile) -> Tile {
        self.against::<true>(x, &[])
    }

    fn against<const DISTANCE: bool>(&self, x: &Tile, start: &[f64]) -> Tile {
        assert_eq!(x.columns(), self.inputs, "one column an entry of the vectors");
        let mut out = Tile::new(x.rows(), self.count);
        vectorize!(|| {
            let (Vectors { inputs, packed, count }, out) = (self, &mut out);
            for chunk in 0..x.rows().div_ceil(F64x8::WIDTH) {
                let x = x.eight(chunk);
                let out = out.eight_mut(chunk);
                for first in (0..*count).step_by(GROUP) {
                    let weights = &packed[first / GROUP * inputs..][..*inputs];
                    let mut sums: [F64x8; GROUP] =
                        std::array::from_fn(|k| F64x8::splat(start.get(first + k).copied().unwrap_or(0.0)));
                    for (x, w) in x.iter().zip(weights) {
                        let x = F64x8::load(x);
                        for k in 0..GROUP {
                            let w = F64x8::splat(w[k]);
                            sums[k] = sums[k] + if DISTANCE { (x - w) * (x - w) } else { w * x };
                        }
                    }
                    for (sum, to) in sums.iter().zip(&mut out[first..]) {
                        sum.store(to);
                    }
                }
            }
        });
        out
    }
}
