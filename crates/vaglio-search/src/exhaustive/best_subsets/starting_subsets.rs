//! Starting subsets by a greedy search with exchanges.

use super::SubsetSquares;
use super::node_fit::{LevelRows, NodeFit};
use vaglio_core::checkpoint;

/// Maximum passes of exchanges over a subset.
const PASSES: usize = 20;

impl SubsetSquares {
    /// Finds for each size up to `most` a good subset that contains the fixed columns. Cost O(n·s²) for each exchange.
    pub fn start(&self, fixed: &[usize], most: usize) -> Vec<Vec<usize>> {
        let mut all = Vec::new();
        let mut subset = vec![fixed];
        loop {
            let size = subset.concat().len();
            let Some((squares, best)) = self.best(&subset, |block| size + block.len() <= most) else { return all };
            subset.push(best);
            self.exchange(&mut subset, squares);
            all.push(subset.concat());
        }
    }

    /// Block admitted by `fits` whose addition gives the smallest residual sum of squares, after this sum.
    fn best<'s>(&'s self, subset: &[&'s [usize]], fits: impl Fn(&[usize]) -> bool) -> Option<(f64, &'s [usize])> {
        checkpoint();
        let (mut fit, mut levels) = (NodeFit::new(&self.along, self.total), Vec::<LevelRows>::new());
        let columns = subset.concat();
        columns.iter().for_each(|&column| fit.add(self, column, &mut levels));
        let mut larger = NodeFit::default();
        let is_open = |block: &&[usize]| !columns.contains(&block[0]) && fits(block);
        let open = self.blocks_of(0..self.columns()).filter(is_open);
        let worths = open.map(|block| (fit.with_block(self, block, &mut larger, &mut levels), block));
        worths.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(b.1)))
    }

    /// Exchanges blocks, except the fixed columns, for others of equal size while the residual sum of squares falls.
    fn exchange<'s>(&'s self, subset: &mut [&'s [usize]], mut squares: f64) {
        for _ in 0..PASSES {
            let mut exchanged = false;
            for place in 1..subset.len() {
                let own = std::mem::take(&mut subset[place]);
                let best = self.best(subset, |block| block.len() == own.len());
                let better =
                    best.filter(|(least, block)| *least < squares - self.rounding * self.total && *block != own);
                subset[place] = better.map_or(own, |(_, block)| block);
                if let Some((least, _)) = better {
                    (squares, exchanged) = (least, true);
                }
            }
            if !exchanged {
                return;
            }
        }
    }
}
