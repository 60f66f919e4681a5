//! The template data of inline tables.

use web::locale::Locale;

use super::SubmittedRow;
use crate::{
    access::Verb,
    admin::{
        about::{FieldValue, Inline, Limit, ModelDescription, ModelRecord},
        listing::ListParameters,
        pages::{
            fields::{FieldView, cell_view},
            versions,
        },
        registry::{self, RegisteredModel},
        site::AdminFrame,
    },
    page::{Form, edit_conflict},
    rest::Refusal,
};

pub(in crate::admin::pages) struct InlineTable {
    pub(in crate::admin::pages) path: &'static str,
    pub(in crate::admin::pages) title: String,
    /// The labels of the columns, and whether they have numbers.
    pub(in crate::admin::pages) heads: Vec<(&'static str, bool)>,
    pub(in crate::admin::pages) rows: Vec<RowView>,
    /// The empty row that a script copies to add rows.
    pub(in crate::admin::pages) blank: Option<RowView>,
    /// The name of the model, for the button that adds a row.
    pub(in crate::admin::pages) one: &'static str,
    /// The most new rows, followed by a sentence that says so.
    pub(in crate::admin::pages) most: usize,
    pub(in crate::admin::pages) limit: String,
    /// Whether a row has a checkbox for deletion.
    pub(in crate::admin::pages) has_boxes: bool,
    /// Address and size of the complete list, if the table does not show all records.
    pub(in crate::admin::pages) all: Option<(String, String)>,
}

pub(in crate::admin::pages) struct RowView {
    /// The row in the names of form fields: an id, or `new-` and a number.
    pub(in crate::admin::pages) row: String,
    /// The version of the record, if it can be changed.
    pub(in crate::admin::pages) version: Option<String>,
    pub(in crate::admin::pages) text: String,
    pub(in crate::admin::pages) address: Option<String>,
    pub(in crate::admin::pages) cells: Vec<InlineCell>,
    pub(in crate::admin::pages) problem: String,
    /// Whether the checkbox for deletion is ticked. `None` without a checkbox.
    pub(in crate::admin::pages) deletion: Option<bool>,
}

pub(in crate::admin::pages) struct InlineCell {
    pub(in crate::admin::pages) label: &'static str,
    /// The accessible name of the control: column and row.
    pub(in crate::admin::pages) named: String,
    /// The control, if the cell can be edited.
    pub(in crate::admin::pages) field: Option<FieldView>,
    pub(in crate::admin::pages) text: String,
    pub(in crate::admin::pages) is_number: bool,
}

struct TableBuilder<'a> {
    site: &'a AdminFrame,
    inline: &'static Inline,
    about: &'static ModelDescription,
}

/// The tables of a record's form, with refused rows. Models that are hidden from the user are
/// omitted.
pub(in crate::admin::pages) async fn tables(
    site: &AdminFrame,
    about: &'static ModelDescription,
    (record, is_edited): (Option<&ModelRecord>, bool),
    submitted: &[SubmittedRow],
) -> Result<Vec<InlineTable>, Refusal> {
    let mut tables = Vec::new();
    for inline in &about.inlines {
        let model = registry::find(inline.path).ok_or(Refusal::NotFound)?;
        let builder = TableBuilder {
            site,
            inline,
            about: &model.about,
        };
        let submitted = submitted
            .iter()
            .filter(|row| row.inline.path == inline.path);
        let submitted: Vec<&SubmittedRow> = submitted.collect();
        let table = builder
            .table(model, (record, is_edited), &submitted)
            .await?;
        if !table.rows.is_empty() {
            tables.push(table);
        }
    }
    Ok(tables)
}

/// The sentence about the most new rows.
pub(super) fn at_most(site: &AdminFrame, most: usize) -> String {
    match site.locale {
        Locale::PtBr => format!("No máximo {most} de cada vez."),
        Locale::En => format!("At most {most} at a time."),
    }
}

