//! Sums over parts of rows, of which the rows of folds are unions: one read of the columns serves all folds.

mod union;

pub(crate) use union::Union;

use crate::data::{Entries, PANEL, Placed, Sweep, TOGETHER};
use crate::inner::Of;
use crate::sums::{Sums, add_products, product};
use crate::wide::Wide;
use crate::{Column, Level};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Sums of columns over parts of rows: all are sums of products alone, so those of a union of parts lose no digits.
///
/// Columns and targets are shifted by their means over all rows where there is an intercept. Memory 8·n bytes for each part
/// and each column that was asked for.
#[derive(Debug)]
pub struct Parts {
    level: Level,
    intercept: bool,
    /// The part of each stored row; none for rows that do not count.
    labels: Vec<Option<u32>>,
    /// How many rows each part has.
    counts: Vec<usize>,
    /// Stored rows, those of a tile by part.
    order: Vec<u32>,
    tiles: Vec<Vec<Run>>,
    active: Vec<bool>,
    /// By how much columns are shifted; 0 without an intercept.
    shifts: Vec<f64>,
    /// Σ(x_i − shift), 0 without an intercept, and Σ(x_i − shift)², as parts × columns.
    sums: [Vec<f64>; 2],
    /// The same of each output, less its mean, for each part.
    targets: Vec<[Vec<f64>; 2]>,
    /// Products with columns and targets, as parts × columns.
    known: Mutex<HashMap<Of, Arc<[f64]>>>,
}

/// Rows of one part in a tile, by their places in the order.
#[derive(Debug)]
struct Run {
    part: usize,
    places: Range<usize>,
}

/// Parts, at most: with more, each has few rows of a tile.
const MOST_PARTS: usize = 32;
/// Rows for each part, at least: what is kept of a column and its parts takes little beside the column.
const ROWS_OF_PART: usize = 512;
/// Stored rows of a tile: those of four columns stay in the first cache.
const TILE: usize = 1 << 10;

impl Parts {
    /// Of the `active` columns; each row has a label. `None` where there are too many parts, or numbers overflow. One read of
    /// the columns, cost O(m·n).
    pub fn new(
        level: Level,
        entries: &Entries<'_>,
        active: &[bool],
        labels: &[u32],
        targets: &[&[f64]],
        intercept: bool,
    ) -> Option<Self> {
        let (stored, rows) = (entries.stored(), labels.len());
        let count = *labels.iter().max()? as usize + 1;
        if count > MOST_PARTS || count * ROWS_OF_PART > rows {
            return None;
        }
        let mut counts = vec![0; count];
        labels.iter().for_each(|&label| counts[label as usize] += 1);
        let mut of_stored = vec![None; stored.first()?.len()];
        entries.rows(rows).iter().zip(labels).for_each(|(&row, label)| of_stored[row] = Some(*label));
        let (order, tiles) = in_tiles(&of_stored, count);
        // As [`Data::sharing`](crate::Data::sharing) has them, so that searches on all rows have the same bits.
        let counted = entries.spread(&vec![1.0; rows]).into_owned();
        let mean = |x: Column<'_>, shift: f64| shift + product(level, x, shift, &counted) / rows as f64;
        let shift = |column: usize| match (intercept && active[column], stored[column]) {
            (false, _) => 0.0,
            (true, x) => mean(x, mean(x, 0.0)),
        };
        let mut parts = Parts {
            level,
            intercept,
            labels: of_stored,
            counts,
            order,
            tiles,
            active: active.to_vec(),
            shifts: (0..stored.len()).into_par_iter().map(shift).collect(),
            sums: [Vec::new(), Vec::new()],
            targets: Vec::new(),
            known: Mutex::default(),
        };
        let in_order: Vec<Vec<f64>> = targets.iter().map(|y| parts.target(entries, y)).collect();
        let none = || vec![0.0; count];
        let of_target =
            |y: &Vec<f64>| [if intercept { parts.sums_of(y, |y| y) } else { none() }, parts.sums_of(y, |y| y * y)];
        parts.targets = in_order.iter().map(of_target).collect();
        let ones = vec![1.0; rows];
        let vectors: Vec<&[f64]> = in_order.iter().chain(intercept.then_some(&ones)).map(|v| &**v).collect();
        let found = parts.sweep(stored, &vectors, true);
        let of = |kind: usize| -> Vec<f64> { parts.of_kind(&found, vectors.len() + 1, kind) };
        let known = (0..targets.len()).map(|output| (Of::Target(output), Arc::from(of(output)))).collect();
        let sums = if intercept { of(targets.len()) } else { vec![0.0; count * stored.len()] };
        parts.sums = [sums, of(vectors.len())];
        parts.known = Mutex::new(known);
        parts.sums.iter().flatten().all(|sum| sum.is_finite()).then_some(parts)
    }

