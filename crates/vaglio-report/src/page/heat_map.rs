//! Maps of colored cells, as inline SVG: correlations, confusion of classes, entries and exits.

use super::drawing::figure;
use super::number::escape;
use super::svg::{self, px};
use std::fmt::Write;
use vaglio_core::clip;

/// Largest number of characters of a name.
const LETTERS: usize = 24;

/// Renders a map of cells with names at the left (`down`) and above (`across`): of each cell the color, from −1 to 1,
/// and its words, by rows.
pub fn heat_map(
    label: &str,
    [down, across]: [&[String]; 2],
    cells: &[Vec<(Option<f64>, String)>],
    caption: &str,
) -> String {
    let side = (620.0 / across.len().max(1) as f64).clamp(9.0, 46.0);
    let (small, letter) = if side < 13.0 { (" small", 4.6) } else { ("", 6.8) };
    let margin = |names: &[String]| {
        14.0 + letter * names.iter().map(|name| name.chars().count().min(LETTERS)).max().unwrap_or(0) as f64
    };
    let (left, top) = (margin(down), margin(across));
    let size = [left + side * across.len() as f64 + 12.0, top + side * down.len() as f64 + 8.0];
    let mut out = svg::open(&format!("heat{small}"), size, label).replacen(
        " role",
        &format!(
            " style=\"--cell:{}px;max-width:{}px;min-width:{}px\" role",
            px(side - 1.0),
            px(size[0]),
            px(0.8 * size[0])
        ),
        1,
    );
    for (k, name) in down.iter().enumerate() {
        svg::short_name(&mut out, [left - 7.0, top + side * (k as f64 + 0.5) + 3.5], "end", name, LETTERS);
    }
    for (k, name) in across.iter().enumerate() {
        let at = [left + side * (k as f64 + 0.5) + 3.5, top - 7.0];
        svg::upright(&mut out, "name", at, "start", &clip(name, LETTERS));
    }
    for (i, (row, down)) in cells.iter().zip(down).enumerate() {
        for (j, ((value, word), across)) in row.iter().zip(across).enumerate() {
            let [x, y] = [left + side * j as f64, top + side * i as f64];
            let class = value.map_or("unknown", |value| if value < 0.0 { "negative" } else { "positive" });
            let strength = value.unwrap_or(0.0).abs().min(1.0);
            let _ = write!(
                out,
                "<rect class=\"{class}\" x=\"{}\" y=\"{}\" fill-opacity=\"{}\"><title>{}, {}: {}</title></rect>",
                px(x),
                px(y),
                (4.0 + 96.0 * strength).round() / 100.0,
                escape(down),
                escape(across),
                escape(word)
            );
            if 6.5 * word.chars().count() as f64 <= side {
                let class = if strength > 0.55 { "value strong" } else { "value" };
                svg::text(&mut out, class, [x + side / 2.0 - 0.5, y + side / 2.0 + 3.5], "middle", word);
            }
        }
    }
    figure("wide", label, &(out + "</svg>"), caption)
}