impl TableBuilder<'_> {
    fn may(&self, verb: Verb, is_edited: bool) -> bool {
        is_edited && self.about.allows(&self.site.caller, verb)
    }

    async fn table(
        &self,
        model: &'static RegisteredModel,
        (record, is_edited): (Option<&ModelRecord>, bool),
        submitted: &[&SubmittedRow],
    ) -> Result<InlineTable, Refusal> {
        let (inline, site) = (self.inline, self.site);
        let mut rows = Vec::new();
        let mut all = None;
        if let Some(record) = record.filter(|_| self.about.is_read_by(&site.caller)) {
            let mut query = ListParameters {
                size: inline.shown,
                ..ListParameters::nothing(self.about)
            };
            query.set(inline.key, Some(&record.id.to_string()));
            let found = model.list(&self.site.state, &query).await?;
            if found.count.is_more || found.count.number > inline.shown {
                all = Some((query.address(), site.count(found.count)));
            }
            for related in &found.records {
                let submission = submitted
                    .iter()
                    .find(|row| row.write.id == Some(related.id));
                rows.push(
                    self.existing_row(related, submission.copied(), is_edited)
                        .await?,
                );
            }
        }
        let most = match inline.limit {
            Limit::InAll(most) => most.saturating_sub(rows.len()),
            Limit::AtOnce(most) => most,
        };
        let mut blank = None;
        if self.may(Verb::Add, is_edited) && !inline.fields.is_empty() {
            let refused: Vec<_> = submitted
                .iter()
                .filter(|row| row.write.id.is_none())
                .collect();
            for submitted in &refused {
                rows.push(
                    self.row(&submitted.row, None, &submitted.form, true)
                        .await?,
                );
            }
            let empty = Form::new();
            let free = (0..)
                .map(|number| format!("new-{number}"))
                .filter(|name| refused.iter().all(|row| row.row != *name));
            let offered = inline.extra.min(most).saturating_sub(refused.len());
            for name in free.take(offered) {
                rows.push(self.row(&name, None, &empty, true).await?);
            }
            let row = self.row("new-row", None, &empty, true).await?;
            blank = Some(row).filter(|_| most > 1);
        }
        let words = &self.about.words;
        let title = match inline.limit {
            Limit::InAll(1) => words.name(site.locale),
            _ => words.title(site.locale),
        };
        Ok(InlineTable {
            path: inline.path,
            title,
            heads: self.heads(&rows),
            limit: at_most(site, most),
            has_boxes: rows.iter().any(|row| row.deletion.is_some()),
            rows,
            blank,
            one: words.one(site.locale),
            most,
            all,
        })
    }

    fn heads(&self, rows: &[RowView]) -> Vec<(&'static str, bool)> {
        let columns = self.inline.columns.iter().enumerate();
        columns
            .map(|(place, name)| {
                let cell = rows.first().and_then(|row| row.cells.get(place));
                let is_number = cell.is_some_and(|cell| cell.is_number && cell.field.is_none());
                (self.site.field(name), is_number)
            })
            .collect()
    }

    /// The row of a record with its stored values, or with those that were submitted.
    async fn existing_row(
        &self,
        record: &ModelRecord,
        submitted: Option<&SubmittedRow>,
        is_edited: bool,
    ) -> Result<RowView, Refusal> {
        let may_change = self.may(Verb::Change, is_edited);
        let may_delete = self.inline.is_deleted && self.may(Verb::Delete, is_edited);
        let form = submitted.map_or_else(
            || {
                let fields = self.inline.fields.iter();
                let fields = fields.filter_map(|name| self.about.field(name));
                let mut form = Form::new();
                let stored = versions::of(fields, record);
                edit_conflict::open(&mut form, &stored, self.site.locale);
                form
            },
            |row| row.form.clone(),
        );
        let name = record.id.to_string();
        let row = self.row(&name, Some(record), &form, may_change).await?;
        Ok(RowView {
            version: may_change.then(|| form.version().to_owned()),
            deletion: may_delete.then(|| submitted.is_some_and(|row| row.write.is_deleted)),
            ..row
        })
    }

    /// A row with the values of a form, of a new record if there is none.
    async fn row(
        &self,
        name: &str,
        record: Option<&ModelRecord>,
        form: &Form,
        is_written: bool,
    ) -> Result<RowView, Refusal> {
        let site = self.site;
        let new = site.text("nova linha", "new row");
        let text = record.map_or(new, |record| &record.text);
        let mut cells = Vec::new();
        for &column in self.inline.columns {
            let (label, fact) = (site.field(column), record.map(|record| record.fact(column)));
            let field = if is_written {
                self.field(name, column, form).await?
            } else {
                None
            };
            cells.push(InlineCell {
                label,
                named: format!("{label}: {text}"),
                field,
                text: fact.map_or_else(String::new, |fact| fact.shown(site.locale)),
                is_number: fact.is_some_and(FieldValue::is_number),
            });
        }
        Ok(RowView {
            row: name.to_owned(),
            version: None,
            text: text.to_owned(),
            address: record.map(|record| self.about.record_address(record.id)),
            cells,
            problem: form.problem.clone(),
            deletion: None,
        })
    }

    /// The control of a column. `None` if the column is read-only.
    async fn field(
        &self,
        row: &str,
        column: &'static str,
        form: &Form,
    ) -> Result<Option<FieldView>, Refusal> {
        let is_entered = self.inline.fields.contains(&column);
        let Some(field) = self.about.field(column).filter(|_| is_entered) else {
            return Ok(None);
        };
        let name = format!("{}:{row}:{column}", self.inline.path);
        let view = cell_view(self.site, field, (name, form)).await?;
        Ok(Some(view))
    }
}
