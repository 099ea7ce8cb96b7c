//! Assignment of rows to folds: groups and series stay whole, classes are stratified, ordered rows form blocks.

use std::collections::HashMap;
use vaglio_core::{Error, Result, number_labels, shuffle::random_order};

/// Units of rows that a split into folds keeps whole: single rows, groups, or points in time.
#[derive(Debug, Clone)]
pub struct FoldAssignment {
    /// Unit of each row, from 0.
    of_row: Vec<u32>,
    /// Number of units, the largest possible number of folds.
    pub count: usize,
    /// Whether units are in the order of time, so that folds are blocks.
    pub is_in_time: bool,
    /// Class of each row, if any.
    classes: Option<Vec<usize>>,
}

impl FoldAssignment {
    /// Groups from labels of rows; rows that share any label are in one group.
    pub fn from_labels(labels: &[&[u32]], rows: usize, classes: Option<Vec<usize>>) -> Self {
        let (of_row, count) = connected_groups(labels, rows);
        FoldAssignment { of_row, count, is_in_time: false, classes }
    }

    /// Points in time from the index of each row's time, which begins with 0 and never falls.
    pub fn in_time(of_row: Vec<u32>) -> Self {
        let count = of_row.last().map_or(0, |last| *last as usize + 1);
        FoldAssignment { of_row, count, is_in_time: true, classes: None }
    }

    /// Fold of each row, by the seed. Cost O(rows · log rows + groups · folds · classes).
    ///
    /// # Errors
    /// [`Error::Setting`] on `folds` for fewer than two folds, or more than [`FoldAssignment::count`].
    pub fn folds(&self, folds: usize, seed: u64) -> Result<Vec<u32>> {
        let FoldAssignment { of_row, count, is_in_time, classes } = self;
        let (most, classes) = (*count, classes.as_deref());
        if folds < 2 {
            return Err(Error::setting("folds", format!("{folds} is too few; 2 is the least")));
        }
        if folds > most {
            let what = match most < of_row.len() {
                true if *is_in_time => "points in time",
                true => "groups of rows",
                false => "rows",
            };
            return Err(Error::setting("folds", format!("{folds} are asked for, of {most} {what}")));
        }
        let of_unit: Vec<u32> = match is_in_time {
            true => {
                let (size, larger) = (most / folds, most % folds);
                let one = |fold: usize| std::iter::repeat_n(fold as u32, size + usize::from(fold < larger));
                (0..folds).flat_map(one).collect()
            }
            false if most == of_row.len() => return Ok(assign_rows(most, classes, folds, seed)),
            false => assign_groups(of_row, most, classes, folds, seed),
        };
        Ok(of_row.iter().map(|&unit| of_unit[unit as usize]).collect())
    }

    /// Describes a split into folds.
    pub fn sentence(&self, folds: usize) -> String {
        if self.is_in_time {
            return format!("{folds} blocks in time, each predicted from all others");
        }
        let units = if self.count == self.of_row.len() { "shuffled rows" } else { "whole groups of rows" };
        let evenly = if self.classes.is_some() { ", classes spread evenly" } else { "" };
        format!("{folds} folds of {units}{evenly}")
    }
}

/// Group number of each row, from 0 in order of first appearance, and the number of groups. Rows that share any label
/// are in one group.
pub fn connected_groups(labels: &[&[u32]], rows: usize) -> (Vec<u32>, usize) {
    if labels.is_empty() {
        return ((0..rows as u32).collect(), rows);
    }
    let mut parent: Vec<usize> = (0..rows).collect();
    fn root(parent: &mut [usize], mut row: usize) -> usize {
        while parent[row] != row {
            parent[row] = parent[parent[row]];
            row = parent[row];
        }
        row
    }
    for labels in labels {
        let mut first = HashMap::new();
        for (row, label) in labels.iter().enumerate() {
            let other = *first.entry(*label).or_insert(row);
            let (a, b) = (root(&mut parent, other), root(&mut parent, row));
            parent[a.max(b)] = a.min(b);
        }
    }
    number_labels((0..rows).map(|row| root(&mut parent, row)))
}

/// Assigns single rows to folds in turn: shuffled, then sorted by class.
fn assign_rows(rows: usize, classes: Option<&[usize]>, folds: usize, seed: u64) -> Vec<u32> {
    let mut order = random_order(rows, seed);
    if let Some(classes) = classes {
        order.sort_by_key(|&row| classes[row]);
    }
    let mut of_row = vec![0; rows];
    order.iter().enumerate().for_each(|(place, &row)| of_row[row] = (place % folds) as u32);
    of_row
}

/// Assigns groups: shuffled, then the largest first into the fold with the fewest rows of their classes.
fn assign_groups(of_row: &[u32], count: usize, classes: Option<&[usize]>, folds: usize, seed: u64) -> Vec<u32> {
    let class_of = |row: usize| classes.map_or(0, |classes| classes[row]);
    let kinds = (0..of_row.len()).map(class_of).max().unwrap_or(0) + 1;
    let (mut sizes, mut totals) = (vec![vec![0.0_f64; kinds]; count], vec![0.0_f64; kinds]);
    for (row, &unit) in of_row.iter().enumerate() {
        sizes[unit as usize][class_of(row)] += 1.0;
        totals[class_of(row)] += 1.0;
    }
    let mut order = random_order(count, seed);
    order.sort_by(|&a, &b| sizes[b].iter().sum::<f64>().total_cmp(&sizes[a].iter().sum()));
    let mut filled = vec![vec![0.0; kinds]; folds];
    let mut of_unit = vec![0; count];
    for unit in order {
        let cost = |fold: &Vec<f64>| -> f64 {
            let of_class = |c: usize| 2.0 * fold[c] * sizes[unit][c] / (totals[c] * totals[c]).max(1.0);
            (0..kinds).map(of_class).sum()
        };
        let rows = |fold: &Vec<f64>| fold.iter().sum::<f64>();
        let better = |&a: &usize, &b: &usize| {
            let (a, b) = (&filled[a], &filled[b]);
            cost(a).total_cmp(&cost(b)).then(rows(a).total_cmp(&rows(b)))
        };
        let fold = (0..folds).min_by(better).unwrap_or(0);
        filled[fold].iter_mut().zip(&sizes[unit]).for_each(|(filled, size)| *filled += size);
        of_unit[unit] = fold as u32;
    }
    of_unit
}
