//! Constraints on the columns of a design.

use super::keys::Keys;
use super::{AtMost, Constraints, Heredity, Sign};
use crate::FeatureRef;
use std::collections::{BTreeMap, BTreeSet};
use vaglio_core::{Block, Column, Design, Error, Feature, Result, Score, rescale, training_weights};
use vaglio_kernels::ridge::Ridge;

/// Relative excess over a budget that is allowed for rounding in sums of costs.
const COST_ROUNDING: f64 = 1e-12;

/// The constraints of a search, by the columns of a design.
#[derive(Debug, Clone)]
pub struct Rules {
    groups: Vec<Group>,
    /// Factors of each column that is a product; `None` for a factor that is no column.
    factors: BTreeMap<Feature, Vec<Option<Feature>>>,
    heredity: Heredity,
    /// Prices of the items, each paid once.
    prices: Vec<f64>,
    /// Items that each column needs.
    needs: BTreeMap<Feature, Vec<usize>>,
    budget: f64,
    signs: BTreeMap<Feature, Sign>,
    /// The constraints in words.
    pub sentence: String,
}

/// A group of columns with a maximum number in a subset.
#[derive(Debug, Clone)]
struct Group {
    name: String,
    most: usize,
    /// Whether each column is in the group.
    has: Vec<bool>,
}

impl Group {
    /// Number of columns in the group.
    fn count(&self, columns: &[Feature]) -> usize {
        columns.iter().filter(|&&f| self.has[f]).count()
    }
}

impl Rules {
    /// Resolves checked constraints on a design; keys may also name `blocks` of the search.
    pub(crate) fn new(constraints: &Constraints, design: &Design, blocks: &[Block]) -> Result<Self> {
        let keys = Keys::new(design, blocks);
        let mut rules = Rules {
            groups: groups(&constraints.at_most, &keys)?,
            factors: BTreeMap::new(),
            heredity: constraints.heredity.unwrap_or(Heredity::Weak),
            prices: Vec::new(),
            needs: BTreeMap::new(),
            budget: constraints.budget.map_or(f64::INFINITY, |budget| budget * (1.0 + COST_ROUNDING)),
            signs: BTreeMap::new(),
            sentence: constraints.sentence(),
        };
        let factors = keys.factors();
        rules.set_costs(constraints, &keys, &factors)?;
        if constraints.heredity.is_some() {
            if factors.is_empty() {
                let message = "no column is a product of others, such as `x*z` or `x^2`; `interactions` and `polynomial` in \
                               preprocess make them";
                return Err(Error::setting("heredity", message));
            }
            rules.factors = factors;
        }
        for (key, &sign) in &constraints.signs {
            let field = format!("signs.{key}");
            check_weights(design).map_err(|why| Error::setting(&field, why))?;
            for feature in keys.columns(key, &field)? {
                if rules.signs.insert(feature, sign).is_some_and(|other| other != sign) {
                    let message = format!("`{}` is to be of the other sign as well", keys.names[feature]);
                    return Err(Error::setting(field, message));
                }
            }
        }
        Ok(rules)
    }

    fn set_costs(
        &mut self,
        given: &Constraints,
        keys: &Keys<'_>,
        factors: &BTreeMap<Feature, Vec<Option<Feature>>>,
    ) -> Result<()> {
        let mut own = BTreeMap::new();
        for (key, &price) in &given.costs {
            let field = format!("costs.{key}");
            let columns = keys.columns(key, &field)?;
            // A key that is the exact name of a column overrules keys that name several.
            let is_exact = keys.places.contains_key(key.as_str());
            let is_once = is_exact || keys.block(key).is_some();
            for (k, feature) in columns.into_iter().enumerate() {
                if k == 0 || !is_once {
                    self.prices.push(price);
                }
                let item = self.prices.len() - 1;
                if is_exact || !own.get(&feature).is_some_and(|(_, exact)| *exact) {
                    own.insert(feature, (item, is_exact));
                }
            }
        }
        self.needs = own.iter().map(|(&feature, &(item, _))| (feature, vec![item])).collect();
        for (&product, factors) in factors.iter().filter(|(product, _)| !own.contains_key(product)) {
            let items: Vec<usize> =
                factors.iter().flatten().filter_map(|f| own.get(f)).map(|(item, _)| *item).collect();
            if !items.is_empty() {
                self.needs.insert(product, items);
            }
        }
        Ok(())
    }

