//! Columns named in settings.

use vaglio_core::{Error, Feature, Result, setting};

/// A column named in a setting, by name or by index from 0.
#[setting]
#[derive(PartialEq, Eq)]
#[serde(untagged)]
pub enum FeatureRef {
    /// By index, from 0.
    Index(usize),
    /// By name.
    Name(String),
}

impl From<usize> for FeatureRef {
    fn from(index: usize) -> Self {
        FeatureRef::Index(index)
    }
}

impl From<&str> for FeatureRef {
    fn from(name: &str) -> Self {
        FeatureRef::Name(name.to_owned())
    }
}

impl From<String> for FeatureRef {
    fn from(name: String) -> Self {
        FeatureRef::Name(name)
    }
}

impl FeatureRef {
    /// Finds the columns of a list.
    pub(crate) fn resolve_all(list: &[FeatureRef], names: &[String], field: &str) -> Result<Vec<Feature>> {
        list.iter().enumerate().map(|(k, reference)| reference.resolve(names, &format!("{field}[{k}]"))).collect()
    }

    /// Finds the column.
    ///
    /// # Errors
    /// [`Error::UnknownName`] on `field`, with the nearest name. [`Error::Setting`] for a number that is the name of
    /// one column and the index of another.
    pub fn resolve(&self, names: &[String], field: &str) -> Result<Feature> {
        match self {
            FeatureRef::Index(index) => {
                let name = index.to_string();
                let quoted = match names.contains(&name) {
                    true => format!("; the column called `{name}` is written \"{name}\", in quotes"),
                    false => String::new(),
                };
                match names.get(*index) {
                    Some(own) if quoted.is_empty() || *own == name => Ok(*index),
                    Some(own) => Err(Error::setting(
                        field,
                        format!("column {index}, counted from 0, is `{own}`, by whose name it may be called{quoted}"),
                    )),
                    None => {
                        let message =
                            format!("there is no column {index}: {} candidates count from 0{quoted}", names.len());
                        Err(Error::setting(field, message))
                    }
                }
            }
            FeatureRef::Name(name) => {
                names.iter().position(|n| n == name).ok_or_else(|| Error::unknown(field, "column", name, names.iter()))
            }
        }
    }
}
