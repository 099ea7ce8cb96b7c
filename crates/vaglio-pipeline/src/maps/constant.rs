//! A constant column, as a selectable bias.

use vaglio_core::{Cells, Error, Expression, FittedMap, Map, Numbers, Origin, OutputUnit, Result, Table, part, saved};

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

vaglio_core::setters!(Constant { value: f64; name: String; });

/// Fitted [`Constant`].
#[saved(FittedMap, "constant")]
#[derive(Clone, PartialEq)]
pub struct FittedConstant {
    name: String,
    value: f64,
}

impl Map for Constant {
    fn bias(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn fit(&self, table: &Table, _weights: Option<&[f64]>) -> Result<Box<dyn FittedMap>> {
        if table.get(&self.name).is_some() {
            let message = format!("there is a column `{}` already; choose another name", self.name);
            return Err(Error::setting("name", message));
        }
        Ok(Box::new(FittedConstant { name: self.name.clone(), value: self.value }))
    }

    fn check(&self) -> Result<()> {
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

impl FittedMap for FittedConstant {
    fn origin(&self, name: &str) -> Option<Origin> {
        let unit = OutputUnit::Divided(1.0);
        (name == self.name).then(|| Origin { sources: Vec::new(), unit, is_block: false })
    }

    fn transform(&self, mut table: Table) -> Result<Table> {
        let rows = table.rows();
        let mut columns = table.take_columns();
        // A column of this name in new data did not exist in the training rows.
        columns.retain(|(name, _)| *name != self.name);
        columns.push((self.name.clone(), Cells::Numbers(Numbers::from(vec![self.value; rows]))));
        table.with_columns(columns)
    }

    fn expression(&self, name: &str) -> Option<Expression> {
        Some(if name == self.name { Expression::Number(self.value) } else { Expression::column(name) })
    }
}
