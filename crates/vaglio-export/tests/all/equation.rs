//! Readable equations.

use crate::{formulas, numbers};
use vaglio_core::{Condition, Expression, Function};
use vaglio_export::equations;

fn equation(formula: Expression) -> String {
    equations(&formulas(numbers(["a", "b"]), formula), &["y".into()]).unwrap().remove(0)
}

#[test]
fn shifts_and_scales_are_folded_into_weights() {
    let (a, b) = (Expression::column("a"), Expression::column("b"));
    let standardized = |x: Expression, shift: f64, scale: f64| x.plus(-shift).over(scale);
    let model = Expression::Sum(vec![
        1.0.into(),
        Expression::from(3.0).times(standardized(a.clone(), 2.0, 0.5)),
        Expression::from(-4.0).times(standardized(b.clone(), 1.0, 2.0)),
    ]);
    // 1 + 6 (a − 2) − 2 (b − 1)
    assert_eq!(equation(model), "y = -9 + 6·a - 2·b");
    let logs = Expression::from(2.0).times(a.clone().apply(Function::Ln1p)).plus(a.clone().times(b.clone()));
    assert_eq!(equation(logs.clone()), "y = 2·ln(1 + a) + a·b");
    assert_eq!(equation(logs.apply(Function::Exp)), "y = exp(2·ln(1 + a) + a·b)");
    let is_missing = Condition::Missing(Box::new(b.clone()));
    let indicator = Expression::If(is_missing, Box::new([1.0.into(), 0.0.into()]));
    assert_eq!(equation(indicator.times(12345.678).plus(a.clone()).plus(a)), "y = 12346·[b missing] + 2·a");
    assert_eq!(equation(Expression::Number(1e-9)), "y = 1e-9");
}
