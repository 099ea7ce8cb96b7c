//! Progress bar on standard error, suspended while lines are written.

use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Mutex;

static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// The current bar, if any.
pub fn bar() -> Option<ProgressBar> {
    BAR.lock().map_or(None, |bar| bar.clone())
}

/// Replaces the current bar by one with this template.
pub fn put_bar(bar: ProgressBar, template: &str) {
    clear_bar();
    set(Some(match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }));
}

/// Removes the bar.
pub fn clear_bar() {
    if let Some(bar) = bar() {
        bar.finish_and_clear();
    }
    set(None);
}

/// Suspends the bar while writing.
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
