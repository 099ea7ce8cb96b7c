//! The progress bar on standard error, which steps aside for lines.

use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Mutex;

static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// The bar, if there is one.
pub fn bar() -> Option<ProgressBar> {
    BAR.lock().map_or(None, |bar| bar.clone())
}

/// Puts a bar of this template in place of the one that is there.
pub fn put_bar(bar: ProgressBar, template: &str) {
    clear_bar();
    set(Some(match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }));
}

/// Takes the bar away.
pub fn clear_bar() {
    if let Some(bar) = bar() {
        bar.finish_and_clear();
    }
    set(None);
}

/// Writes while the bar steps aside.
pub fn above_bar<T>(write: impl FnOnce() -> T) -> T {
    match bar() {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

fn set(new: Option<ProgressBar>) {
    if let Ok(mut bar) = BAR.lock() {
        *bar = new;
    }
}
