//! Products and powers of named columns.

use super::columns;
use std::sync::Arc;
use vaglio_core::{Error, Map, Result, join, prelude::*};

/// Adds the products of all pairs of the named numeric columns, called `a*b`.
///
/// A product with a missing factor is missing. Cost O(rows · columns²). Products that would take more than 64 MiB are
/// computed on reading and take no memory.
///
/// # Errors
/// A product that overflows, with its row.
#[part(
    Map,
    "interactions",
    summary = "products of pairs of columns that are named",
    example = "preprocess: [{kind: interactions, columns: [width, height]}]"
)]
#[derive(PartialEq, Eq)]
pub struct Interactions {
    /// Columns to multiply, at least two.
    #[required]
    pub columns: Vec<String>,
}

impl Interactions {
    /// Interactions of these columns.
    pub fn new(columns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Interactions { columns: columns.into_iter().map(Into::into).collect() }
    }
}

/// Adds the powers and products of the named numeric columns up to a degree, called `a^2`, `a*b`, `a^2*b`.
///
/// A product with a missing factor is missing. Cost O(rows) per product; n columns have (n + degree)!/(n! degree!) − 1
/// − n products. Products that would take more than 64 MiB are computed on reading and take no memory.
///
/// # Errors
/// A product that overflows, with its row; more than 100000 products.
#[part(
    Map,
    "polynomial",
    summary = "powers and products of columns that are named",
    example = "preprocess: [{kind: polynomial, degree: 2, columns: [width, height]}]"
)]
#[derive(PartialEq, Eq)]
pub struct Polynomial {
    /// Largest number of factors of a product.
    #[default(2)]
    pub degree: u32,
    /// Columns to multiply.
    pub columns: Vec<String>,
}

impl Polynomial {
    /// Products up to this degree; set the columns next.
    pub fn new(degree: u32) -> Self {
        Polynomial { degree, ..Polynomial::default() }
    }
}

/// Factors of a product, each with its exponent.
pub type Product = Box<[(Arc<str>, u32)]>;

/// Largest number of factors of a product.
const LARGEST_DEGREE: u32 = 9;

/// Largest number of products.
const MOST: usize = 100_000;

impl Map for Interactions {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        let mut products = products(&self.columns, 2);
        products.retain(|product| product.len() == 2);
        fit_products(rows, &self.columns, products)
    }

    fn check_settings(&self) -> Result<()> {
        let count = self.columns.len();
        if count < 2 {
            return Err(Error::setting(
                "columns",
                format!("two columns at least are multiplied, and this has {count}"),
            ));
        }
        unless_too_many(count * (count - 1) / 2)?;
        columns::check(Some(&self.columns))
    }
}

impl Map for Polynomial {
    fn fit(&self, rows: &TrainingRows<'_>) -> Result<MapFormulas> {
        fit_products(rows, &self.columns, products(&self.columns, self.degree))
    }

    fn check_settings(&self) -> Result<()> {
        Error::unless_between("degree", self.degree, 2..=LARGEST_DEGREE)?;
        if self.columns.is_empty() {
            return Err(Error::setting("columns", "it is empty; name the columns whose powers and products are made"));
        }
        columns::check(Some(&self.columns))?;
        let mut count = 1;
        for factor in 1..=self.degree as usize {
            count = count * (self.columns.len() + factor) / factor;
            unless_too_many(count - 1)?;
        }
        Ok(())
    }
}

fn unless_too_many(count: usize) -> Result<()> {
    if count > MOST {
        return Err(Error::setting("columns", format!("more than {MOST} columns would be made; name fewer")));
    }
    Ok(())
}

fn fit_products(rows: &TrainingRows<'_>, columns: &[String], products: Vec<Product>) -> Result<MapFormulas> {
    let _they_are_numbers = columns::numbers(rows.table, Some(columns))?;
    Ok(formulas(&products))
}

pub fn formulas(products: &[Product]) -> MapFormulas {
    let formulas: MapFormulas = products.iter().map(|product| expression(product).named(name(product))).collect();
    let mut formulas = formulas.added().named_by("columns");
    formulas.kind = "products".into();
    formulas
}

/// Products of 2 to `most` factors, each once.
fn products(columns: &[String], most: u32) -> Vec<Product> {
    let names: Vec<Arc<str>> = columns.iter().map(|name| (&**name).into()).collect();
    let power = |equal: &[usize]| (Arc::clone(&names[equal[0]]), equal.len() as u32);
    // Factor indices in non-decreasing order.
    let mut factors: Vec<Vec<usize>> = vec![Vec::new()];
    let mut products = Vec::new();
    for degree in 1..=most {
        let followers = |before: &Vec<usize>| {
            let before = before.clone();
            (before.last().copied().unwrap_or(0)..names.len()).map(move |next| [&before[..], &[next]].concat())
        };
        factors = factors.iter().flat_map(followers).collect();
        if degree > 1 {
            products.extend(factors.iter().map(|own| own.chunk_by(|a, b| a == b).map(power).collect::<Product>()));
        }
    }
    products
}

