//! Additions to and removals from a subset that keep to the constraints.

use super::Rules;
use vaglio_core::Feature;

/// A subset under the rules, which checks additions and removals.
pub(crate) struct RuledSubset<'r> {
    rules: &'r Rules,
    subset: &'r [Feature],
    /// Number of selected columns in each group.
    counts: Vec<usize>,
    /// Whether each priced item is paid for.
    paid: Vec<bool>,
    /// Total cost of the columns.
    pub cost: f64,
}

impl Rules {
    /// A view of a subset that checks additions and removals.
    pub(crate) fn at<'r>(&'r self, subset: &'r [Feature]) -> RuledSubset<'r> {
        let counts = self.groups.iter().map(|group| group.count(subset)).collect();
        let mut paid = vec![false; self.prices.len()];
        let items = subset.iter().filter_map(|f| self.needs.get(f)).flatten();
        items.for_each(|&item| paid[item] = true);
        // Summed in the order of items, so that the order of columns does not matter.
        let prices = self.prices.iter().zip(&paid).filter(|(_, paid)| **paid);
        let cost = prices.fold(0.0, |sum, (price, _)| sum + price);
        RuledSubset { rules: self, subset, counts, paid, cost }
    }
}

impl RuledSubset<'_> {
    /// Whether the subset keeps to group limits and budget.
    pub fn is_within(&self) -> bool {
        let mut counts = self.counts.iter().zip(&self.rules.groups);
        counts.all(|(count, group)| *count <= group.most) && self.cost <= self.rules.budget
    }

    /// Whether adding these columns breaks no rule that the subset kept; signs are not checked. Cost O(groups + s) per
    /// column.
    pub(crate) fn may_add(&self, columns: &[Feature]) -> bool {
        let rules = self.rules;
        let exceeds = |(group, count): (&super::rules::Group, &usize)| {
            let new = group.count(columns);
            new > 0 && count + new > group.most
        };
        if rules.groups.iter().zip(&self.counts).any(exceeds) {
            return false;
        }
        let mut new: Vec<usize> = columns.iter().filter_map(|f| rules.needs.get(f)).flatten().copied().collect();
        new.retain(|&item| !self.paid[item]);
        if !new.is_empty() {
            let paid = |item: &usize| self.paid[*item] || new.contains(item);
            let cost: f64 = (0..rules.prices.len()).filter(paid).map(|item| rules.prices[item]).sum();
            if cost > rules.budget {
                return false;
            }
        }
        let is_there = |f: Feature| self.subset.contains(&f) || columns.contains(&f);
        rules.products(columns).all(|factors| rules.has_factors(factors, is_there))
    }

    /// Whether removing these columns breaks no rule that the subset kept; signs are not checked.
    pub(crate) fn may_remove(&self, columns: &[Feature]) -> bool {
        let rules = self.rules;
        let is_there = |f: Feature| self.subset.contains(&f);
        let is_left = |f: Feature| !columns.contains(&f) && is_there(f);
        let left = self.subset.iter().filter(|f| !columns.contains(f));
        let mut products =
            left.filter_map(|f| rules.factors.get(f)).filter(|f| f.iter().flatten().any(|f| columns.contains(f)));
        products.all(|factors| rules.has_factors(factors, is_left) || !rules.has_factors(factors, is_there))
    }

    /// Columns that take part in a violation: in a group with too many, with a cost if the budget is exceeded, or
    /// products without their factors.
    pub(crate) fn at_fault(&self) -> Vec<Feature> {
        let rules = self.rules;
        let is_over = self.cost > rules.budget;
        let is_in_full = |f: Feature| {
            rules.groups.iter().zip(&self.counts).any(|(group, count)| group.has[f] && *count > group.most)
        };
        let pays =
            |f: &Feature| rules.needs.get(f).is_some_and(|items| items.iter().any(|&item| rules.prices[item] > 0.0));
        let lacks = |f: &Feature| {
            let factors = rules.factors.get(f);
            factors.is_some_and(|factors| !rules.has_factors(factors, |f| self.subset.contains(&f)))
        };
        let is_at_fault = |f: &Feature| is_in_full(*f) || is_over && pays(f) || lacks(f);
        self.subset.iter().copied().filter(is_at_fault).collect()
    }
}
