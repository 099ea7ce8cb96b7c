//! Imputation of missing cells by training means, from the products of columns and masks.
//!
//! Let x be a column that holds f in its missing cells, and M their indicator. The other cells have the mean μ in the
//! training rows. The imputed column is x + (μ − f)M, so every product with it follows from products with x and M. The
//! book, *Cross-validation without refitting*, "Missing cells".

use super::centering::MomentSource;
use super::training::SplitProducts;

impl MomentSource<'_> {
    /// Imputes the products of one fold. Cost O(n²).
    pub(super) fn impute(&self, fold: usize, split: SplitProducts) -> SplitProducts {
        if self.fills.is_empty() {
            return split;
        }
        let at = |a: usize, b: usize| split.training[a.max(b) * self.sums.side + a.min(b)];
        let ones = self.ones;
        let change = |(k, &(place, fill)): (usize, &(usize, f64))| {
            let masks = self.sums.features.len() + k;
            let (least, greatest) = self.ranges[fold][place];
            let total = at(ones, ones) - at(ones, masks);
            // Without other cells there is no mean, and nothing changes.
            if least > greatest || total <= 0.0 { 0.0 } else { (at(ones, place) - at(masks, place)) / total - fill }
        };
        let changes: Vec<f64> = self.fills.iter().enumerate().map(change).collect();
        SplitProducts {
            training: self.imputed_products(&split.training, &changes),
            held_out: self.imputed_products(&split.held_out, &changes),
            from: self.imputed_products(&split.from, &changes),
        }
    }

    /// Products of the columns after adding `changes` to their missing cells.
    fn imputed_products(&self, products: &[f64], changes: &[f64]) -> Vec<f64> {
        let (columns, side) = (self.sums.features.len(), self.sums.side);
        let at = |a: usize, b: usize| products[a.max(b) * side + a.min(b)];
        let mut masks = vec![None; columns];
        for (k, (&(place, _), &change)) in self.fills.iter().zip(changes).enumerate() {
            masks[place] = Some((columns + k, change));
        }
        let kept: Vec<(usize, Option<(usize, f64)>)> = (0..columns)
            .map(|place| (place, masks[place]))
            .chain((columns + self.fills.len()..=self.ones).map(|place| (place, None)))
            .collect();
        let mut out = vec![0.0; side * side];
        for (i, &(a, mask_a)) in kept.iter().enumerate() {
            for (j, &(b, mask_b)) in kept[..=i].iter().enumerate() {
                let mut sum = at(a, b);
                if let Some((mask, change)) = mask_a {
                    sum += change * at(mask, b);
                }
                if let Some((mask, change)) = mask_b {
                    sum += change * at(mask, a);
                }
                if let (Some((x, by_x)), Some((y, by_y))) = (mask_a, mask_b) {
                    sum += by_x * by_y * at(x, y);
                }
                out[i * side + j] = sum;
            }
        }
        out
    }
}
