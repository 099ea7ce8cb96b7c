//! Time ranges, in seconds.

use std::fmt;

/// Range of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Span {
    pub low: f64,
    pub high: f64,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(f64, f64, &str); 3] =
            [(7200.0, 3600.0, "hours"), (120.0, 60.0, "minutes"), (0.0, 1.0, "seconds")];
        let (_, size, name) = UNITS.iter().find(|(from, ..)| self.high >= *from).unwrap_or(&UNITS[2]);
        let number = |seconds: f64| {
            let value = seconds / size;
            // Two significant digits, but none beyond thousandths.
            match value {
                0.0..0.1 => format!("{value:.3}"),
                0.1..1.0 => format!("{value:.2}"),
                1.0..10.0 => format!("{value:.1}"),
                10.0..1e6 => format!("{value:.0}"),
                _ => format!("{value:.1e}"),
            }
        };
        match self.high < 2.0 * self.low {
            true => write!(f, "about {} {name}", number(self.high)),
            false if self.low < 1e-3 * self.high => write!(f, "at most {} {name}", number(self.high)),
            false => write!(f, "{} to {} {name}", number(self.low), number(self.high)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_the_unit_of_their_end() {
        let told = |low: f64, high: f64| Span { low, high }.to_string();
        assert_eq!(told(0.0123, 0.04), "0.012 to 0.040 seconds");
        assert_eq!(told(0.04, 0.4), "0.040 to 0.40 seconds");
        assert_eq!(told(0.4, 2.25), "0.40 to 2.2 seconds");
        assert_eq!(told(30.0, 90.0), "30 to 90 seconds");
        assert_eq!(told(60.0, 600.0), "1.0 to 10 minutes");
        assert_eq!(told(3600.0, 36000.0), "1.0 to 10 hours");
        assert_eq!((told(1.5, 2.0), told(3.6, 3.6e15)), ("about 2.0 seconds".into(), "at most 1.0e12 hours".into()));
    }
}
