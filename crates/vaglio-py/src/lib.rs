//! Extension module of the Python package `vaglio`: tables, fits, runs and predictions. The public interface is Python,
//! in `python/vaglio`.

mod errors;
mod fit;
mod foreign;
mod functions;
mod model;
mod parts;
mod program;
mod shard;
mod table;
mod watch;

/// Contents of the module `_vaglio`.
#[pyo3::pymodule]
mod _vaglio {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::fit::fit;
    #[pymodule_export]
    use crate::foreign::write_arrow;
    #[pymodule_export]
    use crate::functions::Functions;
    #[pymodule_export]
    use crate::model::FrameModel;
    #[pymodule_export]
    use crate::program::{
        check, compare, error_line, explain, export, init, main, parts, plan, run, schema, to_json, to_yaml,
    };
    #[pymodule_export]
    use crate::shard::{PyShards, build, cluster, set_aside};
    #[pymodule_export]
    use crate::table::FrameTable;

    #[pymodule_init]
    fn prepare(module: &Bound<'_, PyModule>) -> PyResult<()> {
        vaglio_cli::offer_scratch_space();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
