//! Kernel settings.

use crate::similarity::KernelFunction;
use serde::{Deserialize, Deserializer};
use vaglio_core::{Error, Result, number, setting};

/// A kernel; fields of another kind are rejected.
#[setting]
#[derive(PartialEq)]
pub struct KernelSettings {
    /// Kind of the kernel.
    #[serde(default)]
    pub kind: KernelKind,
    /// Bandwidth b of `rbf`; by default `median`.
    #[optional]
    pub bandwidth: Option<Bandwidth>,
    /// Degree of `polynomial`, at least 1; by default 3.
    #[optional]
    pub degree: Option<u32>,
    /// Offset added to uᵀv by `polynomial`, at least 0; by default 1.
    #[optional]
    pub offset: Option<f64>,
}

/// Kind of a kernel.
#[setting]
#[derive(Copy, PartialEq, Eq, Default)]
pub enum KernelKind {
    /// exp(−‖u − v‖²/2b²).
    #[default]
    Rbf,
    /// uᵀv.
    Linear,
    /// (uᵀv + offset)^degree.
    Polynomial,
}

/// The bandwidth b of an `rbf` kernel.
#[setting]
#[derive(Copy, PartialEq, Default)]
#[serde(expecting = "expected `median` or a positive number")]
pub enum Bandwidth {
    /// The median distance of 2048 random pairs of distinct rows, or of all pairs if there are no more.
    #[default]
    Median,
    /// A positive number.
    #[serde(untagged)]
    Value(f64),
}

/// Reads a kernel; missing fields of its kind get their defaults.
pub(crate) fn read_kernel<'de, D: Deserializer<'de>>(deserializer: D) -> Result<KernelSettings, D::Error> {
    let mut kernel = KernelSettings::deserialize(deserializer)?;
    match kernel.kind {
        KernelKind::Rbf => _ = kernel.bandwidth.get_or_insert_default(),
        KernelKind::Linear => {}
        KernelKind::Polynomial => _ = (kernel.degree.get_or_insert(3), kernel.offset.get_or_insert(1.0)),
    }
    Ok(kernel)
}

impl Default for KernelSettings {
    fn default() -> Self {
        KernelSettings::rbf(Bandwidth::Median)
    }
}

impl KernelSettings {
    /// Gaussian kernel exp(−‖u − v‖²/2b²).
    pub fn rbf(bandwidth: Bandwidth) -> Self {
        KernelSettings { kind: KernelKind::Rbf, bandwidth: Some(bandwidth), degree: None, offset: None }
    }

    /// Linear kernel uᵀv.
    pub fn linear() -> Self {
        KernelSettings { kind: KernelKind::Linear, bandwidth: None, degree: None, offset: None }
    }

    /// Polynomial kernel (uᵀv + offset)^degree.
    pub fn polynomial(degree: u32, offset: f64) -> Self {
        KernelSettings { kind: KernelKind::Polynomial, bandwidth: None, degree: Some(degree), offset: Some(offset) }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// [`Error::Setting`] with the field's path inside the kernel.
    pub fn check(&self) -> Result<()> {
        let kind = self.kind.word();
        for (field, given, owner) in [
            ("bandwidth", self.bandwidth.is_some(), KernelKind::Rbf),
            ("degree", self.degree.is_some(), KernelKind::Polynomial),
            ("offset", self.offset.is_some(), KernelKind::Polynomial),
        ] {
            if given && self.kind != owner {
                return Err(Error::setting(field, format!("the `{kind}` kernel has no {field}; leave it out")));
            }
        }
        if let Some(Bandwidth::Value(bandwidth)) = self.bandwidth {
            fitting(bandwidth).map_err(|message| Error::setting("bandwidth", message))?;
        }
        if self.degree == Some(0) {
            return Err(Error::setting("degree", "0 is not at least 1"));
        }
        match self.offset {
            Some(offset) if !(offset.is_finite() && offset >= 0.0) => {
                Err(Error::setting("offset", format!("{offset} is negative or not finite")))
            }
            _ => Ok(()),
        }
    }

    /// Resolves the kernel; `median` computes the bandwidth if that is the rule.
    ///
    /// # Errors
    /// [`Error::Numerical`] if the square of the median over- or underflows.
    pub(crate) fn fixed(&self, median: impl FnOnce() -> f64) -> Result<KernelFunction> {
        Ok(match self.kind {
            KernelKind::Rbf => KernelFunction::Rbf {
                bandwidth: match self.bandwidth {
                    Some(Bandwidth::Value(bandwidth)) => bandwidth,
                    Some(Bandwidth::Median) | None => {
                        let bandwidth = median();
                        let failed = |_| {
                            Error::Numerical(format!(
                                "the median distance of rows is {bandwidth}, which is no bandwidth; standardize the columns"
                            ))
                        };
                        fitting(bandwidth).map_err(failed)?;
                        bandwidth
                    }
                },
            },
            KernelKind::Linear => KernelFunction::Polynomial { degree: 1, offset: 0.0 },
            KernelKind::Polynomial => {
                KernelFunction::Polynomial { degree: self.degree.unwrap_or(3), offset: self.offset.unwrap_or(1.0) }
            }
        })
    }
}

/// Rejects a bandwidth whose square over- or underflows.
fn fitting(bandwidth: f64) -> Result<(), String> {
    if (1e-150..=1e150).contains(&bandwidth) {
        return Ok(());
    }
    let expected = if bandwidth > 0.0 { "between 1e-150 and 1e150" } else { "a positive number" };
    Err(format!("{} is not {expected}", number(bandwidth)))
}

impl KernelFunction {
    /// Whether the parameters are valid settings.
    pub fn is_valid(self) -> bool {
        match self {
            KernelFunction::Rbf { bandwidth } => fitting(bandwidth).is_ok(),
            KernelFunction::Polynomial { degree, offset } => degree > 0 && offset.is_finite() && offset >= 0.0,
        }
    }
}
