//! Which rows are held out together.

use super::splits::Splits;
use super::{By, KFold};
use crate::shuffle::shuffled;
use std::collections::HashMap;
use std::hash::Hash;
use vaglio_core::{Classes, Design, Error, Result, Task};

/// Folds by default, when neither groups nor an assignment say how many.
const FOLDS: usize = 10;

impl KFold {
    /// The fold of each row, counted from 0, in every round, checked: none is empty, none can be predicted from one class
    /// alone. A row without a fold is trained on in every one.
    ///
    /// # Errors
    /// [`Error::Setting`] on the setting that is at fault, with fold and class; folds count from 1 in messages.
    pub(super) fn rounds_of(&self, design: &Design) -> Result<Vec<Vec<Option<u32>>>> {
        self.check_settings_alone()?;
        self.check_against(design)?;
        let classes = design.classes();
        let rounds = match &self.splits {
            Some(splits) => splits.rounds(self, design, classes.as_ref())?,
            None => vec![self.folds_of(design, classes.as_ref())?.into_iter().map(Some).collect()],
        };
        if let Some(classes) = &classes {
            for folds in rounds.iter().filter_map(|round| round.iter().copied().collect::<Option<Vec<u32>>>()) {
                self.check_classes(&folds, classes)?;
            }
        }
        Ok(rounds)
    }

    fn folds_of(&self, design: &Design, classes: Option<&Classes>) -> Result<Vec<u32>> {
        let order = |count: usize| if self.shuffle { shuffled(count, design.seed()) } else { (0..count).collect() };
        match (&self.assignment, self.by) {
            (Some(name), _) => given(design, name),
            (None, Some(By::Groups)) => {
                let no_groups = || Error::setting("by", "the data have no groups; name their column in `data.groups`");
                self.of_groups(design.groups().ok_or_else(no_groups)?, self.folds, order)
            }
            (None, None) => self.of_rows(design, classes, self.folds.unwrap_or(FOLDS), order),
        }
    }

    /// What needs no data.
    pub(super) fn check_settings_alone(&self) -> Result<()> {
        let clash = |field: &str, other: &str| {
            Err(Error::setting(
                field,
                format!("it cannot be combined with `{other}`, which makes the folds; leave one of them out"),
            ))
        };
        if self.assignment.is_some() {
            for (field, given) in [
                ("by", self.by.is_some()),
                ("folds", self.folds.is_some()),
                ("shuffle", self.shuffle),
                ("stratified", self.stratified),
            ] {
                if given {
                    return clash(field, "assignment");
                }
            }
        }
        if self.splits.is_some() {
            let repeats = matches!(self.splits, Some(Splits::Repeated { .. }));
            for (field, given) in [
                ("assignment", self.assignment.is_some()),
                ("by", self.by.is_some()),
                ("folds", self.folds.is_some()),
                ("shuffle", self.shuffle),
                ("stratified", self.stratified && !repeats),
            ] {
                if given {
                    return clash(field, "splits");
                }
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
        match self.folds {
            Some(0 | 1) => {
                Err(Error::setting("folds", "at least 2 folds are needed, so that there are rows to train on"))
            }
            _ => Ok(()),
        }
    }

    fn check_against(&self, design: &Design) -> Result<()> {
        if self.splits.is_some() && self.stratified && design.groups().is_some() {
            return Err(Error::setting(
                "stratified",
                "the data have groups, whose rows stay together; leave `stratified` out",
            ));
        }
        if self.stratified && *design.task() == Task::Regression {
            return Err(Error::setting(
                "stratified",
                "the target is a number, so there are no classes to spread over the folds; use `shuffle: true`",
            ));
        }
        Ok(())
    }

    /// Folds of rows, dealt in an order that is made for a number of them.
    pub(super) fn of_rows(
        &self,
        design: &Design,
        classes: Option<&Classes>,
        count: usize,
        order: impl Fn(usize) -> Vec<usize>,
    ) -> Result<Vec<u32>> {
        let rows = design.rows();
        if count > rows {
            return Err(Error::setting(
                "folds",
                format!("{count} folds of {rows} rows leave fold {} empty; use at most {rows} folds", rows + 1),
            ));
        }
        let order = order(rows);
        let mut folds = vec![0; rows];
        let Some(classes) = classes.filter(|_| self.stratified) else {
            deal(&order, count, 0, &mut folds);
            return Ok(folds);
        };
        let mut first = 0;
        for class in 0..classes.names.len() {
            let members: Vec<usize> = order.iter().copied().filter(|&row| classes.of_row[row] == class).collect();
            deal(&members, count, first, &mut folds);
            // The next class starts where this one stopped, so that folds differ by one row at most.
            first = (first + members.len()) % count;
        }
        Ok(folds)
    }

    /// Folds of whole groups, likewise; by default one for each.
    pub(super) fn of_groups(
        &self,
        groups: &[u32],
        count: Option<usize>,
        order: impl Fn(usize) -> Vec<usize>,
    ) -> Result<Vec<u32>> {
        let (groups, there) = renumbered(groups);
        let count = count.unwrap_or(there);
        if count > there {
            return Err(Error::setting(
                "folds",
                format!("{count} folds of {there} groups leave fold {} empty; use at most {there} folds", there + 1),
            ));
        }
        if there < 2 {
            return Err(Error::setting("by", "all rows are in one group, so no rows are left to train on"));
        }
        let mut of_group = vec![0; there];
        deal(&order(there), count, 0, &mut of_group);
        Ok(groups.iter().map(|&g| of_group[g as usize]).collect())
    }

    fn check_classes(&self, folds: &[u32], classes: &Classes) -> Result<()> {
        let count = folds.iter().max().map_or(0, |&f| f as usize + 1);
        let mut table = vec![vec![0usize; classes.names.len()]; count];
        folds.iter().zip(&classes.of_row).for_each(|(&fold, &class)| table[fold as usize][class] += 1);
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

/// Gives contiguous parts of `members` to `count` folds, the longer parts to the folds from `first` on.
fn deal(members: &[usize], count: usize, first: usize, folds: &mut [u32]) {
    let (least, more) = (members.len() / count, members.len() % count);
    let mut start = 0;
    for fold in 0..count {
        let is_longer = (fold + count - first) % count < more;
        let end = start + least + usize::from(is_longer);
        members[start..end].iter().for_each(|&member| folds[member] = fold as u32);
        start = end;
    }
}

/// The folds of the assignment, numbered from 0 in the order in which they first appear.
fn given(design: &Design, name: &str) -> Result<Vec<u32>> {
    let Some(given) = design.assignment() else {
        return Err(Error::setting(
            "assignment",
            format!("the data have no column `{name}` that gives rows their fold"),
        ));
    };
    let (folds, count) = renumbered(given);
    if count < 2 {
        return Err(Error::setting(
            "assignment",
            format!("the column `{name}` puts all rows into one fold, so no rows are left to train on"),
        ));
    }
    Ok(folds)
}

/// Labels numbered from 0 in the order in which they first appear, and how many there are: rows of weight 0 are gone,
/// and with them perhaps whole groups.
pub(super) fn renumbered<L: Eq + Hash>(labels: impl IntoIterator<Item = L>) -> (Vec<u32>, usize) {
    let mut numbers = HashMap::new();
    let mut renumbered = Vec::new();
    for label in labels {
        let next = numbers.len() as u32;
        renumbered.push(*numbers.entry(label).or_insert(next));
    }
    (renumbered, numbers.len())
}