    /// Whether the weight of any column must have a sign.
    pub fn has_signs(&self) -> bool {
        !self.signs.is_empty()
    }

    /// Whether columns have costs.
    pub fn has_costs(&self) -> bool {
        !self.prices.is_empty()
    }

    /// Required sign of the weight of a column.
    pub fn sign(&self, feature: Feature) -> Option<Sign> {
        self.signs.get(&feature).copied()
    }

    /// Whether a column is a product that comes with factors.
    pub(crate) fn is_product(&self, feature: Feature) -> bool {
        self.factors.contains_key(&feature)
    }

    /// Columns of a subset whose weights at the λ of its score have a wrong sign; all columns if there are no weights.
    /// Cost O(m·s²).
    ///
    /// # Errors
    /// [`Error::Setting`] if the score has no λ and the readout has several.
    pub fn wrong_signs(&self, design: &Design, subset: &[Feature], score: Score) -> Result<Vec<Feature>> {
        if !subset.iter().any(|feature| self.signs.contains_key(feature)) {
            return Ok(Vec::new());
        }
        let Some(weights) = weights(design, subset, score.lambda)? else { return Ok(subset.to_vec()) };
        let is_wrong =
            |(feature, weight): &(Feature, f64)| self.sign(*feature).is_some_and(|sign| !sign.is_of(*weight));
        Ok(subset.iter().copied().zip(weights).filter(is_wrong).map(|(feature, _)| feature).collect())
    }

    /// Whether a subset keeps all rules but signs, which need its weights. Cost O(s·(s + groups)).
    pub fn allows(&self, subset: &[Feature]) -> bool {
        self.may_grow(subset, |_| false)
    }

    /// Whether a subset can keep all rules but signs once `is_free` columns are added; false is certain.
    pub(crate) fn may_grow(&self, subset: &[Feature], is_free: impl Fn(Feature) -> bool) -> bool {
        let is_there = |f: Feature| subset.contains(&f) || is_free(f);
        self.is_within(subset) && !subset.iter().any(|&f| self.lacks_factors(f, is_there))
    }

    /// Whether the factors of a product satisfy the heredity rule.
    fn has_factors(&self, factors: &[Option<Feature>], is_there: impl Fn(Feature) -> bool) -> bool {
        let mut there = factors.iter().map(|factor| factor.is_some_and(&is_there));
        match self.heredity {
            Heredity::Weak => there.any(|there| there),
            Heredity::Strong => there.all(|there| there),
        }
    }

    /// Whether a column is a product without the factors that heredity requires.
    fn lacks_factors(&self, feature: Feature, is_there: impl Fn(Feature) -> bool) -> bool {
        self.factors.get(&feature).is_some_and(|factors| !self.has_factors(factors, is_there))
    }

    /// Whether a subset keeps to group limits and budget.
    fn is_within(&self, subset: &[Feature]) -> bool {
        self.groups.iter().all(|group| group.count(subset) <= group.most) && self.cost(subset) <= self.budget
    }

    /// Whether columns may be added to a subset that keeps all rules; signs are not checked.
    pub(crate) fn may_add(&self, subset: &[Feature], columns: &[Feature]) -> bool {
        let larger = [subset, columns].concat();
        let fits = |group: &Group| group.count(columns) == 0 || group.count(&larger) <= group.most;
        self.groups.iter().all(fits)
            && self.cost(&larger) <= self.budget
            && !columns.iter().any(|&f| self.lacks_factors(f, |f| larger.contains(&f)))
    }

