//! The result as a short table for people.

use super::{PerOutput, Record, Status};
use vaglio_core::Certificate;

impl Record {
    /// A short table for people: the chosen columns with their weights, and the figures.
    pub fn table(&self) -> String {
        let width = self.selected.iter().map(|s| s.name.chars().count()).max().unwrap_or(0).max(6);
        let mut out = format!("{:>4}  {:<width$}  {:>12}\n", "", "column", "weight");
        for (k, chosen) in self.selected.iter().enumerate() {
            let weight = match &chosen.weight {
                Some(PerOutput::One(weight)) => format!("{weight:.6}"),
                Some(PerOutput::Several(list)) => format!("({} outputs)", list.len()),
                None => String::new(),
            };
            out.push_str(&format!("{:>4}  {:<width$}  {weight:>12}\n", k + 1, chosen.name));
        }
        let parts = &self.pipeline;
        out.push_str(&format!(
            "\n{} of {} columns, {} rows; {} on {}{}, {}\n",
            self.selected.len(),
            self.data.features,
            self.data.rows,
            parts.search,
            parts.criterion,
            parts.loss.map(|loss| format!(" ({})", loss.name())).unwrap_or_default(),
            parts.learner,
        ));
        if let Some(tuned) = &self.tuned {
            let values: Vec<String> =
                tuned.parameters.iter().map(|(path, value)| format!("{path} = {value}")).collect();
            let (method, count) = (tuned.method.name(), tuned.evaluations);
            out.push_str(&format!("tuned by {method}, {count} evaluations: {}\n", values.join(", ")));
        }
        let lambda = self.lambda.map(|l| format!(", lambda {l}")).unwrap_or_default();
        out.push_str(&format!("score {:.6} (no columns: {:.6}){lambda}\n", self.score, self.empty_score));
        if let Some(test) = &self.test {
            out.push_str(&format!("test  {} rows, mean squared error {:.6}", test.rows, test.mse));
            if let Some(rate) = test.error_rate {
                out.push_str(&format!(", error rate {rate:.4}"));
            }
            out.push('\n');
        } else {
            let who = if self.tuned.is_some() { "tuning and selection" } else { "the selection" };
            out.push_str(&format!(
                "The score is optimistic: {who} saw these rows. Give test data for an honest figure.\n"
            ));
        }
        if let Some(certificate) = &self.certificate {
            let Certificate { optimal, visited, pruned, .. } = certificate;
            let proven = if *optimal { "the best subset of every size is proven" } else { "not proven to be the best" };
            out.push_str(&format!("{visited} subsets scored, {pruned} ruled out unscored: {proven}\n"));
        }
        if self.status == Status::Partial {
            out.push_str("The search was cut short; this is the valid result so far.\n");
        }
        if self.pipeline.loss.is_some() && self.score >= self.empty_score {
            out.push_str("No subset on the path beats the empty one.\n");
        }
        out
    }
}
