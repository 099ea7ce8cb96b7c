//! Progress bar on standard error, suspended while lines are written.

use indicatif::{ProgressBar, ProgressStyle};
use std::sync::LazyLock;

/// Resolution of the bar, which shows a share.
pub const PARTS: u64 = 1000;

/// The bar of the program, hidden until it is reset.
pub static BAR: LazyLock<ProgressBar> = LazyLock::new(|| {
    let bar = ProgressBar::new(PARTS);
    bar.finish_and_clear();
    match ProgressStyle::with_template("{msg:24!} {wide_bar} {prefix}, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
});
