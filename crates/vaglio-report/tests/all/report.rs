//! Pages of records.

mod page;
pub mod sample;

use page::{check, wide};
use sample::Sample;
use serde_json::{Value, json};
use vaglio_report::record::Record;
use vaglio_report::report::render;
use {vaglio_dependence as _, vaglio_search as _, vaglio_validate as _};

#[test]
fn the_page_says_what_was_chosen() {
    let page = Sample::diabetes().render();
    check(&page);
    assert!(page.contains("6 of 10 columns are chosen, by greedy search with the leave-one-out squared error."));
    // The sample has neither an interval nor a baseline of the test rows.
    assert!(page.contains("On a new row the prediction errs by about 57.6 (RMSE), measured on 88 test rows."));
    // Scores alone have no standard errors of differences.
    assert!(!page.contains("would do"));
    assert!(page.contains(">2896.1<"));
    assert!(!page.contains("class=\"warning\""));
}

#[test]
fn verdicts_say_why() {
    let page = Sample::whole().render();
    check(&page);
    for words in [
        "1 column is confirmed at a false discovery rate of 0.1 (bmi); 2 are tentative (s5, s1).",
        "On average at most 10 % of the columns confirmed at this rate are false. The others of 4 columns are rejected.",
        "the data do not tell it from s2",
        "is taken at a rate above 0.1",
        "By stability paths integrated over sizes 1 to 5 (IPSS), 2 columns are selected with at most 10 % expected false",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!Sample::diabetes().render().contains("False discoveries"));
}

#[test]
fn plots_have_as_many_points_as_sizes() {
    let page = wide(&Sample::diabetes().render());
    // Scores, λ and test losses: a point for each size, and one in the legend.
    assert_eq!(page.matches("class=\"dot inner\"").count(), 2 * (10 + 1));
    assert_eq!(page.matches("class=\"dot test\"").count(), 10 + 1);
    assert_eq!(page.matches(", bmi: ").count(), 5);
    // Each of ten columns enters once, in the last of ten steps all are in.
    assert!(page.contains("Columns in the subset after each of 10 steps"));
    assert_eq!((page.matches(": +</title>").count(), page.matches(", 10: ").count()), (10, 10));
}

#[test]
fn names_are_escaped() {
    let mut sample = Sample::diabetes();
    let name = json!("<script>alert('&\"')</script>");
    sample.0["candidates"][2] = name.clone();
    for list in ["steps", "selected"] {
        for item in sample.0[list].as_array_mut().unwrap() {
            if item["index"] == 2 {
                item["name"] = name.clone();
            }
        }
    }
    let page = sample.render();
    check(&page);
    assert!(!page.contains("<script"));
    assert!(page.matches("&lt;script&gt;").count() >= 5);
    assert!(page.contains("a&lt;b.csv"));
}

#[test]
fn several_outputs_removals_and_a_limit() {
    let page = Sample::floating(20).render();
    check(&page);
    assert!(page.contains("cut short: a limit was hit"));
    assert!(page.contains(": −</title>"));
    assert!(page.contains("Lambda 1 is the &lt;largest&gt; that was tried."));
    assert!(page.contains("Weight, up") && page.contains("Weight, &lt;right&gt;"));
    assert!(page.contains("60\u{202f}000") && !page.contains("1\u{202f}284"));
}

#[test]
fn a_thousand_sizes() {
    let sample = Sample::floating(1100);
    let page = sample.render();
    check(&page);
    let sizes = sample.0["path"].as_array().unwrap().len();
    assert!(sizes > 900);
    assert_eq!(wide(&page).matches("<g class=\"size\">").count(), sizes.div_ceil(2));
    assert!(
        page.contains("more, see “path” in selection.json") && page.contains("more, see “steps” in selection.json")
    );
    assert!(page.len() < 1_500_000, "{}", page.len());
    assert!(page.contains("drawn for at most 60 chosen columns"));
}

#[test]
fn one_size() {
    check(&Sample::floating(1).render());
}

