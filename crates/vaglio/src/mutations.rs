//! Every reader against files that were changed at random: an error or a result, in bounded time and memory.
//!
//! `VAGLIO_MUTATIONS` says how many files are tried, `VAGLIO_MUTATIONS_SEED` which; the one under way is kept in the
//! folder that is printed at the start.

use crate::budget::{Budget, peak, resident};
use crate::pipeline::{Beside, RunOptions, SavedModel, load, run};
use crate::read::{ReadSpec, Source, Wanted};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use sha2::{Digest, Sha256};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;
use vaglio_core::{Error, Result, Silent};
use vaglio_testkit::Random;

/// Memory that a reader may take beside what the process holds.
const MORE: u64 = 200_000_000;
/// What the limit may be exceeded by.
const BEYOND: u64 = 100_000_000;

const PIPELINE: &str = "version: 1\nseed: 3\ndata: {train: train.csv, target: y, types: {t: class}, test_fraction: 0.2}\n\
    preprocess: [date_parts, {kind: impute, how: mean}, {kind: one_hot, rare: 2}, {kind: standardize, scope: train}]\n\
    learner: {kind: rls, lambda: {grid: {from: 0.1, to: 10.0, points: 3}}}\n\
    criterion: {kind: kfold, folds: 4}\nsearch: {kind: greedy, max_features: 2, choose: last}\n\
    limits: {memory: 8GiB}\nengine: {threads: 1}\n";

/// What a file is read as.
#[derive(Clone, Copy, PartialEq)]
enum As {
    Table,
    /// With other decimal marks than the model was trained on.
    Foreign,
    Model,
    Pipeline,
}

fn csv(rows: usize) -> String {
    let mut text = "a,b,t,d,y\n".to_owned();
    for row in 0..rows {
        let a = (row * 37 % 23) as f64 / 7.0;
        let b = if row % 9 == 4 { String::new() } else { format!("{}", (row * row) % 17) };
        let t = ["u", "\"v,w\"", "x"][row % 3];
        text += &format!("{a},{b},{t},2024-0{}-11,{}\n", row % 9 + 1, 2.0 * a + (row % 5) as f64);
    }
    text
}

