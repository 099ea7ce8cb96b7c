//! Kernel logistic regression.

use crate::features::columns_of;
use crate::kernel::{Bandwidth, KernelSettings};
use crate::kernel_inputs::KernelInputs;
use crate::model::check_parts;
use crate::newton::KernelLogisticObjective;
use crate::similarity::KernelFunction;
use ndarray::{Array1, Array2};
use vaglio_core::{Error, Result, prelude::*};

/// Maximum number of training rows: the matrices of a step take 9.6 GB.
const MOST_ROWS: usize = 20_000;

/// Kernel logistic regression with a Gaussian kernel, one class against the others: Σ_j r_j ln(1 + exp(−y_j f(x_j))) +
/// λ/2 αᵀKα with y_j = ±1, row weights r and f(x) = Σ_j α_j k(x, x_j) + b.
///
/// K holds k(x, x′) = exp(−‖x − x′‖²/2σ²) for each pair of training rows; b is not penalized. Predictions are 2P − 1 =
/// tanh(f/2) with P = 1/(1 + exp(−f)), so that `log_loss`, `auc` and squared errors (four times Brier's score) judge
/// the probability. Newton's method with halved steps starts from the log odds of the class. It ends when a step gains
/// 10⁻²⁰ of the objective, or when rounding hides further gains. The systems of equations are symmetric with
/// eigenvalues of at least 1, so rows with almost no curvature cause no division by small numbers. λ > 0 keeps f finite
/// if classes are separable.
///
/// Rows with equal entries are merged and their weights added. Constant columns change no distance and are dropped.
/// Columns count by their scale: standardize them. Held-out rows have no closed form, so every subset is refitted.
///
/// Cost O(classes · steps · rows³), memory 24 · rows² bytes, for distinct rows; at most 20000 rows.
///
/// # Example
/// ```
/// use vaglio_core::Learner;
/// use vaglio_lssvm::KernelLogistic;
/// let problem = vaglio_testkit::data::multiclass(30, 4, 3, 1).problem();
/// let model = KernelLogistic::default().fit(&problem, &[0, 3], None)?;
/// let predictions = model.predict(&problem.columns().select(model.inputs()), None)?;
/// assert!(predictions.dim() == (3, 30) && predictions.iter().all(|p| p.abs() < 1.0));
/// # Ok::<(), vaglio_core::Error>(())
/// ```
///
/// # Reference
/// J. Zhu and T. Hastie, *Kernel logistic regression and the import vector machine*, Journal of Computational and
/// Graphical Statistics 14(1), 2005.
#[part(
    Learner,
    "kernel_logistic",
    summary = "kernel logistic regression with a Gaussian kernel in the chosen columns, refitted for every subset",
    example = "learner: {kind: kernel_logistic, lambda: 1.0, bandwidth: median}"
)]
#[derive(Copy, PartialEq)]
pub struct KernelLogistic {
    /// Penalty λ, above 0.
    #[default(1.0)]
    pub lambda: f64,
    /// Width σ of the kernel: a number, or the `median` distance of 2048 random pairs of distinct rows in the selected
    /// columns, or of all pairs if there are no more.
    pub bandwidth: Bandwidth,
}

impl Learner for KernelLogistic {
    fn readout(&self) -> Result<Option<Readout>> {
        Ok(None)
    }

    fn check_settings(&self) -> Result<()> {
        Error::unless_between("lambda", self.lambda, 1e-12..=1e12)?;
        KernelSettings::rbf(self.bandwidth).check()
    }

    fn check(&self, problem: &Problem) -> Result<()> {
        let (rows, refused) =
            (problem.rows(), |why: String| Err(Error::setting("kind", format!("`kernel_logistic` {why}"))));
        if *problem.task() == Task::Regression {
            return refused("tells classes, and the target is numbers".into());
        }
        if rows > MOST_ROWS {
            return refused(format!("takes at most {MOST_ROWS} rows, and there are {rows}; use `fs_ls_svm`"));
        }
        Ok(())
    }

    fn refit(&self, problem: &Problem, subset: &[Feature]) -> Result<Model> {
        self.check_settings()?;
        let mut among = subset.to_vec();
        among.sort_unstable();
        let columns = problem.columns();
        let seen = KernelInputs::select(&KernelSettings::rbf(self.bandwidth), problem.seed(), columns, &among)?;
        let rows = seen.entries(columns, &seen.distinct);
        let distinct = columns.select(&seen.inputs).select_rows(&seen.distinct);
        let all: Vec<usize> = (0..rows.len()).collect();
        let kernel = columns_of(seen.kernel, &rows, None, &distinct)?.matrix(&all);
        let (mut alpha, mut intercept) = (Vec::new(), Vec::new());
        for (targets, name) in problem.targets().rows().into_iter().zip(problem.target_names().iter()) {
            let mut weights = vec![[0.0; 2]; rows.len()];
            for (row, y) in targets.iter().enumerate() {
                weights[seen.places[row]][usize::from(*y < 0.0)] += problem.weights().map_or(1.0, |own| own[row]);
            }
            if let Some(class) = (0..2).find(|&class| weights.iter().all(|w| w[class] == 0.0)) {
                let all = if class == 0 { "no row has" } else { "all rows have" };
                let message = format!("`kernel_logistic` needs rows of both classes, and {all} `{name}`");
                return Err(Error::Shape(message));
            }
            let (own, level) = KernelLogisticObjective { kernel: &kernel, lambda: self.lambda, weights }.minimum()?;
            alpha.push(own);
            intercept.push(level);
        }
        Model::new(KernelLogisticModel {
            inputs: seen.inputs,
            kernel: seen.kernel,
            rows,
            alpha,
            intercept: Array1::from(intercept),
        })
    }
}

/// Distinct rows with their weights: all that a kernel model needs.
#[saved(ModelData, "kernel_logistic_model")]
struct KernelLogisticModel {
    inputs: Vec<Feature>,
    kernel: KernelFunction,
    /// Distinct rows × inputs.
    rows: Vec<Vec<f64>>,
    /// Outputs × distinct rows.
    alpha: Vec<Vec<f64>>,
    /// One per output.
    intercept: Array1<f64>,
}

impl ModelData for KernelLogisticModel {
    fn inputs(&self) -> &[Feature] {
        &self.inputs
    }

    fn check(&self) -> Result<()> {
        let outputs = self.intercept.len();
        let is_finite = self.intercept.iter().all(|b| b.is_finite());
        if outputs == 0 || self.alpha.len() != outputs || self.rows.is_empty() || !is_finite {
            let (found, rows) = (self.alpha.len(), self.rows.len());
            return Err(Error::Shape(format!(
                "{found} lists of weights of {rows} rows and {outputs} intercepts do not fit, or are not finite"
            )));
        }
        check_parts(&self.inputs, self.kernel, &self.rows, &self.alpha)
    }

    fn predict(&self, inputs: &Columns, _series: Option<&[u32]>) -> Result<Array2<f64>> {
        let mixed = columns_of(self.kernel, &self.rows, Some(&self.alpha), inputs)?;
        let probability = |(output, row)| f64::tanh((mixed.column(output).get(row) + self.intercept[output]) / 2.0);
        Ok(Array2::from_shape_fn((self.intercept.len(), inputs.rows()), probability))
    }
}
