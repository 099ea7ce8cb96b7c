//! Tests of independence of a column and the target, given other columns.

/// ln p of a column given some of the others, by their places among these; `None` if not tested.
pub(super) type Given<'t> = dyn Fn(&[usize]) -> Option<f64> + 't;

/// Test of columns, named by their place, against the target.
pub(super) trait IndependenceTest: Send + Sync {
    /// ln p without conditions: the least over outputs, times their number.
    fn alone(&self, x: usize) -> f64;

    /// Test of `x` given some of `others`, named by their place among these.
    fn given<'t>(&'t self, x: usize, others: &'t [usize]) -> Box<Given<'t>>;
}
