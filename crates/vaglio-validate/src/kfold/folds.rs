//! Assignment of rows to folds.

use super::settings::{FoldBy, KFold};
use crate::splits::{assignment, check_folds};
use vaglio_core::shuffle::random_order;
use vaglio_core::{Classes, Design, Error, Measure, Result, Round, Task, number_labels, prediction_units};

/// Default number of folds, unless groups or an assignment determine it.
const FOLDS: usize = 10;

impl KFold {
    /// Assigns rows to folds, counted from 0, in every round. No fold is empty. Each class that a fold holds out is in
    /// its training rows too. A row without a fold is in every training set, unless the splits list training rows.
    ///
    /// # Errors
    /// [`Error::Setting`] on the faulty setting, with fold and class; folds count from 1 in messages.
    pub(super) fn rounds_of(&self, design: &Design) -> Result<Vec<Round>> {
        self.check_settings_alone()?;
        self.check_against(design)?;
        let classes = design.problem().classes();
        let rounds = match &self.splits {
            Some(splits) => splits
                .splits(design.problem(), classes.as_ref().filter(|_| self.stratified))
                .and_then(|splits| Round::from_splits(design.rows(), splits))
                .map_err(|error| error.under("splits"))?,
            None => vec![Round::new(self.folds_of(design, classes.as_ref())?.into_iter().map(Some).collect())],
        };
        let is_whole = |round: &Round| round.trainings().is_none() && !round.fold_of_rows().contains(&None);
        if prediction_units(design).is_some() && !rounds.iter().all(is_whole) {
            return Err(Error::setting(
                "splits",
                "it does not hold out every row from all others, and predictions are averaged over several rows; use `by: groups`",
            ));
        }
        if let Some(classes) = &classes {
            let mut before = 0;
            for round in &rounds {
                let folds = round.fold_of_rows().iter().copied().collect::<Option<Vec<u32>>>();
                match folds.filter(|_| round.trainings().is_none()) {
                    Some(folds) => self.check_classes(&folds, classes)?,
                    None => check_trained(round, classes, before)?,
                }
                before += round.count();
            }
            self.check_held_out(&rounds, classes)?;
        }
        Ok(rounds)
    }

    fn folds_of(&self, design: &Design, classes: Option<&Classes>) -> Result<Vec<u32>> {
        let order = |count: usize| {
            if self.shuffle { random_order(count, design.problem().seed()) } else { (0..count).collect() }
        };
        match (&self.assignment, self.by) {
            (Some(name), _) => read_assignment(design, name),
            (None, Some(FoldBy::Groups)) => {
                let no_groups = || {
                    Error::setting(
                        "by",
                        "the data have no groups; name their column in `data.groups`, or give them by `Rows::groups`",
                    )
                };
                assignment::groups(design.problem().groups().ok_or_else(no_groups)?, self.folds, order)
            }
            (None, None) => {
                let classes = classes.filter(|_| self.stratified);
                assignment::rows(design.rows(), classes, self.folds.unwrap_or(FOLDS), order)
            }
        }
    }

    /// Checks the settings that need no data.
    pub(super) fn check_settings_alone(&self) -> Result<()> {
        let clash = |field: &str, other: &str| {
            Err(Error::setting(
                field,
                format!("it cannot be combined with `{other}`, which makes the folds; leave one of them out"),
            ))
        };
        let given = |is_stratified: bool| {
            let all = [
                ("by", self.by.is_some()),
                ("folds", self.folds.is_some()),
                ("shuffle", self.shuffle),
                ("stratified", is_stratified),
            ];
            all.into_iter().find(|(_, is_given)| *is_given).map(|(field, _)| field)
        };
        if self.assignment.is_some()
            && let Some(field) = given(self.stratified)
        {
            return clash(field, "assignment");
        }
        if let Some(splits) = &self.splits {
            splits.check_settings().map_err(|error| error.under("splits"))?;
            let given = given(self.stratified && !splits.traits().can_stratify);
            if let Some(field) = self.assignment.as_ref().map(|_| "assignment").or(given) {
                return clash(field, "splits");
            }
        }
        if self.stratified && self.by.is_some() {
            return clash("stratified", "by");
        }
        if self.shuffle && self.by.is_some() && self.folds.is_none() {
            return Err(Error::setting(
                "shuffle",
                "with `by: groups` every group is one fold, so there is nothing to shuffle; give `folds` as well",
            ));
        }
        self.folds.map_or(Ok(()), check_folds)
    }