fn batch(rows: usize) -> RecordBatch {
    let numbers =
        |scale: f64| Float64Array::from_iter((0..rows).map(|row| (row % 9 != 4).then_some(row as f64 * scale)));
    let words = |word: fn(usize) -> &'static str| (0..rows).map(word).collect::<Vec<_>>();
    let text = |row: usize| ["u", "v,w", "x"][row % 3];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("a", Arc::new(numbers(0.25))),
        ("b", Arc::new(Int64Array::from_iter_values(0..rows as i64))),
        ("t", Arc::new(StringArray::from(words(text)))),
        ("c", Arc::new(words(text).into_iter().collect::<DictionaryArray<Int32Type>>())),
        ("d", Arc::new(Date32Array::from_iter_values((0..rows).map(|row| 19_000 + row as i32)))),
        ("o", Arc::new((0..rows).map(|row| Some(row % 2 == 0)).collect::<BooleanArray>())),
        ("y", Arc::new(Float64Array::from_iter_values((0..rows).map(|row| row as f64 * -1.5)))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn parquet(compression: Compression, dictionary: bool) -> Vec<u8> {
    let (batch, mut bytes) = (batch(40), Vec::new());
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_enabled(dictionary)
        .set_max_row_group_row_count(Some(25))
        .build();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn arrow(compression: Option<CompressionType>, is_stream: bool) -> Vec<u8> {
    let (batch, mut bytes) = (batch(40), Vec::new());
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    match is_stream {
        true => {
            let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
            writer.write(&batch).unwrap();
            writer.finish().unwrap();
        }
        false => {
            let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
            writer.write(&batch.slice(0, 25)).unwrap();
            writer.write(&batch.slice(25, 15)).unwrap();
            writer.finish().unwrap();
        }
    }
    bytes
}

/// Whole files, with the names that they are read by.
fn seeds(folder: &Path) -> Vec<(&'static str, As, Vec<u8>)> {
    let text = csv(40);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    std::fs::write(folder.join("train.csv"), csv(60)).unwrap();
    let (pipeline, _) = load(PIPELINE, "p.yaml", &[]).unwrap();
    let options = RunOptions { folder: folder.to_owned(), out: folder.join("out"), ..RunOptions::default() };
    run(&pipeline, &options, &mut Silent).unwrap();
    let model = std::fs::read(folder.join("out/model.json")).unwrap();
    vec![
        ("a.csv", As::Table, text.clone().into_bytes()),
        ("b.tsv", As::Table, text.replace(',', "\t").into_bytes()),
        ("c.csv", As::Foreign, text.replace(',', ";").replace('.', ",").into_bytes()),
        ("d.csv", As::Table, utf16),
        ("e.csv.gz", As::Table, gzip.finish().unwrap()),
        ("f.csv.zst", As::Table, zstd::encode_all(text.as_bytes(), 3).unwrap()),
        ("g.parquet", As::Table, parquet(Compression::SNAPPY, true)),
        ("h.parquet", As::Table, parquet(Compression::ZSTD(Default::default()), true)),
        ("i.parquet", As::Table, parquet(Compression::UNCOMPRESSED, false)),
        ("j.arrow", As::Table, arrow(None, false)),
        ("k.feather", As::Table, arrow(Some(CompressionType::LZ4_FRAME), false)),
        ("l.arrow", As::Table, arrow(Some(CompressionType::ZSTD), false)),
        ("m.arrows", As::Table, arrow(None, true)),
        ("n.arrows", As::Table, arrow(Some(CompressionType::ZSTD), true)),
        ("model.json", As::Model, model),
        ("p.yaml", As::Pipeline, PIPELINE.into()),
    ]
}

/// Words that mean something to one of the readers.
const WORDS: [&[u8]; 22] = [
    b"\"",
    b"\n",
    b"\r",
    b",",
    b";",
    b"\0",
    b"\x1b[31m",
    "\u{202e}".as_bytes(),
    b"1e999",
    b"-",
    b"NaN",
    b"=1+1",
    b"{",
    b"[[[[[[[[",
    b"}",
    b": ",
    b"&a",
    b"*a",
    b"1e308",
    b"99999999999999999999",
    b"null",
    b"PAR1",
];
/// Numbers that lengths go wrong by.
const NUMBERS: [i64; 10] = [0, -1, 1, 255, 1 << 16, 1 << 31, i32::MAX as i64, 1 << 40, i64::MAX, i64::MIN];

/// Changes some bytes.
fn mutated(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(bytes.len().max(1));
        let span = (1 + random.below(32)).min(bytes.len() - at.min(bytes.len()));
        match random.below(9) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..at + span)),
            2 => {
                let copy = bytes[at..at + span].to_vec();
                let to = random.below(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
            3 => drop(bytes.splice(at..at, WORDS[random.below(WORDS.len())].iter().copied())),
            4 | 5 => {
                let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
                let width = [1, 2, 4, 8][random.below(4)].min(bytes.len() - at);
                bytes[at..at + width].copy_from_slice(&number[..width]);
            }
            _ if at < bytes.len() => bytes[at] = [bytes[at] ^ (1 << random.below(8)), 0xff, 0][random.below(3)],
            _ => {}
        }
    }
    bytes
}

/// A model whose checksum is right again, so that what it protects is read as well.
fn resealed(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let (head, model) = text.split_once("\"model\":")?;
    let model = model.strip_suffix("}\n")?;
    let head = head.split_once("\"sha256\":\"")?.0;
    let digest = format!("{:x}", Sha256::digest(model.as_bytes()));
    Some(format!("{head}\"sha256\":\"{digest}\",\"model\":{model}}}\n").into_bytes())
}

/// Reads a file in the ways that there are.
fn read(path: &Path, kind: As, model: &SavedModel, bytes: &[u8], budget: Budget) -> Result<()> {
    match kind {
        As::Table | As::Foreign => {
            let source = Source::open_within(&[path.to_owned()], &ReadSpec::default(), budget)?;
            let read = source.read(&Wanted::default());
            if kind == As::Foreign {
                return read.map(|_| ());
            }
            let enough = &mut |_: &_| Ok(ControlFlow::Continue(()));
            model.predict_in_batches(path, &Beside { evaluate: true, ..Beside::default() }, 16, enough)?;
            read.map(|_| ())
        }
        As::Model => {
            let model = SavedModel::read(path)?;
            model.predict_file(&path.with_file_name("train.csv")).map(|_| ())
        }
        As::Pipeline => load(&String::from_utf8_lossy(bytes), "p.yaml", &[]).map(|_| ()),
    }
}

/// What those who wait for hours are told.
fn say(line: &str) {
    let _nobody_reads = writeln!(std::io::stderr(), "{line}");
}

fn asked(name: &str) -> Option<usize> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

/// The longest message, unless it is at fault.
fn told(error: &Error) -> usize {
    let length = error.to_string().chars().count();
    assert!(length < 200_000, "a message of {length} characters");
    length
}

#[test]
fn mutated_files_are_read_or_refused() {
    let count = asked("VAGLIO_MUTATIONS");
    let folder: PathBuf = std::env::temp_dir().join(format!("vaglio-mutations-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let seeds = seeds(&folder);
    let model = SavedModel::read(&folder.join("out/model.json")).unwrap();
    let mut random = Random::new(asked("VAGLIO_MUTATIONS_SEED").unwrap_or(1) as u64);
    say(&format!("the file under way is in {}", folder.display()));
    let (mut longest, mut slowest, mut read_whole) = (0, 0.0f64, 0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for number in 0..count.unwrap_or(1500) {
        let (name, kind, seed) = &seeds[number % seeds.len()];
        let mut bytes = if number < seeds.len() { seed.clone() } else { mutated(seed, &mut random) };
        if *kind == As::Model && number % 32 < 16 {
            bytes = resealed(&bytes).unwrap_or(bytes);
        }
        let path = folder.join(name);
        std::fs::write(&path, &bytes).unwrap();
        let _reset = count.map(|_| std::fs::write("/proc/self/clear_refs", "5"));
        let limit = resident().unwrap_or(0) + MORE;
        let begun = Instant::now();
        let outcome = pool.install(|| read(&path, *kind, &model, &bytes, Budget::of(limit)));
        slowest = slowest.max(begun.elapsed().as_secs_f64());
        assert!(slowest < 10.0, "{number}: {name} took {slowest} seconds");
        match outcome {
            Ok(()) => read_whole += 1,
            Err(error) if number < seeds.len() => panic!("{name}: {error}"),
            Err(error) => longest = longest.max(told(&error)),
        }
        if let (Some(_), Some(peak)) = (count, peak()) {
            assert!(peak < limit + BEYOND, "{number}: {name} took {} MB", peak / 1_000_000);
        }
        if number > 0 && number % 100_000 == 0 {
            say(&format!("{number} files, {read_whole} read, slowest {slowest:.2} s, longest message {longest}"));
        }
    }
    say(&format!("{read_whole} read, slowest {slowest:.2} s, longest message {longest}"));
    std::fs::remove_dir_all(&folder).unwrap();
}
