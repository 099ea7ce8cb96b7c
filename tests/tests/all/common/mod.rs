//! A folder of a test's own, data to fill it, and the program run in it.
#![allow(dead_code)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use vaglio_testkit::{SplitMix64, tries_all_cases};

/// Where the folders lie: in memory if it has 2 GB for files, since a run waits for the disk for a third of its time.
static BASE: LazyLock<PathBuf> = LazyLock::new(|| {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    // A container has 64 MB there, and starts no program from it.
    let has_room = |options: &str| {
        options.split(',').all(|option| match option.strip_prefix("size=").and_then(|size| size.strip_suffix('k')) {
            Some(kilobytes) => kilobytes.parse::<u64>().is_ok_and(|size| size > 2_000_000),
            None => option != "noexec" && option != "ro",
        })
    };
    let is_usable = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        fields.get(1) == Some(&"/dev/shm") && fields.get(3).is_some_and(|options| has_room(options))
    };
    if mounts.lines().any(is_usable) { "/dev/shm".into() } else { std::env::temp_dir() }
});

/// A folder that goes away with the test.
pub struct Folder(pub PathBuf);

/// Exit code and output of a run of the program.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Fails unless the run succeeded.
    #[track_caller]
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.err);
        self
    }

    /// Fails unless the run ended with a code, nothing on standard output, and words on standard error.
    #[track_caller]
    pub fn refused(self, code: i32, words: &str) -> Self {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{words}\n{}", self.err);
        assert!(self.err.contains(words), "{words}\n{}", self.err);
        self
    }

    /// Fails unless the run succeeded without a word to standard error.
    #[track_caller]
    pub fn succeeded_silently(self) -> Self {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""));
        self
    }
}

impl Folder {
    pub fn new(name: &str) -> Self {
        Folder::below(&BASE, name)
    }

    /// A folder for scratch files, which in memory would count as memory of the program.
    pub fn on_disk(name: &str) -> Self {
        Folder::below(&std::env::temp_dir(), name)
    }

    fn below(base: &Path, name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("vaglio-tests-{}-{count}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn files(&self, name: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(name)).into_iter().flatten();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program in this folder.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vaglio-under-test"));
        command.args(arguments).current_dir(&self.0).env_remove("VAGLIO_CPU").stdin(Stdio::null());
        command
    }

    pub fn vaglio(&self, arguments: &[&str]) -> Ran {
        ran(&mut self.command(arguments))
    }

    /// Writes a pipeline, runs it into `out`, and expects success.
    pub fn run(&self, yaml: &str) -> Value {
        self.write("p.yaml", yaml);
        self.run_with(&[])
    }

    /// Runs the pipeline that is there with more arguments into `out`, and expects success.
    pub fn run_with(&self, arguments: &[&str]) -> Value {
        let ran = self.vaglio(&[&["run", "p.yaml", "--out", "out", "--quiet", "--json"], arguments].concat());
        assert_eq!(ran.code, Some(0), "{}\n{}", self.read("p.yaml"), ran.err);
        serde_json::from_str(&ran.out).unwrap()
    }

    /// Predicts `new.csv` by the model in `out`, with more arguments.
    pub fn predict(&self, arguments: &[&str]) -> Ran {
        self.vaglio(&[&["predict", "--model", "out/model.json", "--data", "new.csv"], arguments].concat())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Ran { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// The root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// A column that is made from the row's number and signal.
pub type Made<'a> = (&'a str, &'a dyn Fn(usize, f64) -> String);

/// Columns x0 … and a target `y` made of x1, x2 and noise; `extra` makes further cells of a row from its number and y.
pub fn table(rows: usize, columns: usize, extra: &[Made<'_>]) -> String {
    let mut random = SplitMix64::new(7);
    let mut header: Vec<String> = (0..columns).map(|k| format!("x{k}")).collect();
    header.push("y".into());
    header.extend(extra.iter().map(|(name, _)| (*name).to_owned()));
    let mut text = header.join(",") + "\n";
    for row in 0..rows {
        let x: Vec<f64> = (0..columns).map(|_| (random.normal() * 1000.0).round() / 1000.0).collect();
        let y = 2.0 * x[1] - x[2 % columns] + 0.3 * random.normal() + 5.0;
        let mut cells: Vec<String> = x.iter().map(f64::to_string).collect();
        cells.push(y.to_string());
        cells.extend(extra.iter().map(|(_, make)| make(row, y)));
        text += &(cells.join(",") + "\n");
    }
    text
}

/// The class of a target: `high` or `low`.
pub fn side(_: usize, y: f64) -> String {
    if y > 5.0 { "high".into() } else { "low".into() }
}

/// One of three classes of a target.
pub fn third(_: usize, y: f64) -> String {
    if y > 6.0 {
        "c"
    } else if y > 4.0 {
        "b"
    } else {
        "a"
    }
    .to_owned()
}

/// Everything in a selection but times and memory.
pub fn timeless(mut selection: Value) -> Value {
    let map = selection.as_object_mut().unwrap();
    map.remove("seconds");
    map.remove("peak_memory_bytes");
    selection
}

/// Names of the selected columns.
pub fn names(selection: &Value) -> Vec<&str> {
    selection["selected"].as_array().unwrap().iter().map(|s| s["name"].as_str().unwrap()).collect()
}

/// The Python that `.ci/exporters` prepares, or that of the system.
pub fn python() -> String {
    std::env::var("VAGLIO_TEST_PYTHON").unwrap_or_else(|_| "python3".into())
}

/// A pipeline like [`pipeline`] on one of the columns `targets`, without the others.
pub fn pipeline_on(target: &str, targets: &[&str], lines: &str) -> String {
    let others: Vec<&str> = targets.iter().copied().filter(|other| *other != target).collect();
    pipeline(lines).replace("target: y", &format!("target: {target}, exclude: [{}]", others.join(", ")))
}

/// Distance from one case to the next that is tried: 1 where all are.
pub fn case_stride(most: usize) -> usize {
    if tries_all_cases() { 1 } else { most }
}

/// The pipeline on `train.csv` with target `y`, with lines appended.
pub fn pipeline(lines: &str) -> String {
    format!("version: 1\ndata: {{train: train.csv, target: y}}\n{lines}\n")
}

/// The cells of a column of a CSV text.
pub fn column(text: &str, name: &str) -> Vec<String> {
    let mut lines = text.lines();
    let at = lines.next().unwrap().split(',').position(|n| n == name).unwrap_or_else(|| panic!("no {name} in {text}"));
    lines.map(|line| line.split(',').nth(at).unwrap().to_owned()).collect()
}

/// Fails unless two numbers are equal but for rounding.
pub fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-10 * b.abs().max(1.0), "{a} is not {b}");
}

/// Solves linear equations, whose right-hand sides follow the matrix in each row, by Gauss-Jordan elimination: unknowns of
/// each right-hand side.
pub fn solved(mut a: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let count = a.len();
    for i in 0..count {
        let pivot = a[i].clone();
        for other in (0..count).filter(|&other| other != i) {
            let factor = a[other][i] / pivot[i];
            a[other].iter_mut().zip(&pivot).for_each(|(a, of_pivot)| *a -= factor * of_pivot);
        }
    }
    (count..a[0].len()).map(|side| (0..count).map(|i| a[i][side] / a[i][i]).collect()).collect()
}
