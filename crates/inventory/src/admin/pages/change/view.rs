//! The template data of a record's form: fields, inline tables, read-only values and buttons.

use askama::Template;

use crate::{
    access::{Model, Verb},
    admin::{
        about::{ModelDescription, ModelRecord},
        pages::{
            fields::{FieldView, field_views},
            inlines::{InlineTable, SubmittedRow, tables},
            refusal_reason,
        },
        registry::{self, RegisteredModel},
        site::AdminFrame,
    },
    page::{Form, fact::Fact},
    rest::Refusal,
};

#[derive(Template)]
#[template(path = "admin/change.html")]
pub(super) struct ChangePage<'a> {
    site: &'a AdminFrame,
    about: &'static ModelDescription,
    /// `None` on the form of a new record.
    record: Option<ModelRecord>,
    form: Form,
    /// `None` for users who may not change the record.
    fields: Option<Vec<FieldView>>,
    /// The reason why a user with the permission may not change this record, or empty.
    refusal_reason: String,
    tables: Vec<InlineTable>,
    /// The errors of inline rows: the id of the control, and the message with the control's label.
    row_problems: Vec<(String, String)>,
}

impl<'a> ChangePage<'a> {
    /// The form of a new or of an existing record, with the refused rows.
    pub(super) async fn of(
        site: &'a AdminFrame,
        model: &'static RegisteredModel,
        record: Option<ModelRecord>,
        (form, sent): (Form, Vec<SubmittedRow>),
    ) -> Result<Self, Refusal> {
        let about = &model.about;
        let may_edit = about.is_edited_by(&site.caller, record.is_none());
        let refusal_reason = match &record {
            Some(record) if may_edit => {
                refusal_reason(site, model, (Verb::Change, record.id)).await?
            }
            _ => String::new(),
        };
        let is_edited = may_edit && refusal_reason.is_empty();
        let fields = if is_edited {
            Some(field_views(site, about, &form, record.is_none()).await?)
        } else {
            None
        };
        Ok(Self {
            tables: tables(site, about, (record.as_ref(), is_edited), &sent).await?,
            row_problems: sent.iter().flat_map(|row| row.problems(site)).collect(),
            site,
            about,
            record,
            form,
            fields,
            refusal_reason,
        })
    }

    pub(super) fn is_refused(&self) -> bool {
        self.form.is_refused() || !self.row_problems.is_empty()
    }

    fn title(&self) -> String {
        let locale = self.site.locale;
        let name = self.about.words.one(locale);
        let verb = match (&self.record, &self.fields) {
            (None, _) => locale.text("Adicionar", "Add"),
            (Some(_), Some(_)) => locale.text("Alterar", "Change"),
            (Some(_), None) => locale.text("Ver", "View"),
        };
        format!("{verb} {name}")
    }

    /// All errors in the order of the controls: the id of the control, and the message with its
    /// label.
    fn problems(&self) -> Vec<(String, String)> {
        let mut fields = self.form.summary(self.site.locale);
        let controls = self.fields.iter().flatten();
        fields.sort_by_key(|(name, _)| controls.clone().position(|field| field.name == *name));
        let fields = fields
            .into_iter()
            .map(|(field, message)| (format!("field-{field}"), message));
        fields.chain(self.row_problems.iter().cloned()).collect()
    }

    /// The values that are not form fields.
    fn facts(&self) -> Vec<Fact> {
        let Some(record) = &self.record else {
            return Vec::new();
        };
        let is_field = |name: &str| {
            let fields = self.fields.iter().flatten();
            fields.into_iter().any(|field| field.name == name)
        };
        let facts = record.facts.iter().filter(|(name, _)| !is_field(name));
        facts
            .map(|(name, cell)| Fact {
                name: self.site.field(name),
                value: cell.shown(self.site.locale),
                address: registry::address_of(cell, &self.site.caller),
            })
            .collect()
    }

    fn may(&self, verb: Verb) -> bool {
        self.about.allows(&self.site.caller, verb)
    }

    /// The address that the form is submitted to.
    fn target(&self) -> String {
        self.record.as_ref().map_or_else(
            || format!("{}add/", self.about.address()),
            |record| self.about.record_address(record.id),
        )
    }

    fn address(&self, id: i64, page: &str) -> String {
        format!("/admin/{}/{id}/{page}/", self.about.path)
    }
}
