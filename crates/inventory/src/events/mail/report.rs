//! The text of the weekly report, which `analysis` writes.

/// A report in one language, for the mail and for the stored analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportText {
    /// With the day.
    pub(crate) heading: String,
    /// The shop in two sentences.
    pub(crate) opening: String,
    pub(crate) sections: Vec<ReportSection>,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReportSection {
    /// May be blank.
    pub(crate) heading: String,
    /// One line each.
    pub(crate) items: Vec<String>,
}

impl ReportText {
    /// As plain text. The first line is the heading, as an analysis has one.
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
