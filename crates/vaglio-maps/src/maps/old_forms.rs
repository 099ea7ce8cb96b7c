//! Fitted maps in files of earlier versions: numbers and levels that a map learned, from which its formulas are made.

use super::{clip, constant, date_parts, impute, log1p, one_hot, ordinal, power, products, standardize, target_encode};
use std::collections::{BTreeMap, BTreeSet};
use vaglio_core::{DatePart, FittedMap, MapFormulas, saved};

/// Defines forms by their word in files, their fields, and their formulas.
macro_rules! old_forms {
    ($($word:tt $form:ident { $($field:ident: $type:ty),* } => $formulas:expr;)*) => {
        $(
            #[saved(FittedMap, $word)]
            struct $form {
                $($field: $type),*
            }

            impl FittedMap for $form {
                fn formulas(&self) -> MapFormulas {
                    let $form { $($field),* } = self;
                    $formulas
                }
            }
        )*
    };
}

// The first models with `one_hot` have no `unknown`, and refuse unknown levels.
old_forms! {
    "clip" OldClip { columns: BTreeMap<String, clip::ClipBounds> } =>
        columns.iter().map(|(name, bounds)| bounds.formula(name)).collect();
    "constant" OldConstant { name: String, value: f64 } => constant::formulas(name, *value);
    "date_parts" OldDateParts { columns: BTreeMap<String, Vec<DatePart>>, cyclic: bool } =>
        date_parts::formulas(columns, *cyclic);
    "impute" OldImpute { columns: BTreeMap<String, impute::Fill> } =>
        columns.iter().flat_map(|(name, fill)| fill.formulas(name)).collect();
    "log1p" OldLog1p { columns: BTreeSet<String> } => log1p::formulas(columns.iter().map(String::as_str));
    "one_hot" OldOneHot { columns: Vec<one_hot::ColumnLevels>, unknown: Option<one_hot::Unknown> } =>
        one_hot::formulas(columns, unknown.unwrap_or(one_hot::Unknown::Error));
    "ordinal" OldOrdinal { columns: ordinal::Orders, unknown: ordinal::UnknownLevel } =>
        ordinal::formulas(columns, *unknown);
    "power" OldPower { method: power::PowerFamily, columns: BTreeMap<String, f64> } => power::formulas(*method, columns);
    "products" OldProducts { products: Vec<products::Product> } => products::formulas(products);
    "standardize" OldStandardize { columns: BTreeMap<String, standardize::TargetScale> } =>
        columns.iter().map(|(name, by)| standardize::formula(name, *by)).collect();
    "target_encode" OldTargetEncode { columns: BTreeMap<String, target_encode::LevelMeans>, outputs: Vec<String> } =>
        target_encode::formulas(columns, outputs);
}
