//! Charts as they are drawn.

use vaglio_report::page::{Chart, Mark, ScaleKind};

fn chart(points: Vec<Option<[f64; 2]>>) -> Chart {
    Chart::new("label", "size", "size").x(ScaleKind::Whole).mark(Mark::line("loss", "test", points))
}

fn points(values: &[(f64, f64)]) -> Vec<Option<[f64; 2]>> {
    values.iter().map(|(x, y)| Some([*x, *y])).collect()
}

#[test]
fn every_place_has_its_tooltip() {
    for n in [1, 2, 500] {
        let all: Vec<(f64, f64)> = (1..=n).map(|k| (f64::from(k), 2.0)).collect();
        let svg = chart(points(&all)).drawing().unwrap();
        assert_eq!(svg.matches(": loss 2</title>").count(), n as usize);
    }
}

#[test]
fn nothing_finite_draws_nothing() {
    assert!(chart(vec![None, None]).html().is_none());
    assert!(chart(points(&[(1.0, f64::MAX), (2.0, -f64::MAX)])).html().is_none());
    assert!(chart(vec![Some([1.0, 0.0]), None]).html().is_some());
}

#[test]
fn a_line_is_broken_where_nothing_was_computed() {
    let svg = chart(vec![Some([1.0, 1.0]), Some([2.0, 2.0]), None, Some([4.0, 1.0]), Some([5.0, 2.0])]).drawing();
    let svg = svg.unwrap();
    let line = svg.split("class=\"line test\" d=\"").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!((line.matches('M').count(), line.matches('L').count()), (2, 2));
}

/// Returns the labels of the ticks along an axis, by the anchor of their text.
fn ticks(chart: &Chart, anchor: &str) -> Vec<String> {
    let svg = chart.drawing().unwrap();
    let texts = svg.split("<text class=\"tick\"").skip(1).map(|text| text.split("</text>").next().unwrap());
    let own = texts.filter(|text| text.contains(&format!("text-anchor=\"{anchor}\"")));
    own.map(|text| text.split_once('>').unwrap().1.to_owned()).collect()
}

fn ticks_across(kind: ScaleKind, ends: [f64; 2]) -> Vec<String> {
    ticks(&chart(points(&ends.map(|x| (x, 1.0)))).x(kind), "middle")
}

fn ticks_up(kind: ScaleKind, ends: [f64; 2]) -> Vec<String> {
    ticks(&chart(points(&[(1.0, ends[0]), (2.0, ends[1])])).y(kind), "end")
}

#[test]
fn ticks_are_round_and_inside() {
    assert_eq!(ticks_up(ScaleKind::Linear, [2890.0, 3840.0]), ["3000", "3200", "3400", "3600", "3800"]);
    assert_eq!(ticks_up(ScaleKind::Linear, [-0.1, 1.0]), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    assert_eq!(ticks_up(ScaleKind::Linear, [0.0, 1.6]), ["0.00", "0.25", "0.50", "0.75", "1.00", "1.25", "1.50"]);
    let powers = ["0.001", "0.01", "0.1", "1", "10", "100", "1000"];
    assert_eq!(ticks_across(ScaleKind::Log, [5e-4, 2e3]), powers);
    let multiples = ["1", "2", "5", "10", "20", "50", "100", "200", "500"];
    assert_eq!(ticks_across(ScaleKind::Log, [1.0, 900.0]), multiples);
    assert_eq!(ticks_across(ScaleKind::Log, [1.0, 5966.0]), ["1", "10", "100", "1000"]);
    let tiny = ticks_across(ScaleKind::Log, [1e-6, 1e3]);
    assert_eq!((tiny.first().unwrap().as_str(), tiny.last().unwrap().as_str()), ("10⁻⁶", "1000"));
    assert_eq!(ticks_across(ScaleKind::Whole, [1.0, 3.0]), ["1", "2", "3"]);
    assert_eq!(ticks_across(ScaleKind::Whole, [1.0, 100.0])[..3], ["10", "20", "30"]);
    assert_eq!(ticks_across(ScaleKind::Whole, [1.0, 1.0]), ["1"]);
}

#[test]
fn numbers_are_short_and_never_wrong() {
    let cases = [
        (0.0, "0"),
        (2896.1234, "2896.1"),
        (-0.25, "−0.25"),
        (123456.7, "123457"),
        (0.00012345678, "0.00012346"),
        (1e-6, "10⁻⁶"),
        (9.99999e-7, "10⁻⁶"),
        (2.5e12, "2.5 × 10¹²"),
        (0.999999, "1"),
    ];
    for (x, text) in cases {
        let svg = chart(points(&[(1.0, x)])).drawing().unwrap();
        assert!(svg.contains(&format!(": loss {text}</title>")), "{x}: {svg}");
    }
}

#[test]
fn nothing_of_a_name_is_markup() {
    let svg = Chart { label: "a\n\u{1b}<'&\"".into(), ..chart(points(&[(1.0, 1.0)])) }.drawing().unwrap();
    assert!(svg.contains("\"a\\n\\u{1b}&lt;&#x27;&amp;&quot;\""), "{svg}");
}
