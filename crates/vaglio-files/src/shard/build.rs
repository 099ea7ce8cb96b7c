//! Identifies the build of vaglio.

use std::path::PathBuf;
use std::sync::OnceLock;
use vaglio_core::{Error, Result, get_or_try_make};

/// Version and hash prefix of the file with this code: a program, or a library loaded by an interpreter. The file is
/// read once.
///
/// # Errors
/// [`Error::Unreadable`] if the file cannot be read.
pub fn build() -> Result<String> {
    static BUILD: OnceLock<String> = OnceLock::new();
    get_or_try_make(&BUILD, hash_program).cloned()
}

fn hash_program() -> Result<String> {
    let path = match file_of_code() {
        Some(path) => path,
        None => std::env::current_exe().map_err(|error| Error::unreadable("this program", error))?,
    };
    let mut hasher = blake3::Hasher::new();
    let file = std::fs::File::open(&path).map_err(|error| Error::unreadable(&path, error))?;
    hasher.update_reader(file).map_err(|error| Error::unreadable(path, error))?;
    Ok(format!("{} {}", env!("CARGO_PKG_VERSION"), &hasher.finalize().to_hex()[..16]))
}

/// Path of the file that this code was loaded from, if the system tells.
fn file_of_code() -> Option<PathBuf> {
    let here = file_of_code as fn() -> Option<PathBuf> as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let bound = |text: &str| usize::from_str_radix(text, 16).ok();
        let is_here = (bound(from)?..bound(to)?).contains(&here);
        // Permissions, offset, device and inode precede the path.
        let path = rest.splitn(5, ' ').last()?.trim_start();
        is_here.then(|| PathBuf::from(path)).filter(|path| path.is_file())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_its_file() {
        assert_eq!(build().unwrap(), hash_program().unwrap());
        assert!(build().unwrap().starts_with(env!("CARGO_PKG_VERSION")));
        if cfg!(target_os = "linux") {
            assert_eq!(file_of_code().unwrap(), std::env::current_exe().unwrap().canonicalize().unwrap());
        }
    }
}
