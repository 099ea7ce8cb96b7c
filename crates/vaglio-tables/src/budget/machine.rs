//! Memory of the machine and of the process, and release of what the program's allocator caches, which counts as used.

use std::path::Path;
use std::sync::OnceLock;

/// Memory of this machine in bytes, or the limit of the control groups or of the address space if lower.
pub(super) fn memory() -> Option<u64> {
    static MEMORY: OnceLock<Option<u64>> = OnceLock::new();
    *MEMORY.get_or_init(|| memory_below(Path::new("/")))
}

/// Resident bytes of the process, without pages of files, which the system can reclaim.
pub fn resident() -> Option<u64> {
    anonymous_bytes("VmRSS:")
}

/// Peak of the resident bytes of the process, minus its present pages of files.
pub fn peak() -> Option<u64> {
    anonymous_bytes("VmHWM:")
}

/// Bytes in a line of the process's status, minus its present pages of files.
fn anonymous_bytes(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(kib(&text, name)?.saturating_sub(kib(&text, "RssFile:").unwrap_or(0)))
}

/// Value of a line in `/proc` that counts in units of 1024 bytes.
fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

/// Memory of a machine in bytes, or the lower limit of control groups or address space, from files below `root`.
pub fn memory_below(root: &Path) -> Option<u64> {
    let whole = std::fs::read_to_string(root.join("proc/meminfo")).ok().and_then(|text| kib(&text, "MemTotal:"));
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let group_limits = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, group) = (parts.next()?, parts.next()?, parts.next()?);
        match controllers {
            "" => least(&root.join("sys/fs/cgroup"), group, "memory.max"),
            _ if controllers.split(',').any(|name| name == "memory") => {
                least(&root.join("sys/fs/cgroup/memory"), group, "memory.limit_in_bytes")
            }
            _ => None,
        }
    });
    // Limit of the address space, as set by `ulimit -v`.
    let limits = std::fs::read_to_string(root.join("proc/self/limits")).unwrap_or_default();
    let space = limits.lines().find_map(|line| line.strip_prefix("Max address space"));
    let space = space.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    whole.into_iter().chain(group_limits).chain(space).min()
}

/// Lowest limit of a control group and its ancestors. In a container, only the root of the path may be visible.
fn least(mount: &Path, group: &str, file: &str) -> Option<u64> {
    let group = Path::new(group.trim_start_matches('/'));
    let limits = group.ancestors().filter_map(|above| {
        let text = std::fs::read_to_string(mount.join(above).join(file)).ok()?;
        text.trim().parse::<u64>().ok()
    });
    limits.min()
}

/// Function that releases cached memory.
static RELEASE: OnceLock<fn()> = OnceLock::new();

/// Registers the function that releases the allocator's cached memory, so that a run does not fail for lack of it. The
/// first registration counts.
pub fn register_release(release: fn()) {
    RELEASE.get_or_init(|| release);
}

/// Releases the allocator's cached memory, after large data were freed.
pub fn release() {
    RELEASE.get().iter().for_each(|release| release());
}

/// Resident bytes of the process; if above a limit, measured after cached memory was released.
pub fn resident_within(limit: u64) -> Option<u64> {
    let held = resident()?;
    match RELEASE.get().filter(|_| held > limit) {
        Some(release) => {
            release();
            resident()
        }
        None => Some(held),
    }
}
