//! Pages of sections with tables, and charts as inline SVG. Nothing is fetched and no script runs when one is opened.

mod axis;
mod chart;
mod drawing;
mod heat_map;
mod number;
mod section;
mod svg;
mod table;

pub(crate) use chart::COLORS;
pub use chart::{Chart, ChartShape, Mark, ScaleKind};
pub(crate) use drawing::widen_range;
pub(crate) use heat_map::heat_map;
pub(crate) use number::{count, element, escape, finite, full, percent, short, significant, whole_percent};
pub(crate) use section::{Section, page};
pub(crate) use table::{TableBuilder, TableCell};

/// The style sheet of pages, and of drawings.
pub const STYLE: &str = include_str!("page/style.css");
