use super::*;

fn of(at: Vec<f64>, values: Vec<Option<f64>>) -> Plot {
    let tips = vec!["tip".into(); at.len()];
    let series = vec![Series { name: "s".into(), class: "test", values, band: Vec::new() }];
    Plot { at, series, tips, chosen: Some((1.0, "chosen: 1".into())), ..Plot::default() }
}

#[test]
fn every_size_has_its_tooltip() {
    for n in [1, 2, 500] {
        let svg = of((1..=n).map(f64::from).collect(), vec![Some(2.0); n as usize]).drawn(false).unwrap();
        assert_eq!(svg.matches("<title>tip</title>").count(), n as usize);
        assert_eq!(svg.matches("dot test").count(), n as usize);
    }
}

#[test]
fn nothing_finite_draws_nothing() {
    let plot = |values| of(vec![1.0, 2.0], values);
    assert!(plot(vec![None, None]).html().is_none());
    assert!(plot(vec![Some(f64::MAX), Some(-f64::MAX)]).html().is_none());
    assert!(plot(vec![Some(0.0), None]).html().is_some());
}

#[test]
fn no_line_crosses_sizes_that_were_not_computed() {
    let path = |at: Vec<f64>, values| {
        let svg = of(at, values).drawn(false).unwrap();
        let line = svg.split("class=\"line test\" d=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        (line.matches('M').count(), line.matches('L').count())
    };
    let some = |n: usize| vec![Some(1.0); n];
    assert_eq!(path((1..=5).map(f64::from).collect(), some(5)), (1, 4));
    assert_eq!(path(vec![1.0, 2.0, 10.0, 11.0, 20.0], some(5)), (2, 2));
    let gap = vec![Some(1.0), Some(2.0), None, Some(1.0), Some(2.0)];
    assert_eq!(path((1..=5).map(f64::from).collect(), gap), (2, 2));
}
