use vaglio_core::nearest;

#[test]
fn a_name_is_suggested_for_slips_of_it_alone() {
    let searches = ["all", "backward", "floating", "greedy", "lars", "random", "rank"];
    for (name, expected) in [
        ("gredy", Some("greedy")),
        ("Greedy", Some("greedy")),
        ("flaoting", Some("floating")),
        ("back", Some("backward")),
        ("ranked", Some("rank")),
        ("lasso", None),
        ("forward", None),
        ("beam", None),
        ("rfe", None),
        ("r", None),
        ("", None),
    ] {
        assert_eq!(nearest(name, searches).as_deref(), expected, "{name}");
    }
    assert_eq!(nearest("x9", ["x10", "x0"]).as_deref(), Some("x0"));
    assert_eq!(nearest(&"x".repeat(300), ["x"]), None);
}
