use vaglio::{criteria::Loo, learners::{Rls, Lambda}, search::Greedy};
use vaglio_core::*;
use std::sync::Arc;
fn rnd(seed: &mut u64) -> f64 { *seed = seed.wrapping_add(0x9E3779B97F4A7C15); let mut z = *seed; z = (z ^ (z >> 30)).wrapping_mul(0xBF58476D1CE4E5B9); z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB); z ^= z >> 31; (z >> 11) as f64 * 2f64.powi(-53) * 2.0 - 1.0 }
#[test]
fn quick() {
    let mut seed = 7;
    for (m, n) in [(30, 12), (12, 20), (40, 8)] { for &lambda in &[1e-6, 1e-3, 1.0, 1e3, 1e6] { for intercept in [true, false] { for weighted in [false, true] { for loss in [Loss::Squared, Loss::ZeroOne, Loss::Absolute, Loss::BalancedError] { for outputs in [1, 3] {
        let mut columns = Columns::new(m);
        for i in 0..n { let v: Vec<f64> = (0..m).map(|_| if i % 3 == 0 { (rnd(&mut seed) * 4.0).floor() + 5.0 } else { rnd(&mut seed) + 10.0 * (i % 2) as f64 }).collect(); columns.push(v); }
        let y = ndarray::Array2::from_shape_fn((outputs, m), |(o, j)| { let v = columns.column(0).get(j) - 6.0 + columns.column(1).get(j) - 10.0 + rnd(&mut seed); if outputs == 1 { if v > 0.0 {1.0} else {-1.0} } else if j % 3 == o { 1.0 } else { -1.0 } });
        let task = if outputs == 1 { Task::Binary { negative: None, positive: "1".into() } } else { Task::Multiclass { labels: vec!["a".into(), "b".into(), "c".into()] } };
        let mut p = Problem::new(columns, (0..n).map(|i| format!("x{i}")).collect(), y, (0..outputs).map(|o| format!("y{o}")).collect(), task).unwrap();
        if weighted { p = p.with_weights((0..m).map(|_| (rnd(&mut seed) * 2.0 + 2.5).floor()).collect()).unwrap(); }
        let d = Design::of(&p, Arc::new(Rls { lambda: if lambda == 1.0 { Lambda::Values(vec![0.1, 1.0, 10.0]) } else { Lambda::Fixed(lambda) }, intercept })).unwrap();
        for full_pass in [false, true] {
            let c = Loo { loss, full_pass };
            let crit: &dyn Criterion = &c;
            let mut e = crit.open(&d).unwrap();
            let mut obs = Silent;
            let path = Greedy::new(6).search(&mut SearchContext::new(&d, e.as_mut(), &mut obs, 0)).unwrap();
            for entry in &path.entries {
                let exact = crit.evaluate(&d, &entry.subset).unwrap();
                let rel = (entry.score.loss - exact.loss).abs() / exact.loss.abs().max(1e-300);
                assert!(rel < 1e-10 || exact.loss == entry.score.loss, "{m}x{n} {lambda} {intercept} {weighted} {loss:?} {outputs} full {full_pass} size {} {} {} {rel:e}", entry.subset.len(), entry.score.loss, exact.loss);
                assert_eq!(entry.score.lambda, exact.lambda);
            }
        }
    }}}}}}
}
