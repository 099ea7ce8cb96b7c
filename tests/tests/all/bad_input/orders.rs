//! Orders of rows and columns, threads, and targets that are noise.

use super::{Cell, Problem, Sheet, answered, bits, everywhere};
use crate::common::Folder;

#[test]
fn the_number_of_threads_changes_no_bit() {
    let base = Sheet::base();
    let pools = [1, 2, 3].map(|threads| vaglio_pipeline::pipeline::pool(threads).unwrap());
    everywhere(|parts| {
        let model = |cell: &Cell| serde_json::to_string(&cell.model).unwrap();
        let result = || Problem::new(&base).result(parts).map_err(|error| error.to_string());
        let of = || result().map(|cell| (bits(&cell.path), model(&cell)));
        let all = pools.iter().map(|pool| pool.install(of)).collect::<Result<Vec<_>, _>>()?;
        match all.iter().all(|path| *path == all[0]) {
            true => Ok(()),
            false => Err(format!("{all:?}")),
        }
    });
}

/// Rows in another order: the same scores, to rounding.
#[test]
fn the_order_of_rows_changes_scores_by_rounding_alone() {
    let base = Sheet::base();
    // Rows of a series stay in order: it is in the order of time.
    let rows: Vec<usize> = [7, 2, 11, 0, 5, 3, 9, 1, 10, 4, 8, 6].to_vec();
    let other = base.clone().select_rows(&rows);
    everywhere(|parts| {
        // Landmarks are drawn from the rows, and a tie of neighbours goes to the first.
        if parts.has(&["fs_ls_svm", "knn"]) {
            return Ok(());
        }
        let (one, other) =
            (answered(Problem::new(&base).result(parts))?, answered(Problem::new(&other).result(parts))?);
        super::same(&other, &one)
    });
}

/// Columns in another order: the same subsets by name.
#[test]
fn the_order_of_columns_changes_no_subset() {
    let base = Sheet::base();
    let mut other = base.clone();
    for row in std::iter::once(&mut other.names).chain(&mut other.rows) {
        row.swap(2, 4);
    }
    everywhere(|parts| {
        if !parts.is_of_columns() || parts.has(&["random", "mrmr_information", "fcbf"]) {
            return Ok(());
        }
        let (one, other) =
            (answered(Problem::new(&base).result(parts))?, answered(Problem::new(&other).result(parts))?);
        // Columns that weigh nothing tie, and of these the first of the table is taken.
        match parts.has(&["hiton_pc", "hsfs", "spam"]) {
            true => super::same_scores(&other, &one),
            false => super::same(&other, &one),
        }
    });
}

/// A target that is noise: by nested folds no selection is better than chance.
#[test]
fn noise_is_predicted_no_better_than_by_chance() {
    let mut random = vaglio_testkit::SplitMix64::new(3);
    let mut text = String::from("a,b,c,d,e,f,g,h,y\n");
    for _ in 0..60 {
        let cells: Vec<String> = (0..9).map(|_| random.normal().to_string()).collect();
        text += &(cells.join(",") + "\n");
    }
    let folder = Folder::new("noise");
    folder.write("train.csv", text);
    for criterion in ["loo", "{kind: kfold, folds: 5}", "nhsic"] {
        for search in ["greedy", "floating"] {
            let done = folder.run(&crate::common::pipeline(&format!(
                "criterion: {criterion}\nsearch: {{kind: {search}, max_features: 4, choose: last}}\n\
                 evaluate: {{nested: {{folds: 5}}}}"
            )));
            let nested = &done["nested"];
            let (loss, empty) = (nested["loss"].as_f64().unwrap(), nested["empty_loss"].as_f64().unwrap());
            assert!(loss > 0.9 * empty, "{criterion} x {search}: {loss} beside {empty}");
        }
    }
}