    fn check_against(&self, design: &Design) -> Result<()> {
        if self.splits.is_some() && self.stratified && design.problem().groups().is_some() {
            return Err(Error::setting(
                "stratified",
                "the data have groups, whose rows stay together; leave `stratified` out",
            ));
        }
        if self.stratified && *design.problem().task() == Task::Regression {
            return Err(Error::setting(
                "stratified",
                "the target is a number, so there are no classes to spread over the folds; use `shuffle: true`",
            ));
        }
        Ok(())
    }

    /// Refuses held-out rows that lack a class which the loss requires.
    fn check_held_out(&self, rounds: &[Round], classes: &Classes) -> Result<()> {
        if self.loss.traits().measure != Measure::Auc {
            return Ok(());
        }
        let is_held_out = |class: usize| {
            let held_out = rounds.iter().flat_map(|round| round.fold_of_rows().iter().zip(&classes.per_row));
            held_out.into_iter().any(|(fold, own)| fold.is_some() && *own == class)
        };
        match (0..classes.names.len()).find(|&class| !is_held_out(class)) {
            None => Ok(()),
            Some(class) => {
                let name = &classes.names[class];
                let message = format!("no row of class `{name}` is held out, and `auc` needs rows of both");
                Err(Error::setting("splits", message))
            }
        }
    }

    fn check_classes(&self, folds: &[u32], classes: &Classes) -> Result<()> {
        let count = folds.iter().max().map_or(0, |&f| f as usize + 1);
        let mut table = vec![vec![0usize; classes.names.len()]; count];
        folds.iter().zip(&classes.per_row).for_each(|(&fold, &class)| table[fold as usize][class] += 1);
        let totals: Vec<usize> = (0..classes.names.len()).map(|c| table.iter().map(|fold| fold[c]).sum()).collect();
        let field = match (&self.assignment, self.by) {
            (Some(_), _) => "assignment",
            (None, Some(_)) => "by",
            (None, None) if self.splits.is_some() => "splits",
            (None, None) => "folds",
        };
        let advice = match (field, self.stratified) {
            ("folds" | "splits", false) => "use `stratified: true`, or fewer folds",
            ("folds" | "splits", true) => "use fewer folds",
            _ => "spread the class over more folds",
        };
        for (fold, counts) in table.iter().enumerate() {
            for (class, (&here, &total)) in counts.iter().zip(&totals).enumerate() {
                if here == total && total > 0 {
                    let name = &classes.names[class];
                    return Err(Error::setting(
                        field,
                        format!(
                            "fold {} holds every row of class `{name}`, so none is left to train on; {advice}",
                            fold + 1
                        ),
                    ));
                }
            }
            let rows: usize = counts.iter().sum();
            let present: Vec<usize> = (0..counts.len()).filter(|&c| counts[c] > 0).collect();
            if let (&[only], "folds", true) = (&present[..], field, rows > 1) {
                let name = &classes.names[only];
                return Err(Error::setting(
                    field,
                    format!("fold {} holds rows of class `{name}` alone; {advice}", fold + 1),
                ));
            }
        }
        Ok(())
    }
}

/// Refuses a fold with rows of a class that its training rows lack. `before` is the number of folds in earlier rounds.
fn check_trained(round: &Round, classes: &Classes, before: usize) -> Result<()> {
    for fold in 0..round.count() {
        let mut trained = vec![false; classes.names.len()];
        round.training(fold).iter().for_each(|&row| trained[classes.per_row[row]] = true);
        if let Some(row) = round.held_out(fold).find(|&row| !trained[classes.per_row[row]]) {
            let name = &classes.names[classes.per_row[row]];
            let message = format!(
                "split {} is trained on no row of class `{name}`, of which it holds some out",
                before + fold + 1
            );
            return Err(Error::setting("splits", message));
        }
    }
    Ok(())
}

/// The folds of the assignment, numbered from 0 in order of appearance.
fn read_assignment(design: &Design, name: &str) -> Result<Vec<u32>> {
    let Some(given) = &design.problem().labels().assignment else {
        return Err(Error::setting(
            "assignment",
            format!("the data have no column `{name}` that gives rows their fold; in code, give them by `Rows::folds`"),
        ));
    };
    let (folds, count) = number_labels(&**given);
    if count < 2 {
        return Err(Error::setting(
            "assignment",
            format!("the column `{name}` puts all rows into one fold, so no rows are left to train on"),
        ));
    }
    Ok(folds)
}
