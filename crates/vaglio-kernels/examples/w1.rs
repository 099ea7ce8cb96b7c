// times greedy on peers data
use std::sync::Arc;
use vaglio_kernels::{Column, Level, loo::*};
fn splitmix(seed: u64, start: u64, count: usize) -> Vec<f64> {
    (0..count as u64).map(|t| { let mut z = seed.wrapping_add((start + t + 1).wrapping_mul(0x9E3779B97F4A7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58476D1CE4E5B9); z = (z ^ (z >> 27)).wrapping_mul(0x94D049BB133111EB); z ^= z >> 31;
        (z >> 11) as f64 * 2f64.powi(-53) }).collect()
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (m, n, k): (usize, usize, usize) = (args[1].parse().unwrap(), args[2].parse().unwrap(), args[3].parse().unwrap());
    let mode = &args[4];
    let mut cols = vec![vec![0.0; m]; n];
    let s3 = 3f64.sqrt();
    for i in 0..m { let r = splitmix(1, (i * n) as u64, n); for j in 0..n { cols[j][i] = (r[j] * 2.0 - 1.0) * s3; } }
    let c = (1.0f64 - 0.25).sqrt();
    for j in 1..n { for i in 0..m { cols[j][i] = 0.5 * cols[j - 1][i] + c * cols[j][i]; } }
    let mut y = vec![0.0; m];
    for t in 0..50.min(n) { let b = (if t % 2 == 0 { 1.0 } else { -1.0 }) / (1.0 + 0.1 * t as f64); let x = &cols[(t * 37 + 5) % n]; for i in 0..m { y[i] += b * x[i]; } }
    let e = splitmix(1001, 0, m); for i in 0..m { y[i] += (e[i] * 2.0 - 1.0) * s3; }
    let arena: Vec<f64> = { let mut v = Vec::with_capacity(m*n); for c in &cols { v.extend_from_slice(c); } v }; drop(cols); let cols: Vec<&[f64]> = arena.chunks(m).collect();
    let t0 = std::time::Instant::now();
    let data = Arc::new(Data::new(Level::best(), cols.iter().map(|c| Column::Double(c)).collect(), vec![true; n], &[&y], None, false).unwrap());
    let scorer = Scorer::new(&data, Measure::Squared);
    let basis = Basis::new(data.clone(), 1.0);
    let mut sel = vec![]; let mut scores = vec![];
    println!("data {:?}", t0.elapsed());
    if mode == "full" {
        let mut full = Full::new(basis);
        println!("init {:?}", t0.elapsed());
        for _ in 0..k {
            let cand: Vec<usize> = (0..n).filter(|f| !sel.contains(f)).collect();
            let tr = full.trials(&scorer, &cand);
            let (best, t) = cand.iter().zip(&tr).min_by(|a, b| a.1.loss.total_cmp(&b.1.loss)).unwrap();
            sel.push(*best); scores.push(t.loss); full.add(*best);
        }
    } else {
        let mut b = Bounded::new(basis);
        println!("init {:?}", t0.elapsed());
        let mut evals = vec![]; let (mut tb, mut tt, mut ta) = (0.0, 0.0, 0.0);
        for _ in 0..k {
            let q = std::time::Instant::now();
            let bounds = b.bounds(&scorer); tb += q.elapsed().as_secs_f64();
            let q = std::time::Instant::now();
            let mut order: Vec<usize> = (0..bounds.len()).collect();
            order.sort_by(|&x, &y| bounds[x].total_cmp(&bounds[y]));
            let mut best = (f64::INFINITY, 0); let mut at = 0; let mut step = 1;
            while at < order.len() && bounds[order[at]] <= best.0 {
                let chunk: Vec<usize> = order[at..(at + step).min(order.len())].iter().copied().take_while(|&p| bounds[p] <= best.0).collect();
                at += chunk.len(); step = (step * 2).min(32);
                for (p, t) in chunk.iter().zip(b.trials(&scorer, &chunk)) { if (t.loss, b.features()[*p]) < best { best = (t.loss, b.features()[*p]); } }
            }
            evals.push(at); tt += q.elapsed().as_secs_f64();
            let q = std::time::Instant::now();
            b.add(best.1); sel.push(best.1); scores.push(best.0); ta += q.elapsed().as_secs_f64();
        }
        println!("evals {:?} bounds {tb:.3} trials {tt:.3} add {ta:.3}", evals);
    }
    println!("{mode} total {:?}", t0.elapsed());
    println!("{:?}\n{:?}", sel, &scores[scores.len().saturating_sub(3)..]);
}