#[test]
fn infinite_scores_leave_gaps() {
    let mut sample = Sample::diabetes();
    for key in ["score", "lambda"] {
        sample.0["path"][3][key] = Value::Null;
        sample.0["steps"][3][key] = Value::Null;
    }
    sample.0["empty_score"] = Value::Null;
    sample.0["path"][0]["standard_error"] = Value::Null;
    sample.0["path"][2]["test"] = Value::Null;
    sample.0["report"]["correlations"][1][0] = Value::Null;
    let page = sample.render();
    check(&page);
    assert_eq!(wide(&page).matches("class=\"dot inner\"").count(), 2 * (9 + 1));
    for list in ["path", "steps"] {
        for item in sample.0[list].as_array_mut().unwrap() {
            item["score"] = Value::Null;
        }
    }
    sample.0["score"] = Value::Null;
    check(&sample.render());
}

#[test]
fn a_record_with_a_key_that_is_missing_or_wrong_is_refused_or_shown() {
    let mut refused = 0;
    for key in Sample::floating(9).0.as_object().unwrap().keys() {
        for other in [None, Some(Value::Null), Some(json!("text")), Some(json!([1])), Some(json!(-1.5))] {
            let mut sample = Sample::floating(9);
            let map = sample.0.as_object_mut().unwrap();
            match other {
                None => map.remove(key),
                Some(value) => map.insert(key.clone(), value),
            };
            match sample.page() {
                Ok(page) => check(&page),
                Err(message) => refused += usize::from(!message.is_empty()),
            }
        }
    }
    assert!(refused > 80, "{refused}");
    assert!(Sample(Value::Null).page().is_err());
}

#[test]
fn what_is_read_is_written_again_and_what_was_changed_is_refused() {
    let text = Record::from_text(&Sample::diabetes().0.to_string()).unwrap().to_text().unwrap();
    assert_eq!(Record::from_text(&text).unwrap().to_text().unwrap(), text);
    for (pointer, value, words) in [
        ("/schema", json!("vaglio.selection/9"), "of version `vaglio.selection/9`"),
        ("/score", json!(1.0), "not on the path"),
        ("/selected/0/index", json!(3), "not on the path"),
        ("/steps/1/index", json!(1000), "step 2 moves a column beyond"),
        ("/path/2/size", json!(7), "the subset of size 7"),
        ("/status", json!("partial"), "the status is not"),
        ("/report/correlations/1", json!([]), "what the report shows"),
        ("/stop_reason", json!("boredom"), "it is damaged"),
    ] {
        let mut sample = Sample::diabetes();
        *sample.0.pointer_mut(pointer).unwrap() = value;
        let message = sample.page().unwrap_err();
        assert!(message.contains(words), "{pointer}: {message}");
    }
}

#[test]
fn a_score_that_is_no_better_than_nothing_is_a_warning() {
    let mut sample = Sample::diabetes();
    sample.0["empty_score"] = json!(2000.0);
    sample.0["test"] = Value::Null;
    let page = sample.render();
    check(&page);
    assert!(page.contains("No subset on the path beats the empty one"));
    assert!(page.contains("The error on new rows is unknown: no rows were held out."));
    sample.0["pipeline"]["loss"] = Value::Null;
    sample.0["pipeline"]["criterion"] = json!("mrmr");
    let page = sample.render();
    check(&page);
    assert!(page.contains("with the mRMR score.") && page.contains("is no error of predictions"));
    assert!(!page.contains("class=\"warning\""));
}

#[test]
fn the_error_on_new_rows_comes_first_with_its_interval_and_baseline() {
    let page = Sample::whole().render();
    check(&page);
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words}"));
    let answer = "On a new row the prediction errs by about 54.3 (RMSE; 95 % interval 50.4 to 58; median error 9), 30 % less than the mean \
                  does, measured in 2 outer folds, each with its own selection.";
    assert!(at(answer) < at("Chosen columns"));
    assert!(at("Nested squared error") < at("Test squared error"));
    assert!(at("Test squared error") < at("Cross-validated squared error"));
    assert!(page.contains("49 % of 6000 without features") && page.contains("Nested R²"));
    assert!(page.contains("On shuffled targets the score is 5900 on average (19 permutations, p = 0.05)."));
    assert!(page.contains(
        "4 columns would do: bmi, s5, bp, s3. Their cross-validated error, 2975, is at most one standard error of the difference (60) \
         above the lowest, 2920."
    ));
    assert!(page.contains("share 61 % of their columns") && page.contains("of a fold alone"));
    assert!(page.contains("2 columns are selected with at most 10 % expected false"));
    assert!(page.contains("Loss against λ") && page.contains("chosen: 10"));
    assert!(page.contains("Original scale") && page.contains("s6 (3001.5)"));
    assert!(page.contains("observed − predicted") && page.contains("a sample of 50 of 354"));
    assert!(page.contains("Predictions of rows held out in outer folds"));
    // Most of the weight is on rows that err by 18.
    let mut weighted = Sample::whole();
    let weights: Vec<f64> = (0..50).map(|k| if k % 7 == 6 { 10.0 } else { 1.0 }).collect();
    weighted.0["report"]["predictions"]["weights"] = json!(weights);
    assert!(weighted.render().contains("median error 18)"));
}

