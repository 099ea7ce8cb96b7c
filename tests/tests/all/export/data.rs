//! Tables with numbers, text and dates, cells that are missing, and names that would act where they are not quoted.

use vaglio_testkit::SplitMix64;

/// Columns that are targets.
pub const TARGETS: [&str; 4] = ["y", "positive", "two", "three"];

/// Kinds of cells that a table has besides numbers and text.
pub struct Kinds {
    pub dates: bool,
    pub missing: bool,
}

impl Kinds {
    pub const ALL: Kinds = Kinds { dates: true, missing: true };
}

/// A name with a quote, a line break and what else languages take for their own.
pub const HOSTILE: &str = "=a \"b\"'; DROP TABLE data; --\n\\n`c` ${d} <e>&é";

const LEVELS: [&str; 5] = ["it's", "say \"hi\"", "plain", "grün", "=1+1"];

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Rows by a seed.
pub fn table(rows: usize, seed: u64, kinds: &Kinds) -> String {
    let mut random = SplitMix64::new(seed);
    let names = ["x0", "x1", "all", "count", HOSTILE, "kind"];
    let mut header: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    header.extend(kinds.dates.then(|| "when".to_owned()));
    header.extend(TARGETS.map(str::to_owned));
    let mut text = header.join(",") + "\n";
    for row in 0..rows {
        let x: Vec<f64> = (0..2).map(|_| random.normal()).collect();
        let (amount, count) = ((1.5 * random.normal()).exp() + 0.01, random.below(3));
        let other = 100.0 + 20.0 * random.normal();
        let level = random.below(LEVELS.len());
        let y = 2.0 * x[0] - x[1] + amount.ln() + 0.1 * other + level as f64 + 0.3 * random.normal();
        let missing = |own: bool, cell: String| if kinds.missing && own { String::new() } else { cell };
        let mut cells = vec![
            missing(row % 7 == 3, format!("{:?}", x[0])),
            format!("{:?}", x[1]),
            missing(row % 11 == 5, format!("{amount:?}")),
            count.to_string(),
            format!("{other:?}"),
            missing(row % 13 == 6, quoted(LEVELS[level])),
        ];
        if kinds.dates {
            // From 1958 on, about leap days and turns of years.
            let (year, month) = (1958 + random.below(80), 1 + random.below(12));
            let day = 1 + random.below(28);
            let day = if month == 12 && random.below(3) == 0 { 31 } else { day };
            let (hour, minute, second) = (random.below(24), random.below(60), random.below(60));
            cells.push(format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"));
        }
        cells.push(format!("{y:?}"));
        cells.push(format!("{:?}", (0.1 * y).exp()));
        cells.push(if y > 12.0 { "yes".into() } else { "no".into() });
        cells.push(["low", "middle", "high"][usize::from(y > 10.0) + usize::from(y > 14.0)].into());
        text += &(cells.join(",") + "\n");
    }
    text
}
