//! Help, suggestions, completions, the manual page and the settings of one part.

use crate::common::Folder;
use serde_json::Value;

#[test]
fn help_lists_what_there_is() {
    let folder = Folder::new("help");
    let help = folder.vaglio(&["--help"]);
    let of_run = folder.vaglio(&["run", "--help"]);
    assert_eq!((help.code, of_run.code), (Some(0), Some(0)));
    for command in ["run", "plan", "predict", "compare", "report", "list", "schema", "completions", "man", "new-plugin"]
    {
        assert!(help.out.lines().any(|line| line.trim_start().starts_with(command)), "{command}\n{}", help.out);
        let ran = folder.vaglio(&[command, "--help"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{command}");
    }
}

#[test]
fn unknown_words_suggest_the_nearest() {
    let folder = Folder::new("nearest");
    for (arguments, expected) in [
        (&["plna", "p.yaml"][..], "'plan'"),
        (&["comparee", "a", "b"], "'compare'"),
        (&["run", "p.yaml", "--thread", "2"], "'--threads'"),
        (&["predict", "--modle", "m"], "'--model'"),
        (&["list", "gredy"], "did you mean `greedy`?"),
        (&["list", "serch"], "did you mean `search`?"),
        (&["completions", "bsh"], "'bash'"),
    ] {
        folder.vaglio(arguments).refused(2, expected);
    }
}

#[test]
fn completions_and_the_manual_page_are_printed() {
    let folder = Folder::new("manual");
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = folder.vaglio(&["completions", shell]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{shell}");
        for word in ["vaglio", "predict", "permutations"] {
            assert!(ran.out.contains(word), "{shell} {word}");
        }
    }
    let ran = folder.vaglio(&["man"]).succeeded_silently();
    assert!(ran.out.contains(".TH vaglio 1"), "{}", ran.out);
    for words in [".SH RUN", ".SH PREDICT", "permutations", "Threads; 0 for as many"] {
        assert!(ran.out.contains(words), "{words}\n{}", ran.out);
    }
}

#[test]
fn the_list_tells_one_role_or_all_settings_of_one_part() {
    let folder = Folder::new("list-one");
    let json = |kind: &str| -> Vec<Value> {
        let ran = folder.vaglio(&["list", kind, "--json"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{kind}");
        serde_json::from_str(&ran.out).unwrap()
    };
    for role in ["criterion", "search", "learner", "map", "loss"] {
        let parts = json(role);
        assert!(!parts.is_empty() && parts.iter().all(|part| part["role"] == role), "{role}");
        for part in parts {
            let (kind, summary) = (part["kind"].as_str().unwrap(), part["summary"].as_str().unwrap());
            let of_kind = json(kind);
            let own = of_kind.iter().find(|own| own["role"] == role).unwrap_or_else(|| panic!("{role} {kind}"));
            assert!(own["fields"].is_array(), "{kind}");
            let text = folder.vaglio(&["list", kind]).out;
            assert!(text.contains(&format!("{role} {kind}: {summary}\n")), "{kind}\n{text}");
            for field in own["fields"].as_array().into_iter().flatten() {
                for key in ["name", "type", "description"] {
                    assert!(field[key].as_str().is_some_and(|words| !words.is_empty()), "{kind}: {field}");
                }
                assert!(field["required"] == false || field.get("default").is_none(), "{kind}: {field}");
                let told = format!("\n{}: {}; ", field["name"].as_str().unwrap(), field["type"].as_str().unwrap());
                assert!(text.contains(&told), "{told}\n{text}");
            }
        }
    }
    let text = folder.vaglio(&["list", "greedy"]).out;
    for words in [
        "\nmax_features: whole number | null; null by default\n",
        "\npolish: none | swaps; none by default\n",
        "\nchoose: auto | best | last | one_se | whole number | {rule, folds, repeats, within, at_most, patience, splits, require_gain, judge, interval} | {fdr}; auto by default\n",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}