    /// A target less its mean, in the order of the rows.
    fn target(&self, entries: &Entries<'_>, y: &[f64]) -> Vec<f64> {
        let shift = y.first().copied().filter(|_| self.intercept).unwrap_or(0.0);
        let mean = shift + if self.intercept { y.iter().map(|y| y - shift).sum::<f64>() / y.len() as f64 } else { 0.0 };
        let centered: Vec<f64> = y.iter().map(|y| y - mean).collect();
        let stored = entries.spread(&centered);
        self.order.iter().map(|&row| stored[row as usize]).collect()
    }

    /// Whether columns are shifted by their means.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    fn sums_of(&self, in_order: &[f64], of: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.counts.len()];
        for run in self.tiles.iter().flatten() {
            sums[run.part] += in_order[run.places.clone()].iter().map(|&y| of(y)).sum::<f64>();
        }
        sums
    }

    /// One kind of what was found of the active columns, as parts × columns.
    fn of_kind(&self, found: &[f64], kinds: usize, kind: usize) -> Vec<f64> {
        let (parts, columns) = (self.counts.len(), self.active.len());
        let mut out = vec![0.0; parts * columns];
        let active = (0..columns).filter(|&column| self.active[column]);
        for (column, found) in active.zip(found.chunks(parts * kinds)) {
            found.chunks(kinds).enumerate().for_each(|(part, kinds)| out[part * columns + column] = kinds[kind]);
        }
        out
    }

    /// Shifted entries of the rows, in their order.
    fn in_order(&self, x: Column<'_>, shift: f64) -> Vec<f64> {
        let mut out = vec![0.0; self.order.len()];
        gather(x, &self.order, shift, &mut out);
        out
    }

    /// Products with some columns, kept for all unions of parts. Cost O(m·n) for each.
    fn read(&self, stored: &[Column<'_>], columns: &[usize]) {
        let vectors: Vec<Vec<f64>> =
            columns.par_iter().map(|&column| self.in_order(stored[column], self.shifts[column])).collect();
        let slices: Vec<&[f64]> = vectors.iter().map(|v| &**v).collect();
        let found = self.sweep(stored, &slices, false);
        let rows = columns.iter().enumerate();
        let rows = rows.map(|(k, &column)| (Of::Column(column), Arc::from(self.of_kind(&found, columns.len(), k))));
        let rows: Vec<(Of, Arc<[f64]>)> = rows.collect();
        if let Ok(mut known) = self.known.lock() {
            known.extend(rows);
        }
    }

    /// The sums of each active column with every vector over every part, and those of its squares where asked: as
    /// columns × parts × vectors.
    fn sweep(&self, stored: &[Column<'_>], vectors: &[&[f64]], with_squares: bool) -> Vec<f64> {
        let columns: Vec<(Column<'_>, f64)> = stored
            .iter()
            .zip(&self.shifts)
            .zip(&self.active)
            .filter(|(_, is_active)| **is_active)
            .map(|((x, shift), _)| (*x, *shift))
            .collect();
        let share = columns.len().div_ceil(rayon::current_num_threads()).next_multiple_of(TOGETHER);
        let panels = columns.par_chunks(share.clamp(TOGETHER, PANEL));
        panels.flat_map_iter(|panel| self.panel(panel, vectors, with_squares)).collect()
    }

    fn panel(&self, columns: &[(Column<'_>, f64)], vectors: &[&[f64]], with_squares: bool) -> Vec<f64> {
        let (parts, count) = (self.counts.len(), vectors.len());
        // Of each four columns as parts × columns × vectors.
        let mut sums = vec![Wide::ZERO; columns.len() * parts * count];
        let mut squares = vec![[Sums::<1>::ZERO]; columns.len() * parts];
        let mut entries = vec![0.0; TOGETHER * TILE];
        for tile in &self.tiles {
            let (Some(first), Some(last)) = (tile.first(), tile.last()) else { continue };
            let (start, end) = (first.places.start, last.places.end);
            let groups = columns.chunks(TOGETHER).zip(sums.chunks_mut(TOGETHER * parts * count));
            for ((columns, sums), squares) in groups.zip(squares.chunks_mut(TOGETHER * parts)) {
                for (&(x, shift), out) in columns.iter().zip(entries.chunks_mut(TILE)) {
                    gather(x, &self.order[start..end], shift, &mut out[..end - start]);
                }
                for run in tile {
                    let own = run.places.start - start..run.places.end - start;
                    let vectors: Vec<&[f64]> = vectors.iter().map(|v| &v[run.places.clone()]).collect();
                    let of_tile = entries.chunks(TILE).take(columns.len()).enumerate();
                    let placed: Vec<Placed<'_, f64>> = of_tile.map(|(c, x)| (c, &x[own.clone()], 0.0)).collect();
                    let each = columns.len() * count;
                    let sums = &mut sums[run.part * each..][..each];
                    Sweep::new(self.level, &vectors).add(&placed, &(0..own.len()), sums);
                    for &(c, x, _) in placed.iter().filter(|_| with_squares) {
                        add_products(self.level, [x], [0.0], [x], &mut squares[c * parts + run.part]);
                    }
                }
            }
        }
        let mut out = Vec::with_capacity(columns.len() * parts * (count + 1));
        for (column, squares) in squares.chunks(parts).enumerate() {
            let first = column - column % TOGETHER;
            let together = TOGETHER.min(columns.len() - first);
            for (part, square) in squares.iter().enumerate() {
                let at = (first * parts + part * together + column - first) * count;
                out.extend(sums[at..at + count].iter().map(|sum| sum.sum()));
                out.extend(square[0].total().into_iter().filter(|_| with_squares));
            }
        }
        out
    }
}

/// The rows that have a part, tile by tile, those of one by part.
fn in_tiles(labels: &[Option<u32>], parts: usize) -> (Vec<u32>, Vec<Vec<Run>>) {
    let mut order = Vec::with_capacity(labels.len());
    let tiles = labels.chunks(TILE).enumerate().map(|(tile, labels)| {
        let mut runs = Vec::new();
        for part in 0..parts {
            let start = order.len();
            let own = labels.iter().enumerate().filter(|(_, label)| **label == Some(part as u32));
            order.extend(own.map(|(row, _)| (tile * TILE + row) as u32));
            if order.len() > start {
                runs.push(Run { part, places: start..order.len() });
            }
        }
        runs
    });
    let tiles = tiles.collect();
    (order, tiles)
}

/// Shifted entries of some rows.
fn gather(x: Column<'_>, rows: &[u32], shift: f64, out: &mut [f64]) {
    match x {
        Column::Double(x) => out.iter_mut().zip(rows).for_each(|(out, &row)| *out = x[row as usize] - shift),
        Column::Byte(x) => out.iter_mut().zip(rows).for_each(|(out, &row)| *out = f64::from(x[row as usize]) - shift),
    }
}
