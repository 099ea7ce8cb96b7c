use vaglio_core::{LogLoss, Loss};

#[test]
fn probabilities_are_halfway_between_codes() {
    let loss = LogLoss { clip: 0.1 };
    let close = |found: f64, probability: f64| assert!((found + f64::ln(probability)).abs() < 1e-15, "{found}");
    close(loss.row_loss(&[1.0], &[0.2]), 0.6);
    close(loss.row_loss(&[-1.0], &[0.2]), 0.4);
    close(loss.row_loss(&[-1.0], &[7.0]), 0.1);
    close(loss.row_loss(&[1.0, -1.0, -1.0], &[0.0, -0.2, -3.0]), 0.5 / (0.5 + 0.4 + 0.1));
}