    /// Whether removing columns breaks no rule that the subset kept; signs are not checked.
    pub(crate) fn may_remove(&self, subset: &[Feature], columns: &[Feature]) -> bool {
        let is_there = |f: Feature| subset.contains(&f);
        let is_left = |f: Feature| !columns.contains(&f) && is_there(f);
        let left = subset.iter().filter(|f| !columns.contains(f));
        let mut products =
            left.filter_map(|f| self.factors.get(f)).filter(|f| f.iter().flatten().any(|f| columns.contains(f)));
        products.all(|factors| self.has_factors(factors, is_left) || !self.has_factors(factors, is_there))
    }

    /// Columns of a subset that take part in a violation: in a group with too many, with a cost if the budget is
    /// exceeded, or products without their factors. Signs are not checked.
    pub(crate) fn at_fault(&self, subset: &[Feature]) -> Vec<Feature> {
        let is_over = self.cost(subset) > self.budget;
        let full: Vec<&Group> = self.groups.iter().filter(|group| group.count(subset) > group.most).collect();
        let pays =
            |f: &Feature| self.needs.get(f).is_some_and(|items| items.iter().any(|&item| self.prices[item] > 0.0));
        let lacks = |f: Feature| self.lacks_factors(f, |f| subset.contains(&f));
        let is_at_fault = |f: &Feature| full.iter().any(|group| group.has[*f]) || is_over && pays(f) || lacks(*f);
        subset.iter().copied().filter(is_at_fault).collect()
    }

    /// Total cost of the columns of a subset. Items are summed in their order, so that the order of columns does not
    /// matter.
    pub fn cost(&self, subset: &[Feature]) -> f64 {
        let mut items: Vec<usize> = subset.iter().filter_map(|f| self.needs.get(f)).flatten().copied().collect();
        items.sort_unstable();
        items.dedup();
        items.iter().fold(0.0, |sum, &item| sum + self.prices[item])
    }

    /// Upper bound on the size of a subset that keeps to groups and budget. Cost O(features log features).
    pub fn most(&self, candidates: &[Feature]) -> usize {
        // Overlapping groups and shared costs are not all counted, which can only raise the bound.
        let (mut taken, mut most) = (BTreeSet::new(), candidates.len());
        for group in &self.groups {
            let own: Vec<Feature> = candidates.iter().copied().filter(|&f| group.has[f]).collect();
            if own.iter().all(|f| !taken.contains(f)) {
                most -= own.len().saturating_sub(group.most);
                taken.extend(own);
            }
        }
        let mut seen = vec![false; self.prices.len()];
        let price = |f: &Feature| match self.needs.get(f).map(Vec::as_slice) {
            Some([item]) if !std::mem::replace(&mut seen[*item], true) => self.prices[*item],
            _ => 0.0,
        };
        let mut cheapest: Vec<f64> = candidates.iter().map(price).collect();
        cheapest.sort_unstable_by(f64::total_cmp);
        let mut spent = 0.0;
        let affordable = cheapest.iter().take_while(|&&price| {
            spent += price;
            spent <= self.budget
        });
        most.min(affordable.count())
    }

    /// First rule that a subset breaks, as the field and the reason; signs are not checked.
    pub fn broken_rule(&self, subset: &[Feature], names: &[String]) -> Option<(String, String)> {
        if let Some(group) = self.groups.iter().find(|group| group.count(subset) > group.most) {
            let message = format!(
                "{} columns of `{}` would be selected, and {} are allowed",
                group.count(subset),
                group.name,
                group.most
            );
            return Some((format!("at_most.{}", group.name), message));
        }
        if self.cost(subset) > self.budget {
            let message = format!(
                "the columns would cost {}, and the budget is {}",
                self.cost(subset),
                self.budget / (1.0 + COST_ROUNDING)
            );
            return Some(("budget".into(), message));
        }
        let product = subset.iter().find(|f| self.lacks_factors(**f, |f| subset.contains(&f)))?;
        let which = if self.heredity == Heredity::Strong { "all its factors" } else { "any of its factors" };
        Some(("heredity".into(), format!("`{}` would be selected without {which}", names[*product])))
    }
}

