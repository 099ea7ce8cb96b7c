use super::*;
use vaglio_core::Numbers;

fn numbers(values: impl IntoIterator<Item = f64>) -> Cells {
    Cells::Numbers(Numbers::from(values.into_iter().collect::<Vec<f64>>()))
}

fn guess_layout(columns: &[(&str, Cells)]) -> Option<RowLayout> {
    let all: Vec<CodedColumn<'_>> = columns.iter().map(|(name, cells)| CodedColumn::new(name, cells)).collect();
    find(&all, None, None)
}

fn count(n: usize) -> impl Iterator<Item = f64> {
    (0..n).map(|row| row as f64)
}

#[test]
fn a_name_has_words() {
    assert_eq!(words("yearID"), ["year", "id"]);
    assert_eq!(words("time_to_event.2"), ["time", "to", "event"]);
    assert_eq!(words("GDP"), ["gdp"]);
}

#[test]
fn one_column_that_rises_and_says_time_is_one_series() {
    for name in ["year", "Date", "t", "time", "step"] {
        let rising = numbers(count(40).map(|row| 1900.0 + row));
        assert_eq!(guess_layout(&[(name, rising)]), Some(RowLayout::Time(name.into())));
        let falling = numbers(count(40).map(|row| 1900.0 - row));
        assert_eq!(guess_layout(&[(name, falling)]), Some(RowLayout::Time(name.into())));
    }
    let dates = Cells::Dates(count(40).map(|row| row * 86400.0).collect());
    assert_eq!(guess_layout(&[("when", dates)]), Some(RowLayout::Time("when".into())));
    for name in ["id", "X", "rownames", "index", "height", "timer"] {
        assert_eq!(guess_layout(&[(name, numbers(count(40)))]), None, "{name}");
    }
    // Not in order, or twice.
    assert_eq!(guess_layout(&[("time", numbers(count(40).map(|row| row * 7.0 % 40.0)))]), None);
    assert_eq!(guess_layout(&[("time", numbers(count(40).map(|row| (row / 2.0).floor())))]), None);
}

#[test]
fn years_with_months_are_in_the_order_of_the_file() {
    let (year, month) = (numbers(count(48).map(|row| (row / 12.0).floor())), numbers(count(48).map(|row| row % 12.0)));
    let order = guess_layout(&[("month", month.clone()), ("year", year.clone())]);
    assert_eq!(order, Some(RowLayout::File(vec!["year".into(), "month".into()])));
    let shuffled = numbers(count(48).map(|row| row * 5.0 % 12.0));
    assert_eq!(guess_layout(&[("year", year), ("month", shuffled)]), None);
}

#[test]
fn units_at_several_times_are_a_panel() {
    let unit = Cells::Text((0..60).map(|row| format!("s{}", row / 6)).collect());
    let year = numbers(count(60).map(|row| 1990.0 + row % 6.0));
    let panel = Panel { unit: "state".into(), time: "year".into(), units: 10, times: 6 };
    assert_eq!(guess_layout(&[("state", unit.clone()), ("year", year.clone())]), Some(RowLayout::NewUnits(panel)));
    // A factor that is crossed with nothing, and one whose pairs with the time stand twice.
    let twice = Cells::Text((0..60).map(|row| format!("s{}", row / 12)).collect());
    assert_eq!(guess_layout(&[("kind", twice), ("year", year.clone())]), None);
    assert_eq!(guess_layout(&[("state", unit), ("birth_year", year.clone())]), None);
    let counts = numbers(count(60).map(|row| (row * 7.0 % 10.0).floor()));
    assert_eq!(guess_layout(&[("children", counts), ("year", year)]), None);
}

#[test]
fn quarters_dates_that_stand_twice_and_lags_are_an_order() {
    let quarters = |per: usize| {
        Cells::Text((0..40).map(|row| row / per).map(|q| format!("{} Q{}", 1990 + q / 4, q % 4 + 1)).collect())
    };
    assert_eq!(guess_layout(&[("when", quarters(1))]), Some(RowLayout::Time("when".into())));
    assert_eq!(guess_layout(&[("when", quarters(2))]), Some(RowLayout::Events("when".into(), 20)));
    assert_eq!(guess_layout(&[("when", quarters(4))]), Some(RowLayout::Events("when".into(), 10)));
    // Too few for folds in time.
    assert_eq!(guess_layout(&[("when", quarters(8))]), None);
    let state = Cells::Text((0..60).map(|row| format!("s{}", row / 6)).collect());
    let quarter = Cells::Text((0..60).map(|row| row % 6).map(|q| format!("Q{}{}", q % 4 + 1, 2010 + q / 4)).collect());
    let panel = Panel { unit: "state".into(), time: "quarter".into(), units: 10, times: 6 };
    assert_eq!(guess_layout(&[("state", state), ("quarter", quarter)]), Some(RowLayout::NewUnits(panel)));
    let noise: Vec<f64> = (0..60).map(|row| f64::from(row * 37 % 101)).collect();
    let later = |by: usize| numbers(noise[2 - by..42 - by].iter().copied());
    let lagged =
        [("Lag1", later(1)), ("today", later(0)), ("Year", numbers(count(40).map(|row| (row / 20.0).floor())))];
    assert_eq!(guess_layout(&lagged), Some(RowLayout::File(Vec::new())));
    assert_eq!(guess_layout(&[("Lag1", later(0)), ("today", later(0))]), None);
    assert_eq!(guess_layout(&[("x", later(1)), ("today", later(0))]), None);
}
