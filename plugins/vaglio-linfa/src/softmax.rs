//! Softmax probabilities.

/// Replaces scores by the probabilities exp(s_k)/Σ exp(s_j), and returns ln Σ exp(s_j).
pub(crate) fn softmax(scores: &mut [f64]) -> f64 {
    let most = scores.iter().fold(f64::NEG_INFINITY, |most, s| most.max(*s));
    scores.iter_mut().for_each(|s| *s = (*s - most).exp());
    let total: f64 = scores.iter().sum();
    scores.iter_mut().for_each(|s| *s /= total);
    most + total.ln()
}
