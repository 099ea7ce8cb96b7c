//! Parses months and quarters written as text.

/// Months, which may be cut after three letters.
const MONTHS: &str = "january february march april may june july august september october november december";

/// Parses each text as a number of months. All must be years with a month, or all years with a quarter or half:
/// `2020Q1`, `Q1 2020`, `1990:2`, `2020-03`, `2020M3`, `Mar 2020`, `March-2020`, `2020H1`. Plain numbers are quarters
/// if none is above 4, else months.
pub fn periods(text: &[String]) -> Option<Vec<f64>> {
    let all: Vec<Period> = text.iter().map(|text| period(text)).collect::<Option<_>>()?;
    let first = all.first()?;
    if all.iter().any(|period| period.periods_a_year != first.periods_a_year) {
        return None;
    }
    let most = all.iter().map(|period| period.number).max()?;
    let periods_a_year = first.periods_a_year.unwrap_or(if most <= 4 { 4 } else { 12 });
    (most <= periods_a_year).then(|| {
        all.iter().map(|period| f64::from(period.year * 12 + (period.number - 1) * (12 / periods_a_year))).collect()
    })
}

struct Period {
    year: u32,
    /// Number of such periods in a year; `None` for a number without a unit.
    periods_a_year: Option<u32>,
    /// From 1.
    number: u32,
}

fn period(text: &str) -> Option<Period> {
    let letters: Vec<char> = text.trim().to_lowercase().chars().collect();
    let is_between = |c: &char| " -/:._,'".contains(*c);
    if !letters.iter().all(|c| c.is_ascii_digit() || c.is_alphabetic() || is_between(c)) {
        return None;
    }
    // Runs of digits and of letters.
    let kind = |c: &char| (c.is_ascii_digit(), is_between(c));
    let runs = letters.chunk_by(|a, b| kind(a) == kind(b)).filter(|run| !is_between(&run[0]));
    let words: Vec<String> = runs.map(|run| run.iter().collect()).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    // `Q42010`
    if let [before, digits] = words[..]
        && before.len() == 1
        && digits.len() == 5
    {
        words = vec![before, &digits[..1], &digits[1..]];
    }
    let year = |word: &str| word.parse::<u32>().ok().filter(|year| word.len() == 4 && (1000..3000).contains(year));
    let number = |word: &str| word.parse::<u32>().ok().filter(|n| word.len() <= 2 && (1..=12).contains(n));
    let part = |word: &str| match word {
        "q" | "qtr" | "quarter" => Some(4),
        "h" | "s" => Some(2),
        "m" => Some(12),
        _ => None,
    };
    let month = |word: &str| {
        let mut months = MONTHS.split(' ');
        let is_name = word.len() == 3 || word == "sept" || months.clone().any(|month| month == word);
        let place = months.position(|month| is_name && month.starts_with(word))?;
        Some(place as u32 + 1)
    };
    let mut ends = [words.split_first(), words.split_last()].into_iter().flatten();
    let (year, others) = ends.find_map(|(&word, others)| Some((year(word)?, others)))?;
    let (periods_a_year, number) = match *others {
        [name] if month(name).is_some() => (Some(12), month(name)?),
        [place] => (None, number(place)?),
        [unit, place] if part(unit).is_some() => (part(unit), number(place)?),
        [place, unit] => (Some(part(unit)?), number(place)?),
        _ => return None,
    };
    Some(Period { year, periods_a_year, number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn months(text: &[&str]) -> Option<Vec<f64>> {
        periods(&text.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
            .map(|all| all.iter().map(|months| months - 24240.0).collect())
    }

    #[test]
    fn months_and_quarters_are_read() {
        let quarters = Some(vec![0.0, 3.0, 9.0, 12.0]);
        for (text, expected) in [
            (["2020Q1", "2020Q2", "2020Q4", "2021Q1"], quarters.clone()),
            (["2020 Q1", "2020-q2", "2020:Q4", "2021/Q1"], quarters.clone()),
            (["Q1 2020", "Q2-2020", "Q4 2020", "Q1 2021"], quarters.clone()),
            (["Q12020", "Q22020", "Q42020", "Q12021"], quarters.clone()),
            (["1Q 2020", "2Q2020", "4Q 2020", "1Q 2021"], quarters.clone()),
            (["2020:1", "2020:2", "2020:4", "2021:1"], quarters),
            (["2020-01", "2020-02", "2020-12", "2021-01"], Some(vec![0.0, 1.0, 11.0, 12.0])),
            (["01/2020", "02/2020", "12/2020", "01/2021"], Some(vec![0.0, 1.0, 11.0, 12.0])),
            (["Jan 2020", "Feb-2020", "December 2020", "2021 jan"], Some(vec![0.0, 1.0, 11.0, 12.0])),
            (["2020M01", "2020M2", "2020M12", "2021M01"], Some(vec![0.0, 1.0, 11.0, 12.0])),
            (["2020H1", "2020H2", "2021H1", "2021H2"], Some(vec![0.0, 6.0, 12.0, 18.0])),
            (["2020Q1", "2020M2", "2020Q4", "2021Q1"], None),
            (["2020Q5", "2020Q2", "2020Q4", "2021Q1"], None),
            (["2020-13", "2020-02", "2020-12", "2021-01"], None),
            (["Q1", "Q2", "Q3", "Q4"], None),
            (["march", "april", "may", "june"], None),
            (["2020", "2021", "2022", "2023"], None),
            (["marsh 2020", "Apr 2020", "May 2020", "Jun 2020"], None),
            (["", "2020Q2", "2020Q4", "2021Q1"], None),
        ] {
            assert_eq!(months(&text), expected, "{text:?}");
        }
    }
}
