//! Terminal output: results on standard output, all else on standard error, with control characters escaped.

use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::{Display, Write as _};
use std::io::{IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::LazyLock;
use vaglio::core::{Error, Result, is_control};

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

/// Maximum number of characters of a message.
pub const LONGEST: usize = 2000;

/// Writes a result to standard output.
///
/// # Errors
/// [`Error::Unwritable`] if writing fails.
pub fn print(text: &str) -> Result<()> {
    put(text).map(drop)
}

/// Writes part of a result to standard output; breaks if the reader has closed it.
///
/// # Errors
/// [`Error::Unwritable`] if writing fails.
pub fn put(bytes: impl AsRef<[u8]>) -> Result<ControlFlow<()>> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes.as_ref()).and_then(|()| out.flush()) {
        Ok(()) => Ok(ControlFlow::Continue(())),
        // A reader that stops early, such as `head`, is no failure.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(ControlFlow::Break(())),
        Err(e) => Err(Error::unwritable("standard output", e)),
    }
}

/// Says that a file was written.
pub fn note_written(path: &Path) {
    note(&format_args!("wrote {}", path.display()));
}

/// Writes a line to standard error.
pub fn note(line: &dyn Display) {
    print_to_stderr(&format!("{}\n", one_line(line, LONGEST - 1)));
}

/// Writes to standard error. Failed writes are ignored: nobody reads, and the exit code tells the outcome.
pub fn print_to_stderr(text: &str) {
    let _nobody_reads = BAR.suspend(|| {
        let mut stderr = std::io::stderr().lock();
        stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush())
    });
}

/// Whether standard error shows colors.
pub fn has_color() -> bool {
    std::env::var_os("NO_COLOR").is_none() && std::io::stderr().is_terminal()
}

/// A log line with control characters escaped, except allowed colors.
pub fn log_line(bytes: &[u8], color: bool) -> String {
    limit_text(&String::from_utf8_lossy(bytes), usize::MAX, if color { "\n\u{1b}" } else { "\n" })
}

/// A message on one line of at most `most` characters, with control characters escaped; formatting stops at the limit.
pub fn one_line(message: &dyn Display, most: usize) -> String {
    limit_text(message, most, "")
}

/// Like [`one_line`], but keeps line breaks.
pub fn several_lines(message: &dyn Display, most: usize) -> String {
    limit_text(message, most, "\n")
}

fn limit_text(message: &dyn Display, left: usize, kept: &'static str) -> String {
    let mut shown = LimitedText { text: String::new(), left, kept };
    let _ = write!(shown, "{message}");
    shown.text
}

/// Text with a limited number of remaining characters.
struct LimitedText {
    text: String,
    left: usize,
    /// Control characters that are not escaped.
    kept: &'static str,
}

impl std::fmt::Write for LimitedText {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for c in text.chars() {
            let acting = is_control(c) && !self.kept.contains(c);
            let length = if acting { c.escape_default().len() } else { 1 };
            if length >= self.left {
                self.text.push('…');
                self.left = 0;
                return Err(std::fmt::Error);
            }
            self.left -= length;
            if acting { self.text.extend(c.escape_default()) } else { self.text.push(c) }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line_of_bounded_length() {
        assert_eq!(one_line(&"a\nb\u{1b}", 20), "a\\nb\\u{1b}");
        assert_eq!(several_lines(&"a\nb\u{1b}", 20), "a\nb\\u{1b}");
        for most in 1..30 {
            for text in ["x".repeat(40), "\u{1b}".repeat(40), "é\n".repeat(40)] {
                let shown = one_line(&text, most);
                assert!(shown.chars().count() <= most && shown.ends_with('…'), "{most} {shown}");
            }
        }
    }

    /// A message that never ends.
    struct EndlessLine;

    impl Display for EndlessLine {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            loop {
                f.write_str("again ")?;
            }
        }
    }

    #[test]
    fn what_is_beyond_is_never_written() {
        assert_eq!(one_line(&EndlessLine, 2000).chars().count(), 2000);
    }
}
