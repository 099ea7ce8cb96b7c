//! Constraints on the subsets that a search may take, other than their size.

mod keys;
mod moves;
mod rules;

pub use rules::Rules;

use crate::FeatureRef;
use std::collections::BTreeMap;
use vaglio_core::{Error, Result, setting};

/// Conditions on every subset of a search: signs of weights, numbers of columns of a group, heredity of products, and a
/// budget for the cost of columns.
///
/// A key names: a column; the columns that preprocessing made of one, such as the levels of `city`; one of the search's
/// `blocks`; or all columns that a pattern with `*` fits.
///
/// ```
/// use vaglio_search::Constraints;
/// let constraints = Constraints::default()
///     .negative("price")
///     .at_most("lag*", 2)
///     .strong_heredity()
///     .cost("assay", 2.5)
///     .budget(10.0);
/// assert!(constraints.check().is_ok());
/// assert!(Constraints::default().budget(10.0).check().is_err());
/// ```
#[setting(builder)]
#[derive(Default, PartialEq)]
#[serde(default)]
pub struct Constraints {
    /// The sign that the weight of a column has in the readout of every subset.
    #[optional]
    #[no_setter]
    pub signs: BTreeMap<String, Sign>,
    /// Maximum number of columns of a group in a subset: `{lag*: 2}`, or `{tests: {columns: [a, b, c], count: 1}}`.
    #[optional]
    #[no_setter]
    pub at_most: BTreeMap<String, AtMost>,
    /// Whether products such as `x*z` and `x^2` come with their factors.
    #[optional]
    #[no_setter]
    pub heredity: Option<Heredity>,
    /// Cost of each column, 0 by default. Levels of one column are paid for once. A product without a cost of its own costs
    /// as much as its factors.
    #[optional]
    #[no_setter]
    pub costs: BTreeMap<String, f64>,
    /// Largest total cost of the columns of a subset.
    #[optional]
    pub budget: Option<f64>,
}

/// The sign of a weight.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum Sign {
    /// Not below 0.
    Positive,
    /// Not above 0.
    Negative,
}

/// Maximum number of columns of a group in a subset.
#[setting]
#[derive(PartialEq)]
#[serde(untagged, deny_unknown_fields, expecting = "expected a number or {columns: [names], count: number}")]
pub enum AtMost {
    /// Maximum for the columns that the key names.
    Count(usize),
    /// Maximum for a list of columns.
    Of {
        /// Columns by name or index.
        columns: Vec<FeatureRef>,
        /// Maximum number of them in a subset.
        count: usize,
    },
}

/// Which factors a product comes with.
#[setting]
#[derive(Copy, PartialEq, Eq)]
pub enum Heredity {
    /// One at least.
    Weak,
    /// All of them.
    Strong,
}

impl Sign {
    /// Whether a weight has this sign; 0 has both.
    pub fn is_of(self, weight: f64) -> bool {
        match self {
            Sign::Positive => weight >= 0.0,
            Sign::Negative => weight <= 0.0,
        }
    }
}

impl Constraints {
    /// Keeps the weights of the columns that a key names from being negative.
    #[must_use]
    pub fn positive(mut self, key: impl Into<String>) -> Self {
        self.signs.insert(key.into(), Sign::Positive);
        self
    }

    /// Keeps the weights of the columns that a key names from being positive.
    #[must_use]
    pub fn negative(mut self, key: impl Into<String>) -> Self {
        self.signs.insert(key.into(), Sign::Negative);
        self
    }

    /// Requires at least one factor of each product.
    #[must_use]
    pub fn weak_heredity(self) -> Self {
        Constraints { heredity: Some(Heredity::Weak), ..self }
    }

    /// Requires all factors of each product.
    #[must_use]
    pub fn strong_heredity(self) -> Self {
        Constraints { heredity: Some(Heredity::Strong), ..self }
    }

    /// Adds a maximum count of selected columns for those that a key names.
    #[must_use]
    pub fn at_most(mut self, key: impl Into<String>, count: usize) -> Self {
        self.at_most.insert(key.into(), AtMost::Count(count));
        self
    }

    /// Adds a maximum count of selected columns for a list.
    #[must_use]
    pub fn at_most_of(
        mut self,
        name: impl Into<String>,
        columns: impl IntoIterator<Item = impl Into<FeatureRef>>,
        count: usize,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        self.at_most.insert(name.into(), AtMost::Of { columns, count });
        self
    }

    /// Adds a cost for the columns that a key names.
    #[must_use]
    pub fn cost(mut self, key: impl Into<String>, cost: f64) -> Self {
        self.costs.insert(key.into(), cost);
        self
    }

    /// Refuses constraints that no design can satisfy.
    ///
    /// # Errors
    /// [`Error::Setting`] with the field's path.
    pub fn check(&self) -> Result<()> {
        let is_cost = |cost: f64| cost.is_finite() && cost >= 0.0;
        if let Some((key, cost)) = self.costs.iter().find(|(_, cost)| !is_cost(**cost)) {
            return Err(Error::setting(format!("costs.{key}"), format!("{cost} is not a finite number from 0 on")));
        }
        if let Some((name, _)) =
            self.at_most.iter().find(|(_, limit)| matches!(limit, AtMost::Of { columns, .. } if columns.is_empty()))
        {
            return Err(Error::setting(format!("at_most.{name}.columns"), "a group needs at least one column"));
        }
        match self.budget {
            Some(budget) if !(budget.is_finite() && budget > 0.0) => {
                let message = format!("{budget} buys no column; a budget is a finite number above 0");
                Err(Error::setting("budget", message))
            }
            Some(_) if self.costs.is_empty() => {
                Err(Error::setting("budget", "no column costs anything; `costs` says what columns cost"))
            }
            _ => Ok(()),
        }
    }

    /// Summary of the constraints, such as `x negative; at most 2 of lag*; strong heredity; costs up to 10`.
    pub fn sentence(&self) -> String {
        let signs = self.signs.iter().map(|(key, sign)| format!("{key} {}", sign.word()));
        let groups = self.at_most.iter().map(|(key, limit)| match limit {
            AtMost::Count(count) | AtMost::Of { count, .. } => format!("at most {count} of {key}"),
        });
        let heredity = self.heredity.map(|heredity| format!("{} heredity", heredity.word()));
        let costs = match (self.budget, self.costs.len()) {
            (Some(budget), _) => Some(format!("costs up to {budget}")),
            (None, 0) => None,
            (None, count) => Some(format!("costs of {count}")),
        };
        signs.chain(groups).chain(heredity).chain(costs).collect::<Vec<_>>().join("; ")
    }
}
