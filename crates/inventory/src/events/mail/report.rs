//! The text of the weekly report, which the module `analysis` writes.

/// A report in one language, for the mail and for the stored analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportText {
    /// The title, with the date.
    pub(crate) heading: String,
    /// The summary in two sentences.
    pub(crate) opening: String,
    pub(crate) sections: Vec<ReportSection>,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportSection {
    /// The heading, or empty.
    pub(crate) heading: String,
    /// The lines.
    pub(crate) items: Vec<String>,
}

impl ReportText {
    /// The report as plain text. The first line is the heading, as in other analyses.
    pub(crate) fn text(&self) -> String {
        let mut lines = vec![self.heading.clone(), String::new(), self.opening.clone()];
        for section in &self.sections {
            lines.push(String::new());
            lines.push(section.heading.clone());
            lines.extend(section.items.iter().map(|item| format!("- {item}")));
        }
        lines.join("\n")
    }
}
