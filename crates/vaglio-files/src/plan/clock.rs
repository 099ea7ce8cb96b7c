//! Seconds that work takes, without what other work on the machine takes of them.

use std::time::Instant;

/// The seconds of this thread from its start on.
///
/// Those of the processor, where the system tells them and there are enough, else those that pass.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    begun: Instant,
    of_thread: Option<f64>,
}

/// What is as short as this is not told by the processor's seconds, which systems count in milliseconds.
const SHORT: f64 = 0.015;
/// Those that they may be behind.
const BEHIND: f64 = 0.001;

impl Clock {
    pub fn start() -> Self {
        Clock { begun: Instant::now(), of_thread: of_thread() }
    }

    /// Of work that is done on other threads: all that pass.
    pub fn of_others() -> Self {
        Clock { begun: Instant::now(), of_thread: None }
    }

    /// Seconds that passed since the start, of however many threads.
    pub fn passed(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        let passed = self.passed();
        if passed < SHORT {
            return passed;
        }
        let spent = self.of_thread.zip(of_thread()).map(|(before, after)| after - before);
        spent.filter(|spent| *spent > 0.0).map_or(passed, |spent| passed.min(spent + BEHIND))
    }
}

/// Seconds that the processor has spent on this thread.
fn of_thread() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|nanoseconds| nanoseconds / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_is_not_counted_where_the_system_tells() {
        let clock = Clock::start();
        std::thread::sleep(std::time::Duration::from_millis(60));
        let passed = clock.passed();
        let seconds = clock.seconds();
        assert!(seconds > 0.0 && seconds <= passed + 0.01);
    }
}
