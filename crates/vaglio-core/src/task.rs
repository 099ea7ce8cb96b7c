//! The prediction task.

use serde::{Deserialize, Serialize};

/// The prediction task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// Numbers.
    Regression,
    /// One of two classes, coded −1 and +1.
    Binary {
        /// The label coded −1; `None` if that is every label except the positive one.
        negative: Option<String>,
        /// The label coded +1.
        positive: String,
    },
    /// One of several classes; output `k` is +1 for label `k` and −1 for the others.
    Multiclass {
        /// The labels in the order of the outputs.
        labels: Vec<String>,
    },
}

impl Task {
    /// The identifier in pipeline files.
    pub fn name(&self) -> &'static str {
        match self {
            Task::Regression => "regression",
            Task::Binary { .. } => "binary",
            Task::Multiclass { .. } => "multiclass",
        }
    }

    /// Names of the outputs: labels of several classes, or else the names of the targets.
    pub fn output_names<'n>(&'n self, targets: &'n [String]) -> &'n [String] {
        if let Task::Multiclass { labels } = self { labels } else { targets }
    }

    /// Class labels in the order of their probabilities; empty for numbers.
    pub fn classes(&self) -> Vec<String> {
        match self {
            Task::Regression => Vec::new(),
            Task::Binary { negative, positive } => {
                vec![negative.clone().unwrap_or_else(|| format!("not {positive}")), positive.clone()]
            }
            Task::Multiclass { labels } => labels.clone(),
        }
    }
}
