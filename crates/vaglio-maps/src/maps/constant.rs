//! A constant column, as a selectable bias.

use vaglio_core::{Error, Map, Result, prelude::*};

/// Adds a constant column that may be selected although it is constant: a bias, penalized like the other columns.
///
/// Use it as the last map, for `rls` and `crrr` without an intercept. Other constant columns remain excluded. `nhsic`,
/// `mrmr` and `lars` need columns with nonzero variance and refuse it.
///
/// # Reference
/// T. Pahikkala, A. Airola, T. Salakoski, *Linear time feature selection for regularized least-squares*,
/// arXiv:1003.3570, which treats the bias as a feature.
#[part(
    Map,
    "constant",
    summary = "a column of ones that may be selected, as a bias that is penalized like the other columns",
    example = "preprocess: [{kind: constant, name: constant, value: 1.0}]\nlearner: {kind: rls, intercept: false}"
)]
#[derive(PartialEq)]
pub struct Constant {
    /// Name of the column.
    #[default("constant".into())]
    pub name: String,
    /// Value in every row. The larger it is, the less its weight is penalized.
    #[default(1.0)]
    pub value: f64,
}

impl Map for Constant {
    fn traits(&self) -> MapTraits {
        MapTraits { bias: Some(self.name.clone()), ..MapTraits::default() }
    }

    fn fit(&self, _: &TrainingRows<'_>) -> Result<MapFormulas> {
        Ok(formulas(&self.name, self.value))
    }

    fn check_settings(&self) -> Result<()> {
        if self.name.is_empty() {
            return Err(Error::setting("name", "it is empty"));
        }
        if !self.value.is_finite() || self.value == 0.0 {
            return Err(Error::setting(
                "value",
                format!("{} is no bias; give a finite number other than 0", self.value),
            ));
        }
        Ok(())
    }
}

pub fn formulas(name: &str, value: f64) -> MapFormulas {
    MapFormulas::from_iter([Expression::Number(value).named(name)]).added().named_by("name")
}