/// Weights of the readout on all rows of a design, in the order of the subset; `None` without a readout.
fn weights(design: &Design, subset: &[Feature], lambda: Option<f64>) -> Result<Option<Vec<f64>>> {
    let Some(readout) = design.readout() else { return Ok(None) };
    let lambda = match (lambda, &readout.lambdas[..]) {
        (Some(lambda), _) => lambda,
        (None, [only]) => *only,
        _ => {
            let message =
                "the criterion takes no lambda, by which weights would have their signs; give the learner a single one";
            return Err(Error::setting("constraints.signs", message));
        }
    };
    let (units, scaled) = rescale(design);
    let columns: Vec<Column<'_>> = subset.iter().map(|&feature| scaled.column(feature)).collect();
    let weights = training_weights(scaled, 0..scaled.rows());
    let ridge = Ridge::from_columns(&columns, scaled.targets(), weights.as_deref(), readout.intercept);
    let solved = ridge.and_then(|ridge| ridge.coefficients(units.lambda(lambda))).ok();
    Ok(solved.map(|(weights, _)| weights.column(0).to_vec()))
}

fn check_weights(design: &Design) -> Result<(), &'static str> {
    if design.readout().is_none() {
        return Err("the learner has no weights, of which a sign could be asked; use a learner with a linear readout");
    }
    if design.targets().nrows() > 1 {
        return Err(
            "there are several outputs, in each of which the column has a weight of its own; a sign is asked of one output",
        );
    }
    Ok(())
}

fn groups(given: &BTreeMap<String, AtMost>, keys: &Keys<'_>) -> Result<Vec<Group>> {
    let one = |(name, limit): (&String, &AtMost)| {
        let field = format!("at_most.{name}");
        let (columns, most) = match limit {
            AtMost::Count(count) => (keys.columns(name, &field)?, *count),
            AtMost::Of { columns, count } => {
                (FeatureRef::resolve_all(columns, keys.names, &format!("{field}.columns"))?, *count)
            }
        };
        let mut has = vec![false; keys.names.len()];
        columns.into_iter().for_each(|f| has[f] = true);
        Ok(Group { name: name.clone(), most, has })
    };
    given.iter().map(one).collect()
}

impl Rules {
    /// Refuses blocks of columns that move together if they are partly in a group or too many for it.
    pub(crate) fn refuse_split_blocks(&self, blocks: &[Block]) -> Result<()> {
        for group in &self.groups {
            for block in blocks {
                let inside = group.count(&block.columns);
                let refused = |message| Err(Error::setting(format!("at_most.{}", group.name), message));
                if inside > 0 && inside < block.columns.len() {
                    return refused(format!(
                        "the columns of the block `{}` move together, and {inside} of its {} are in this group; name all or none",
                        block.name,
                        block.columns.len()
                    ));
                }
                if inside > group.most {
                    return refused(format!(
                        "the block `{}` has {inside} columns, which move together, and {} of this group are allowed",
                        block.name, group.most
                    ));
                }
            }
        }
        Ok(())
    }

    /// Refuses a budget below the cost of every single candidate, and forced columns that break a rule.
    pub(crate) fn refuse_impossible(&self, candidates: &[Feature], forced: &[Feature], names: &[String]) -> Result<()> {
        let is_affordable = |f: &Feature| self.cost(&[*f]) <= self.budget;
        if !candidates.is_empty() && !candidates.iter().any(is_affordable) {
            let message = "every column costs more than that; an empty selection needs no search";
            return Err(Error::setting("constraints.budget", message));
        }
        self.broken_rule(forced, names).map_or(Ok(()), |(field, why)| {
            Err(Error::setting("forced", format!("the forced columns break `constraints.{field}`: {why}")))
        })
    }
}
