//! Forward selection.

use crate::{Patience, Space, run};
use vaglio_core::{Design, Outline, Path, Result, SearchContext, SearchStrategy};

crate::settings! {
    /// Adds the feature that lowers the score most, again and again.
    ///
    /// # Reference
    /// T. Pahikkala, A. Airola, T. Salakoski, *Linear time feature selection for regularized least-squares*,
    /// arXiv:1003.3570, algorithm 3.
    pub struct Greedy {}
}

vaglio_core::describe!(
    Search,
    Greedy,
    "greedy",
    "forward selection: add the column that lowers the score most, again and again",
    "search: {kind: greedy, max_features: 10, choose: best}"
);

impl Greedy {
    /// Up to `max_features` features, otherwise as by default.
    pub fn new(max_features: usize) -> Self {
        Greedy { max_features: Some(max_features), ..Greedy::default() }
    }
}

#[typetag::serde(name = "greedy")]
impl SearchStrategy for Greedy {
    fn outline(&self, design: &Design) -> Result<Outline> {
        let space = Space::new(self.settings(), design)?;
        Ok(space.outline(Outline::forward(space.features(), space.most)))
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = Space::new(self.settings(), context.design())?;
        run(&space, context, &self.outline(context.design())?, |walk| {
            walk.enter_forced()?;
            let mut patience = Patience::new(&space.settings);
            loop {
                let best = walk.best_addition()?;
                patience.allow(walk.lowest() - best.score.loss, walk.has_least())?;
                walk.add(best)?;
            }
        })
    }
}
