//! Pages and their sections as HTML.

use super::STYLE;
use super::chart::Chart;
use super::number::{element, escape};
use super::table::TableBuilder;
use crate::names::sentence;

/// Start of every page: nothing is fetched, and no script runs.
const HEAD: &str = include_str!("head.html");

/// A page of sections with content below a title and the answer to the reader's question. `kind` is `report` or
/// `compare`.
pub fn page(kind: &str, title: &str, answer: &str, sections: impl Iterator<Item = Section>, footer: &str) -> String {
    let title = escape(title);
    let section = |section: Section| {
        let (anchor, heading) = (section.anchor(), section.heading());
        format!("<section aria-labelledby=\"{anchor}\">\n{heading}\n{}</section>\n", section.html)
    };
    let sections: String = sections.filter(|section| !section.html.is_empty()).map(section).collect();
    let (answer, footer) = (element("p class=\"lead\"", answer), element("p class=\"note\"", footer));
    let head = format!("{HEAD}<title>{title} · vaglio {kind}</title>\n<style>\n{STYLE}</style>\n</head>\n");
    let top = format!("<header>\n<h1>{title}</h1>\n{answer}</header>\n");
    format!("{head}<body>\n<main>\n{top}{sections}</main>\n<footer>{footer}</footer>\n</body>\n</html>\n")
}

/// A titled part of a page.
#[derive(Debug, Clone)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// Content below the heading.
    pub html: String,
}

impl Section {
    /// Creates a section without content.
    pub fn new(title: impl Into<String>) -> Self {
        Section { title: title.into(), html: String::new() }
    }

    /// The title in lower case, with hyphens between words.
    fn anchor(&self) -> String {
        self.title.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-")
    }

    fn heading(&self) -> String {
        format!("<h2 id=\"{}\">{}</h2>", self.anchor(), escape(&self.title))
    }

    /// Appends content.
    pub fn with(mut self, html: &str) -> Self {
        self.html += html;
        self
    }

    /// Appends a text as sentences of a paragraph, unless it is absent or empty.
    pub fn text(self, text: impl Into<Option<String>>) -> Self {
        let text = text.into().filter(|text| !text.is_empty());
        self.with(&element("p", &text.map(sentence).unwrap_or_default()))
    }

    /// Appends an explanation in small type, unless it or the section is empty.
    pub fn note(self, text: impl AsRef<str>) -> Self {
        if self.html.is_empty() {
            return self;
        }
        self.with(&element("p class=\"note\"", text.as_ref()))
    }

    /// Appends a warning.
    pub fn warning(self, text: impl AsRef<str>) -> Self {
        self.with(&element("p class=\"warning\" role=\"note\"", text.as_ref()))
    }

    /// Appends a table, unless it has no rows.
    pub fn table<T>(self, table: TableBuilder<'_, T>) -> Self {
        let html = table.html(&self.title);
        self.with(&html)
    }

    /// Appends a chart, unless it has nothing finite to draw.
    pub fn chart(self, chart: impl Into<Option<Chart>>) -> Self {
        self.with(&chart.into().and_then(|chart| chart.html()).unwrap_or_default())
    }

    /// Appends a section with content, collapsed until its heading is clicked.
    pub fn fold(self, section: Section) -> Self {
        if section.html.is_empty() {
            return self;
        }
        self.with(&format!("<details>\n<summary>{}</summary>\n{}</details>\n", section.heading(), section.html))
    }
}
