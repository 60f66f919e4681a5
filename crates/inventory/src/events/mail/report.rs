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
        let mut text = format!("{}\n\n{}", self.heading, self.opening);
        for section in &self.sections {
            section.append_to(&mut text);
        }
        text
    }
}

impl ReportSection {
    pub(super) fn append_to(&self, plain: &mut String) {
        if !self.heading.is_empty() {
            plain.push_str("\n\n");
            plain.push_str(&self.heading);
        }
        for item in &self.items {
            plain.push_str("\n- ");
            plain.push_str(item);
        }
    }
}
