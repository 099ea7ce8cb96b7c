//! A column of one value.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vaglio_core::{Cells, Error, FittedMap, Map, Numbers, Result, Table};

/// Adds a column of one value that may be selected although it is constant: a bias, penalized like the other columns.
///
/// For `rls` and `crrr` without an intercept, as the last map. Other constant columns stay out. `nhsic`, `mrmr` and `lars`
/// go by the spread of columns and refuse it.
///
/// # Reference
/// T. Pahikkala, A. Airola, T. Salakoski, *Linear time feature selection for regularized least-squares*, arXiv:1003.3570,
/// where the bias is a feature like the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Constant {
    /// The name of the column.
    pub name: String,
    /// Its value in every row; the larger, the less its weight is penalized.
    pub value: f64,
}

impl Default for Constant {
    fn default() -> Self {
        Constant { name: "constant".into(), value: 1.0 }
    }
}

vaglio_core::setters!(Constant { name: String, value: f64 });

vaglio_core::describe!(
    Map,
    Constant,
    "constant",
    "a column of ones that may be selected, as a bias that is penalized like the other columns",
    "preprocess: [{kind: constant, name: constant, value: 1.0}]\nlearner: {kind: rls, intercept: false}"
);

/// The column that [`Constant`] adds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FittedConstant {
    name: String,
    value: f64,
}

#[typetag::serde(name = "constant")]
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

#[typetag::serde(name = "constant")]
impl FittedMap for FittedConstant {
    fn transform(&self, mut table: Table) -> Result<Table> {
        let rows = table.rows();
        let mut columns = table.take_columns();
        // One that new data have by chance was not there in the training rows.
        columns.retain(|(name, _)| *name != self.name);
        columns.push((self.name.clone(), Cells::Numbers(Numbers::from(vec![self.value; rows]))));
        table.with_columns(columns)
    }

    fn sources(&self, name: &str) -> Vec<String> {
        if name == self.name { Vec::new() } else { vec![name.to_owned()] }
    }

    fn divisor(&self, _name: &str) -> Option<f64> {
        Some(1.0)
    }

    fn makes_blocks(&self) -> bool {
        false
    }
}