fn name(product: &Product) -> String {
    let factor = |(column, exponent): &(Arc<str>, u32)| match exponent {
        1 => column.to_string(),
        _ => format!("{column}^{exponent}"),
    };
    join(product.iter().map(factor), "*")
}

fn expression(product: &Product) -> Expression {
    let power = |(column, exponent): &(Arc<str>, u32)| match exponent {
        1 => Expression::column(&**column),
        _ => Expression::Product(vec![Expression::column(&**column); *exponent.min(&LARGEST_DEGREE) as usize]),
    };
    Expression::Product(product.iter().map(power).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::maps::tests::{self, numbers};
    use vaglio_core::Table;

    fn table() -> Table {
        let columns = [("a", [2.0, f64::NAN]), ("b", [3.0, 4.0]), ("c", [-1.0, 5.0])];
        Table::new(columns.into_iter().map(|(name, values)| (name.to_owned(), numbers(&values))).collect()).unwrap()
    }

    fn fit(json: &str) -> Result<MapFormulas> {
        tests::fit(json, &table())
    }

    fn first(table: &Table) -> Vec<(String, String)> {
        table.columns().iter().skip(3).map(|(name, cells)| (name.clone(), cells.label(0))).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
    }

    #[test]
    fn products_of_pairs_and_powers_are_added() {
        let fitted = fit(r#"{"kind": "interactions", "columns": ["b", "a", "c"]}"#).unwrap();
        let out = fitted.transform(table()).unwrap();
        assert_eq!(first(&out), pairs(&[("b*a", "6"), ("b*c", "-3"), ("a*c", "-2")]));
        assert!(out.get("b*a").unwrap().is_missing(1) && !out.get("b*c").unwrap().is_missing(1));
        assert_eq!((fitted.sources("b*a"), fitted.sources("a")), (vec!["b".into(), "a".into()], vec!["a".into()]));
        assert_eq!(fitted.get("b*a").map(|formula| formula.unit), Some(vaglio_core::OutputUnit::Other));
        let out =
            fit(r#"{"kind": "polynomial", "degree": 3, "columns": ["a", "b"]}"#).unwrap().transform(table()).unwrap();
        let expected =
            [("a^2", "4"), ("a*b", "6"), ("b^2", "9"), ("a^3", "8"), ("a^2*b", "12"), ("a*b^2", "18"), ("b^3", "27")];
        assert_eq!(first(&out), pairs(&expected));
    }

    #[test]
    fn what_is_saved_multiplies_alike_and_fewer_columns_are_enough() {
        let fitted = fit(r#"{"kind": "polynomial", "columns": ["a", "b"]}"#).unwrap();
        let loaded: MapFormulas = serde_json::from_str(&serde_json::to_string(&fitted).unwrap()).unwrap();
        assert_eq!(first(&loaded.transform(table()).unwrap()), first(&fitted.transform(table()).unwrap()));
        let fewer = Table::new(vec![("b".into(), numbers(&[3.0])), ("a*b".into(), numbers(&[0.0]))]).unwrap();
        assert_eq!(fitted.transform(fewer).unwrap().names().collect::<Vec<_>>(), ["b", "b^2"]);
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        for (json, words) in [
            (r#"{"kind": "interactions", "columns": ["a"]}"#.to_owned(), "`columns`: two columns at least"),
            (r#"{"kind": "interactions", "columns": ["a", "a"]}"#.to_owned(), "`columns[1]`: `a` is listed twice"),
            (r#"{"kind": "interactions", "columns": ["a", "x"]}"#.to_owned(), "there is no column `x`"),
            (r#"{"kind": "polynomial", "columns": []}"#.to_owned(), "`columns`: it is empty"),
            (
                r#"{"kind": "polynomial", "degree": 1, "columns": ["a"]}"#.to_owned(),
                "`degree`: 1 is not between 2 and 9",
            ),
            (
                format!(
                    "{{\"kind\": \"polynomial\", \"columns\": {:?}}}",
                    (0..450).map(|k| k.to_string()).collect::<Vec<_>>()
                ),
                "more than 100000 columns would be made",
            ),
        ] {
            let error = fit(&json).unwrap_err().to_string();
            assert!(error.contains(words), "{json}: {error}");
        }
        let fitted = fit(r#"{"kind": "interactions", "columns": ["a", "b"]}"#).unwrap();
        let large =
            Table::new(vec![("a".into(), numbers(&[1.0, 1e200])), ("b".into(), numbers(&[1.0, 1e200]))]).unwrap();
        let error = fitted.transform(large).unwrap_err();
        assert!(error.to_string().contains("row 2, column `a*b`: the result of the map overflows"), "{error}");
    }
}
