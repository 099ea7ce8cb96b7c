//! Writes `examples/matrix`: a pipeline for every search on every criterion that is linked in.
//!
//! cargo run -p vaglio-examples --example matrix

use vaglio_examples::matrix::{cells, folder};

fn main() -> std::io::Result<()> {
    std::fs::create_dir_all(folder())?;
    for cell in cells() {
        std::fs::write(folder().join(&cell.file), &cell.text)?;
        println!("examples/matrix/{}", cell.file);
    }
    Ok(())
}
