//! Forward selection.

use crate::{Patience, SearchSettings, Space, run};
use vaglio_core::{Design, Outline, Path, Result, SearchContext, SearchStrategy, part};

crate::settings! {
    /// Adds the feature that lowers the score most, again and again.
    ///
    /// Without `max_features` it ends at as many features as there are rows, or, where neither `tolerance` nor `patience`
    /// is given, after ten steps in a row that did not lower the score. Cross-validated walks end before, where the loss of the
    /// rows held out no longer falls.
    ///
    /// # Reference
    /// T. Pahikkala, A. Airola, T. Salakoski, *Linear time feature selection for regularized least-squares*,
    /// arXiv:1003.3570, algorithm 3.
    #[part(
        SearchStrategy,
        "greedy",
        summary = "forward selection: add the column that lowers the score most, again and again",
        example = "search: {kind: greedy, max_features: 10}"
    )]
    pub struct Greedy {}
}

impl Greedy {
    /// Up to `max_features` features, otherwise as by default.
    pub fn new(max_features: usize) -> Self {
        Greedy { max_features: Some(max_features), ..Greedy::default() }
    }

    fn space<'d>(&self, design: &'d Design) -> Result<Space<'d>> {
        let given = self.settings();
        if given.max_features.is_some() {
            return Space::new(given, design);
        }
        let stops = given.tolerance.is_some() || given.patience.is_some();
        let patience = if stops { given.patience } else { Some(PATIENCE) };
        Ok(Space::new(SearchSettings { patience, ..given }, design)?.within_rows())
    }
}

/// Steps without improvement after which a search without any limit ends.
const PATIENCE: usize = 10;

impl SearchStrategy for Greedy {
    crate::by_settings!();

    fn outline(&self, design: &Design) -> Result<Outline> {
        let space = self.space(design)?;
        Ok(space.outline(Outline::forward(space.features(), space.most)))
    }

    fn search(&self, context: &mut SearchContext<'_>) -> Result<Path> {
        let space = self.space(context.design())?;
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
