//! Extension module of the Python package `vaglio`: tables, fits, runs and predictions. The public interface is Python,
//! in `python/vaglio`.

mod criterion;
mod errors;
mod fit;
mod foreign;
mod functions;
mod loss;
mod model;
mod program;
mod shard;
mod table;
mod watch;

use pyo3::prelude::*;

/// Contents of the module `_vaglio`.
#[pymodule]
fn _vaglio(module: &Bound<'_, PyModule>) -> PyResult<()> {
    vaglio_cli::offer_scratch_space();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<table::FrameTable>()?;
    module.add_class::<model::FrameModel>()?;
    module.add_class::<shard::PyShards>()?;
    module.add_class::<functions::Functions>()?;
    module.add_function(wrap_pyfunction!(fit::fit, module)?)?;
    module.add_function(wrap_pyfunction!(foreign::write_arrow, module)?)?;
    module.add_function(wrap_pyfunction!(program::run, module)?)?;
    module.add_function(wrap_pyfunction!(program::plan, module)?)?;
    module.add_function(wrap_pyfunction!(program::init, module)?)?;
    module.add_function(wrap_pyfunction!(program::compare, module)?)?;
    module.add_function(wrap_pyfunction!(program::error_line, module)?)?;
    module.add_function(wrap_pyfunction!(program::export, module)?)?;
    module.add_function(wrap_pyfunction!(program::explain, module)?)?;
    module.add_function(wrap_pyfunction!(program::check, module)?)?;
    module.add_function(wrap_pyfunction!(program::to_yaml, module)?)?;
    module.add_function(wrap_pyfunction!(program::to_json, module)?)?;
    module.add_function(wrap_pyfunction!(program::schema, module)?)?;
    module.add_function(wrap_pyfunction!(program::parts, module)?)?;
    module.add_function(wrap_pyfunction!(program::main, module)?)?;
    module.add_function(wrap_pyfunction!(shard::build, module)?)?;
    module.add_function(wrap_pyfunction!(shard::cluster, module)?)?;
    module.add_function(wrap_pyfunction!(shard::set_aside, module)?)
}
