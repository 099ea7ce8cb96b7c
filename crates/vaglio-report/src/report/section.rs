//! A page as data: sections of text, cards, tables and charts, which one template draws.

use super::chart::Chart;
use super::table::PageTable;
use serde::{Deserialize, Serialize};

/// A page of sections below a title and an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Page {
    /// `report` or `compare`.
    pub kind: String,
    /// The heading.
    pub title: String,
    /// The answer to the reader's question, in one or two sentences.
    pub answer: String,
    /// Sections in reading order.
    pub sections: Vec<Section>,
    /// The last line.
    pub footer: String,
}

/// A titled part of a page.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Section {
    /// Anchor of the heading.
    pub id: String,
    /// The heading.
    pub title: String,
    /// The first paragraph; may be empty.
    pub lead: String,
    /// The content below it.
    pub blocks: Vec<ContentBlock>,
}

/// One piece of content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContentBlock {
    /// A paragraph.
    Text {
        /// Style of the paragraph.
        style: TextStyle,
        /// Words.
        text: String,
    },
    /// Figures in large type.
    Cards(Vec<Card>),
    /// A table.
    Table(PageTable),
    /// A chart.
    Chart(Chart),
    /// A section that is collapsed until its heading is clicked.
    Fold(Section),
}

/// Style of a paragraph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextStyle {
    /// Running text.
    Plain,
    /// An explanation in small type.
    Note,
    /// A warning box.
    Warning,
    /// One formula, whose further lines are indented.
    Formula,
    /// Lines of code.
    Code,
}

/// A figure in large type.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Card {
    /// Name of the figure.
    pub label: String,
    /// Value in few digits.
    pub value: String,
    /// Value in all digits.
    pub full: String,
    /// Interval; may be empty.
    pub interval: String,
    /// Source of the figure.
    pub note: String,
    /// Class in the style sheet.
    pub class: String,
}

impl Section {
    /// Creates a section without content.
    pub fn new(id: &str, title: &str) -> Self {
        Section { id: id.into(), title: title.into(), ..Section::default() }
    }

    /// Sets the first paragraph.
    #[must_use]
    pub fn lead(self, lead: impl Into<String>) -> Self {
        Section { lead: lead.into(), ..self }
    }

    /// Appends a block.
    #[must_use]
    pub fn block(mut self, block: ContentBlock) -> Self {
        self.blocks.push(block);
        self
    }

    /// Appends a paragraph, unless it is empty.
    #[must_use]
    pub fn styled(self, style: TextStyle, text: impl Into<String>) -> Self {
        match text.into() {
            text if text.is_empty() => self,
            text => self.block(ContentBlock::Text { style, text }),
        }
    }

    /// Appends running text, unless it is empty.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.styled(TextStyle::Plain, text)
    }

    /// Appends an explanation in small type, unless it is empty.
    #[must_use]
    pub fn note(self, text: impl Into<String>) -> Self {
        self.styled(TextStyle::Note, text)
    }

    /// Appends a table, unless it has no rows.
    #[must_use]
    pub fn table(self, table: PageTable) -> Self {
        if table.rows.is_empty() { self } else { self.block(ContentBlock::Table(table)) }
    }

    /// Appends a chart, unless it has nothing finite to draw.
    #[must_use]
    pub fn chart(self, chart: Option<Chart>) -> Self {
        match chart.filter(|chart| chart.html().is_some()) {
            Some(chart) => self.block(ContentBlock::Chart(chart)),
            None => self,
        }
    }

    /// Appends sections that are collapsed until their headings are clicked.
    #[must_use]
    pub fn folds(mut self, sections: impl IntoIterator<Item = Section>) -> Self {
        self.blocks.extend(sections.into_iter().map(ContentBlock::Fold));
        self
    }

    /// Returns the section if it has content.
    pub fn non_empty(self) -> Option<Self> {
        (!self.lead.is_empty() || !self.blocks.is_empty()).then_some(self)
    }
}
