//! Parses months and quarters written as text.

/// Months, which may be cut after three letters.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Parses each text as a number of months. All must be years with a month, or all years with a quarter or half:
/// `2020Q1`, `Q1 2020`, `1990:2`, `2020-03`, `2020M3`, `Mar 2020`, `March-2020`, `2020H1`. Plain numbers are quarters
/// if none is above 4, else months.
pub(super) fn periods(text: &[String]) -> Option<Vec<f64>> {
    let all: Vec<Period> = text.iter().map(|text| period(text)).collect::<Option<_>>()?;
    let first = all.first()?;
    if all.iter().any(|period| period.of_year != first.of_year) {
        return None;
    }
    let most = all.iter().map(|period| period.number).max()?;
    let of_year = first.of_year.unwrap_or(if most <= 4 { 4 } else { 12 });
    (most <= of_year)
        .then(|| all.iter().map(|period| f64::from(period.year * 12 + (period.number - 1) * (12 / of_year))).collect())
}

struct Period {
    year: u32,
    /// Number of such periods in a year; `None` for a number without a unit.
    of_year: Option<u32>,
    /// From 1.
    number: u32,
}

fn period(text: &str) -> Option<Period> {
    let text = text.trim().to_lowercase();
    // Runs of digits and of letters; other characters separate them.
    let mut words: Vec<String> = Vec::new();
    let mut last = None;
    for c in text.chars() {
        let kind = match c {
            _ if c.is_ascii_digit() => 'd',
            _ if c.is_alphabetic() => 'l',
            ' ' | '-' | '/' | ':' | '.' | '_' | ',' | '\'' => ' ',
            _ => return None,
        };
        if kind != ' ' {
            match words.last_mut().filter(|_| last == Some(kind)) {
                Some(word) => word.push(c),
                None => words.push(c.to_string()),
            }
        }
        last = Some(kind);
    }
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
        let is_name = word.len() == 3 || word == "sept" || MONTHS.contains(&word);
        let place = MONTHS.iter().position(|month| is_name && month.starts_with(word))?;
        Some(place as u32 + 1)
    };
    let (year, of_year, number) = match words[..] {
        [a, b] => match (year(a), year(b)) {
            (Some(year), _) if month(b).is_some() => (year, Some(12), month(b)?),
            (_, Some(year)) if month(a).is_some() => (year, Some(12), month(a)?),
            (Some(year), None) => (year, None, number(b)?),
            (None, Some(year)) => (year, None, number(a)?),
            _ => return None,
        },
        [a, b, c] => match (year(a), year(c)) {
            (Some(year), None) if part(b).is_some() => (year, part(b), number(c)?),
            (Some(year), None) if part(c).is_some() => (year, part(c), number(b)?),
            (None, Some(year)) if part(a).is_some() => (year, part(a), number(b)?),
            (None, Some(year)) if part(b).is_some() => (year, part(b), number(a)?),
            _ => return None,
        },
        _ => return None,
    };
    Some(Period { year, of_year, number })
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
