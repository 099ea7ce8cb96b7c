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
    /// Products up to this degree; columns are set next: `Polynomial::new(2).columns(["width", "height"])`.
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