#[test]
fn columns_are_described_alone_with_the_others_and_over_folds() {
    let page = Sample::with_diagnostics().render();
    check(&page);
    for told in [
        "Leaving out one fold at a time chooses 4 to 9 columns (6, 4, 9, 6, 6).",
        "2 of 2, sign changes",
        ">0.1\u{a0}to\u{a0}0.25<span",
        ">∞<",
        "component + residual against bmi",
        "Residuals are of the training rows",
        "rank 2 at step 2<span class=\"of\">12.5 above s5</span>",
        "&lt;b&gt;&amp;\\u{202e}",
        "Of the rows held out in outer folds, by their number in the data",
        "189.5",
    ] {
        assert!(page.contains(told), "{told}");
    }
    // A model that is not linear has no components.
    assert!(!page.contains("component + residual against s5"));
    // What a run did not compute is not spoken of.
    let page = Sample::whole().render();
    assert!(
        ["Components and residuals", "Rows predicted worst", "Columns that were not chosen"]
            .iter()
            .all(|title| !page.contains(title))
    );
}

#[test]
fn figures_of_columns_that_cannot_be_are_shown_or_refused() {
    for (pointer, value) in [
        ("/outside/0/nearest/step", json!(0)),
        ("/selected/0/over_folds/low", json!([])),
        ("/report/residuals/columns/0/values", json!([])),
        ("/report/residuals/columns/0/slope", json!(0.0)),
        ("/report/residuals/largest/0/predicted", json!([])),
        ("/report/residuals/fitted", json!([1e308, -1e308])),
        ("/chosen/sizes/sizes", json!([])),
    ] {
        let mut sample = Sample::with_diagnostics();
        *sample.0.pointer_mut(pointer).unwrap() = value;
        check(&sample.render());
    }
}

#[test]
fn classes_are_told_by_their_names() {
    let page = Sample::floating(9).render();
    check(&page);
    assert!(page.contains("Of 30 test rows, 6 were given the wrong class"));
    assert!(page.contains("up, &lt;right&gt;: 1"));
    assert!(page.contains("Test error rate") && page.contains("always left: 0.66667"));
    assert!(page.contains("Of 100 new rows about 20 get the wrong class"));
    let page = Sample::classes(26).render();
    check(&page);
    assert!(page.contains("Norm of weights") && !page.contains("Weight, class"));
    assert!(page.contains("class 7, class 8: 1"));
}

#[test]
fn auc_is_a_figure_and_its_complement_the_loss() {
    let mut sample = Sample::binary();
    let page = sample.render();
    check(&page);
    assert!(page.contains("Nested AUC") && page.contains("without features 0.5"));
    assert!(
        page.contains("Of 100 new rows of “ill” about 70 are found, with 20 false alarms among 100 others; AUC 0.9")
    );
    assert!(
        page.contains(">0.9<")
            && page.contains("ROC curve")
            && page.contains("ROC curve of “ill” on rows held out in outer folds.")
    );
    assert!(page.contains("leave-one-out 1 − AUC"));
    sample.0["nested"]["interval"] = json!([0.05, 0.2]);
    sample.0["nested"]["level"] = json!(0.9);
    let page = sample.render();
    assert!(page.contains("AUC 0.9 (90 % interval 0.8 to 0.95)"));
    assert!(page.contains("<div class=\"interval\">90 % interval 0.8 to 0.95</div>"));
}

