//! The tables of the papers behind vaglio, made again.
//!
//! cargo run --release --manifest-path papers/Cargo.toml -- ridge --data ../shared/data --out ridge.md

mod baselines;
mod data;
mod fdr;
mod greedy;
mod honest;
mod lambda_search;
mod markdown;
mod p53;
mod pair;
mod picture;
mod reading;
mod readouts;
mod redundancy;
mod reservoir;
mod ridge;
mod run;

use clap::{Parser, ValueEnum};
use run::{Bench, Judge};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use vaglio_core::Result;
use {vaglio_dependence as _, vaglio_elm as _, vaglio_lssvm as _, vaglio_reservoir as _};

/// Makes the tables of one paper again and writes them as Markdown: the paper's figure, ours, and the time.
#[derive(Debug, Parser)]
#[command(name = "vaglio-papers")]
struct Arguments {
    /// The paper.
    paper: Paper,
    /// The folder of the Parquet files.
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
    /// Where to write the tables, with their pictures beside them; by default standard output, and no pictures.
    #[arg(long)]
    out: Option<PathBuf>,
    /// How many splits or seeds the figures are medians or means of.
    #[arg(long, default_value_t = 5)]
    seeds: u64,
    /// How many of the ten folds of greedy selection are run.
    #[arg(long, default_value_t = 10)]
    folds: usize,
    /// Only the data sets whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// Of `n3lars`: only the ways whose name contains this, beside the first.
    #[arg(long, default_value = "")]
    way: String,
    /// Of `n3lars`: what judges columns that were chosen for classes.
    #[arg(long, value_enum, default_value_t = Judge::KernelRidge)]
    judge: Judge,
    /// Threads; 0 for as many as there are processors.
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Paper {
    /// The tables of all papers, one after the other: a day on two cores.
    All,
    /// Greedy and floating RLS (Pahikkala, Airola, Salakoski).
    Greedy,
    /// Fast cross-validation of ridge regression (Buteneers et al.).
    Ridge,
    /// N³LARS and NHSIC (Yamada et al.).
    N3lars,
    /// N³LARS on a table of the size of the p53 mutants: time, agreement with exact kernels, a model of the cost.
    P53,
    /// Reservoir readouts.
    Reservoir,
    /// What scores are worth on wide tables.
    Honest,
    /// Not of a paper: false discoveries on simulated tables, `--seeds` of each kind.
    Fdr,
    /// Not of a paper: seconds from opening each file of the folder to a finished table.
    Reading,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match tables(&arguments).and_then(|text| write(&arguments, &text)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tables(arguments: &Arguments) -> Result<String> {
    let Arguments { paper, data, out, seeds, folds, only, way, judge, threads } = arguments;
    let note = |text: &str| eprintln!("{text}");
    let pictures = out.as_ref().map(|path| path.parent().map_or_else(PathBuf::new, Path::to_path_buf));
    let (seeds, folds) = ((*seeds).max(1), (*folds).max(1));
    let (only, way) = (only.clone(), way.clone());
    let bench = Bench { folder: data.clone(), pictures, seeds, folds, only, way, judge: *judge, note: &note };
    vaglio_pipeline::pipeline::pool(*threads)?.install(|| match paper {
        Paper::All => {
            let papers =
                [greedy::tables, ridge::tables, redundancy::tables, p53::tables, reservoir::tables, honest::tables];
            papers.into_iter().map(|tables| tables(&bench)).collect()
        }
        Paper::Greedy => greedy::tables(&bench),
        Paper::Ridge => ridge::tables(&bench),
        Paper::N3lars => redundancy::tables(&bench),
        Paper::P53 => p53::tables(&bench),
        Paper::Reservoir => reservoir::tables(&bench),
        Paper::Honest => honest::tables(&bench),
        Paper::Fdr => fdr::tables(&bench),
        Paper::Reading => reading::tables(&bench),
    })
}

fn write(arguments: &Arguments, text: &str) -> Result<()> {
    match &arguments.out {
        Some(path) => vaglio_pipeline::pipeline::write_file(path, text),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}
