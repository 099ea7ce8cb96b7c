//! Limits of a run.

use super::ValidPipeline;
use serde::de::Error;
use serde::{Serialize, Serializer};
use std::fmt;
use std::time::Duration;
use vaglio_core::{MixedSetting, setting};
use vaglio_tables::budget::{Budget, ByteSize};
use vaglio_tables::quantity::{split, unit};

/// Upper limits of a run.
#[setting]
#[derive(PartialEq, Eq, Default)]
#[serde(default)]
pub struct Limits {
    /// Time limit, as in `10m`, `1h 30m` or a number of seconds; the run then ends with its results so far.
    #[optional]
    pub time: Option<TimeSpan>,
    /// Memory limit, as in `8GiB`, `500 MB` or a number of bytes; by default 80 % of the memory of the machine or its
    /// control group.
    #[optional]
    pub memory: Option<ByteSize>,
}

impl Limits {
    /// The memory budget of the run.
    pub fn budget(&self) -> Budget {
        self.memory.map_or_else(Budget::for_machine, |bytes| Budget::new(bytes.0))
    }
}

impl ValidPipeline {
    /// Time limit of a run or a fit.
    pub fn most_time(&self) -> Option<Duration> {
        self.limits.time.map(|span| span.0)
    }
}

/// A duration: `10m`, `1h 30m`, `90 s`, or a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan(pub Duration);

/// Units in seconds, from the largest, the short name first.
const UNITS: [(&[&str], f64); 5] = [
    (&["d", "day", "days"], 86_400.0),
    (&["h", "hour", "hours"], 3600.0),
    (&["m", "min", "minute", "minutes"], 60.0),
    (&["s", "sec", "second", "seconds"], 1.0),
    (&["ms"], 1e-3),
];

/// Largest duration in seconds: ten years.
const MOST: f64 = 315_360_000.0;

impl MixedSetting for TimeSpan {
    const EXPECTED: &'static str = "a time, such as 10m, `1h 30m` or a number of seconds";

    fn from_text<E: Error>(text: &str) -> Result<Self, E> {
        TimeSpan::parse(text).ok_or_else(|| Self::refusal(format_args!("`{text}`")))
    }

    fn from_number<E: Error>(seconds: f64) -> Result<Self, E> {
        TimeSpan::from_double(seconds).ok_or_else(|| Self::refusal(format_args!("{seconds:e}")))
    }
}

/// Reads a duration: `10m`, `1h 30m`, `90 s`, or a number of seconds.
///
/// # Errors
/// Fails for other text, durations that are not positive, and durations over ten years.
pub fn parse_duration(text: &str) -> serde_json::Result<Duration> {
    TimeSpan::from_text(text).map(|span| span.0)
}

impl TimeSpan {
    fn parse(text: &str) -> Option<Self> {
        if let Ok(seconds) = text.trim().parse() {
            return TimeSpan::from_double(seconds);
        }
        let (mut left, mut seconds) = (text.trim(), 0.0);
        while !left.is_empty() {
            let (number, name, rest) = split(left);
            seconds += number.parse::<f64>().ok()? * unit(&UNITS, name)?;
            left = rest;
        }
        TimeSpan::from_double(seconds)
    }

    fn from_double(seconds: f64) -> Option<Self> {
        (seconds > 0.0 && seconds <= MOST).then(|| TimeSpan(Duration::from_secs_f64(seconds)))
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs_f64();
        match UNITS.iter().find(|(_, unit)| (seconds / unit).fract() == 0.0) {
            Some((names, unit)) => write!(f, "{}{}", seconds / unit, names[0]),
            None => write!(f, "{seconds}s"),
        }
    }
}

impl Serialize for TimeSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

vaglio_core::mixed_setting!(TimeSpan);

vaglio_core::schema!(TimeSpan => {
    "description": "A length of time: `10m`, `1h 30m`, or a number of seconds.",
    "type": ["number", "string"],
    "exclusiveMinimum": 0,
    "pattern": "^\\s*([0-9.]+\\s*[A-Za-z]*\\s*)+$"
});