#[test]
fn scores_in_other_units_are_not_drawn_beside_losses() {
    let mut sample = Sample::whole();
    assert!(!sample.render().contains("aria-label=\"Leave-one-out squared error"));
    sample.0["pipeline"]["standardized_target"] = json!(true);
    let page = sample.render();
    check(&page);
    let scores = "Leave-one-out squared error on the scale of the standardized target over the number of columns";
    assert!(page.contains(&format!("aria-label=\"{scores}\"")));
    assert!(page.contains("aria-label=\"Mean squared error over the number of columns\""));
}

#[test]
fn shares_alternatives_and_the_learning_curve_have_their_sections() {
    let mut sample = Sample::whole();
    let share = |index: usize, name: &str, share: f64| json!({"index": index, "name": name, "share": share, "part": share / 3000.0});
    sample.0["shares"] = json!({"subsets": 4, "empty": 5990.0, "all": 2990.0,
        "columns": [share(2, "bmi", 1800.0), share(8, "<s5>", 1200.0)]});
    let near = |columns: Value, score: f64| json!({"columns": columns, "score": score, "difference": score - 2896.0, "difference_error": 40.0});
    sample.0["alternatives"] = json!({"limit": null, "met": 30, "count": 2, "is_whole": false, "in_all": ["bmi"], "in_none": ["age"],
        "subsets": [near(json!(["bmi", "<s5>"]), 2890.0)], "smallest": [near(json!(["bmi"]), 2930.0)]});
    let point = |share: f64, loss: Value, gain: Value| {
        let refused = if loss.is_null() { json!("too few <rows>") } else { Value::Null };
        json!({"share": share, "rows": 280.0 * share, "size": 4.5, "loss": loss, "standard_error": 90.0, "gain": gain, "gain_error": 20.0, "refused": refused})
    };
    sample.0["learning_curve"] = json!({"folds": 5, "points": [point(0.25, Value::Null, Value::Null),
        point(0.5, json!(3400.0), Value::Null), point(0.75, json!(3100.0), json!(300.0)), point(1.0, json!(2950.0), json!(150.0))]});
    let page = sample.render();
    check(&page);
    for words in [
        "Share of each column",
        "60.0 %",
        "by all 4 subsets",
        "2 of 30 subsets that the search visited are as good as the chosen one",
        "the smallest is bmi",
        "More rows would probably help: from 75 to 100 % of the training rows the held-out loss falls by 150 (95 % interval 110.8 to 189.2).",
        "too few &lt;rows&gt;",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.contains("&lt;s5&gt;") && !page.contains("<s5>"));
    sample.0["alternatives"]["count"] = json!(1);
    assert!(sample.render().contains("No other of 30 subsets that the search visited is as good as the chosen one"));
    sample.0["learning_curve"]["points"][3]["gain"] = json!(-15.0);
    assert!(
        sample.render().contains(
            "would probably help little: from 75 to 100 % of the training rows the held-out loss rises by 15"
        )
    );
}

#[test]
fn probabilities_are_drawn_beside_what_came_about() {
    let mut sample = Sample::classes(2);
    let bin =
        |predicted: f64, observed: f64| json!({"rows": 20, "predicted": predicted, "observed": observed, "error": 0.1});
    sample.0["calibration"] = json!({"from": "nested", "rows": 60, "brier": 0.15, "base": 0.25,
        "bins": [bin(0.1, 0.05), bin(0.5, 0.55), bin(0.9, 0.97)]});
    let page = sample.render();
    check(&page);
    assert!(page.contains("The Brier score of 60 rows held out in outer folds is 0.15"), "the figure");
    assert!(page.contains("gives 0.25 (skill 40 %)"));
    // A bar for each group, and one in the legend.
    assert_eq!(page.matches("class=\"spread nested\"").count(), 3 + 1);
}

/// `cargo test -p vaglio-report samples -- --ignored` writes samples to look at into the temporary folder.
#[test]
#[ignore = "writes files to look at"]
fn samples_to_look_at() {
    let pages = [
        ("diabetes", Sample::diabetes().render()),
        ("whole", Sample::whole().render()),
        ("described", Sample::with_diagnostics().render()),
        ("floating", Sample::floating(24).render()),
        ("classes", Sample::classes(26).render()),
        ("large", Sample::floating(1100).render()),
        ("one", Sample::floating(1).render()),
    ];
    for (name, page) in pages {
        std::fs::write(std::env::temp_dir().join(format!("vaglio-report-{name}.html")), page).unwrap();
    }
}
