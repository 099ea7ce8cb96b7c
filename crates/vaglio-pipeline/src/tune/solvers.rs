//! Argmin's solvers; their results go to the ledger.

use super::ledger::CachedCriterion;
use argmin::core::{CostFunction, Executor};
use argmin::solver::neldermead::NelderMead;
use argmin::solver::particleswarm::{Particle, ParticleSwarm};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use vaglio_core::{Error, Result};

/// Edges of the initial simplexes, as shares of each range: one for the search, then two restarts near the best point.
const EDGES: [f64; 3] = [0.25, 0.1, 0.04];
/// Largest number of particles of a swarm; at most the budget.
const PARTICLES: usize = 8;

/// Largest number of iterations of a solver; many are free because they meet scored settings again.
fn iterations(budget: usize) -> u64 {
    20 * budget as u64 + 100
}

/// Nelder and Mead's simplex, started at `start` with an edge along each axis, inward at the bounds.
///
/// An edge of an integer parameter is at least one. If the vertices have equal scores and evaluations are left, it
/// restarts at the best point with shorter edges.
///
/// # Reference
/// J. A. Nelder, R. Mead, *A simplex method for function minimization*, The Computer Journal 7(4), 1965.
pub fn nelder_mead(ledger: &CachedCriterion<'_>, start: &[f64]) -> Result<()> {
    let mut start = start.to_vec();
    for edge in EDGES {
        let mut vertices = vec![start.clone()];
        for (axis, bounds) in ledger.tune.parameters.values().enumerate() {
            let mut vertex = start.clone();
            let edge = edge.max(bounds.grain()).min(1.0);
            vertex[axis] += if vertex[axis] + edge <= 1.0 { edge } else { -edge };
            vertices.push(vertex);
        }
        // Scored before the solver starts, since the solver cannot handle a refusal of its first points.
        if vertices.iter().any(|vertex| ledger.score(vertex).is_none()) {
            return Ok(());
        }
        let run = Executor::new(ledger, NelderMead::new(vertices))
            .configure(|state| state.max_iters(iterations(ledger.tune.budget)))
            .run();
        own_error(ledger, run)?;
        if ledger.is_closed() {
            return Ok(());
        }
        start = ledger.best().unwrap_or(start);
    }
    Ok(())
}

/// Particle swarm: one particle at `start`, the others and all velocities uniform by the seed.
///
/// # Reference
/// M. Clerc, *Standard particle swarm optimization*, 2012; M. Zambrano-Bigiarini, M. Clerc, R. Rojas, *Standard
/// particle swarm optimization 2011 at CEC-2013*, IEEE Congress on Evolutionary Computation 2013.
pub fn particle_swarm(ledger: &CachedCriterion<'_>, start: &[f64], seed: u64) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // 53 random bits as a number below 1.
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut particles = Vec::new();
    for number in 0..PARTICLES.min(ledger.tune.budget) {
        let position: Vec<f64> = start.iter().map(|&at| if number == 0 { at } else { uniform() }).collect();
        let velocity: Vec<f64> = start.iter().map(|_| 2.0 * uniform() - 1.0).collect();
        let Some(score) = ledger.score(&position) else { return Ok(()) };
        particles.push(Particle::new(position, score, velocity));
    }
    let bounds = (vec![0.0; start.len()], vec![1.0; start.len()]);
    let solver = ParticleSwarm::new(bounds, particles.len()).with_rng_generator(random);
    let run = Executor::new(ledger, solver)
        .configure(|state| state.population(particles).max_iters(iterations(ledger.tune.budget) / PARTICLES as u64))
        .run();
    own_error(ledger, run)
}

/// Hides an error caused by the ledger's refusal; returns the solver's own.
fn own_error<T>(ledger: &CachedCriterion<'_>, run: Result<T, argmin::core::Error>) -> Result<()> {
    match run {
        Err(error) if !ledger.is_closed() => Err(Error::failed("tuning failed", error)),
        _ => Ok(()),
    }
}

/// An error ends the solver; the ledger holds its results.
impl CostFunction for &CachedCriterion<'_> {
    type Param = Vec<f64>;
    type Output = f64;

    fn cost(&self, point: &Vec<f64>) -> Result<f64, argmin::core::Error> {
        self.score(point).ok_or_else(|| argmin::core::Error::msg("no evaluation is left"))
    }
}
