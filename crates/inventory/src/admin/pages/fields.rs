//! The template data of form fields: values, hints, errors and choices.

use resource::{Field, Kind};

use super::read_all;
use crate::{
    access::{Permission, Verb},
    accounts::users::manage::MAX_GROUPS,
    admin::{
        about::{ModelDescription, ModelRecord},
        listing::ListParameters,
        messages, registry,
        site::AdminFrame,
    },
    events::{EventType, Types},
    page::{Form, edit_conflict::Conflict, picker::PickerSource},
    rest::Refusal,
};

/// Up to this many records of another model become options. Above, the field takes an id.
const MOST_OPTIONS: u64 = 200;

/// With more checkboxes than this, the chosen options are listed beside them.
const FEW_OPTIONS: usize = 12;

pub(super) struct FieldView {
    pub(super) name: String,
    /// The id of the control.
    pub(super) id: String,
    pub(super) label: &'static str,
    pub(super) help: &'static str,
    /// The heading of the section that begins with this field.
    pub(super) section: &'static str,
    pub(super) is_required: bool,
    pub(super) field: &'static Field,
    pub(super) value: String,
    pub(super) error: String,
    /// The choice between the stored and the submitted value after an edit conflict.
    pub(super) conflict: Option<Conflict>,
    pub(super) options: Vec<FieldOption>,
    /// The links of a reference.
    pub(super) links: Option<RelationLinks>,
}

pub(super) struct FieldOption {
    pub(super) value: String,
    pub(super) text: String,
    pub(super) is_chosen: bool,
}

/// Values with their labels.
pub(super) type Choices = Vec<(String, String)>;

/// The links from a field to the records of the other model.
pub(super) struct RelationLinks {
    /// Whether there are too many records for options, so that the field takes an id.
    pub(super) is_by_id: bool,
    /// The address of the suggestions for a script.
    pub(super) offers: Option<String>,
    /// The name of the current record.
    pub(super) text: String,
    pub(super) list: String,
    pub(super) add: Option<String>,
    /// The address of the current record.
    pub(super) record: Option<String>,
    /// Whether the user may change that record.
    pub(super) is_changed: bool,
    /// The address of the page that deletes that record.
    pub(super) delete: Option<String>,
}

impl FieldView {
    /// The `type` attribute of the control.
    pub(super) const fn control(&self) -> &'static str {
        if self.field.is_secret {
            "password"
        } else {
            self.field.control
        }
    }

    /// The hint below the control. Empty in tables, where the control has an accessible name.
    pub(super) const fn hint(&self, named: &str) -> &'static str {
        if named.is_empty() { self.help } else { "" }
    }

    pub(super) fn is_truth(&self) -> bool {
        self.field.kind == Kind::Truth
    }

    pub(super) fn is_select(&self) -> bool {
        self.field.kind == Kind::Reference && !self.is_by_id()
    }

    /// Whether the chosen options are listed beside the checkboxes.
    pub(super) fn has_panes(&self) -> bool {
        self.options.len() > FEW_OPTIONS
    }

    fn is_by_id(&self) -> bool {
        self.links.as_ref().is_some_and(|links| links.is_by_id)
    }

    pub(super) const fn autocomplete(&self) -> &'static str {
        if self.field.is_secret {
            "new-password"
        } else {
            "off"
        }
    }
}

/// The fields of the form of a new or of an existing record.
pub(super) async fn field_views(
    site: &AdminFrame,
    about: &'static ModelDescription,
    form: &Form,
    is_new: bool,
) -> Result<Vec<FieldView>, Refusal> {
    let mut views = Vec::new();
    for field in about.fields_of(is_new) {
        let named = (field.name.to_owned(), format!("field-{}", field.name));
        views.push(view(site, field, form, named).await?);
    }
    Ok(views)
}

/// A field in the row of a table. The name includes table and row.
pub(super) async fn cell_view(
    site: &AdminFrame,
    field: &'static Field,
    (name, form): (String, &Form),
) -> Result<FieldView, Refusal> {
    let id = format!("field-{}", name.replace(':', "-"));
    view(site, field, form, (name, id)).await
}

async fn view(
    site: &AdminFrame,
    field: &'static Field,
    form: &Form,
    (name, id): (String, String),
) -> Result<FieldView, Refusal> {
    let value = form.value(field.name).to_owned();
    let chosen: Vec<&str> = value.split(',').collect();
    let (options, links) = match (field.kind, field.target) {
        (Kind::Reference, Some(target)) => {
            let (records, links) = related(site, target.path, &value, MOST_OPTIONS).await?;
            let options = ticked(records.unwrap_or_default(), &[value.trim()]);
            (options, Some(links))
        }
        (Kind::Several, Some(target)) => {
            let choices = match target.path {
                Permission::PATH => permissions(site),
                Types::PATH => types(site),
                path => records(site, path, MAX_GROUPS).await?.unwrap_or_default(),
            };
            (ticked(choices, &chosen), None)
        }
        _ => (Vec::new(), None),
    };
    Ok(FieldView {
        id,
        label: site.field(field.name),
        help: site.say(field.help),
        section: field.section.map_or("", |section| site.say(section)),
        is_required: field.is_required(),
        error: form.error(field.name).to_owned(),
        conflict: form.conflict(field.name).map(|conflict| conflict.at(&name)),
        field,
        name,
        options,
        links,
        value,
    })
}

/// The options of a reference, unless there are more than `most`, and its links.
pub(super) async fn related(
    site: &AdminFrame,
    path: &str,
    value: &str,
    most: u64,
) -> Result<(Option<Choices>, RelationLinks), Refusal> {
    let model = registry::find(path).ok_or(Refusal::NotFound)?;
    let about = &model.about;
    let rows = records(site, path, most).await?;
    let id: Option<i64> = value.trim().parse().ok();
    let mut text = String::new();
    if let (None, Some(id)) = (&rows, id) {
        let record = model.read(&site.state, id).await?;
        text = record.map(|record| record.text).unwrap_or_default();
    }
    let links = RelationLinks {
        is_by_id: rows.is_none(),
        offers: offers(path).filter(|_| rows.is_none()),
        text,
        list: about.address(),
        add: site.add(about),
        record: id
            .filter(|_| about.is_read_by(&site.caller))
            .map(|id| about.record_address(id)),
        is_changed: about.allows(&site.caller, Verb::Change),
        delete: id
            .filter(|_| about.allows(&site.caller, Verb::Delete))
            .map(|id| format!("{}{id}/delete/", about.address())),
    };
    Ok((rows, links))
}

/// The address where a script searches records of a model by name.
fn offers(path: &str) -> Option<String> {
    PickerSource::of(path).map(|_| format!("/pick/{path}/"))
}

/// The records of a model as options. `None` if there are more than `most`.
async fn records(site: &AdminFrame, path: &str, most: u64) -> Result<Option<Choices>, Refusal> {
    let model = registry::find(path).ok_or(Refusal::NotFound)?;
    let query = ListParameters::nothing(&model.about);
    let records = read_all(site, model, &query, most).await?;
    let offer = |record: ModelRecord| (record.id.to_string(), record.text);
    Ok(records.map(|records| records.into_iter().map(offer).collect()))
}

fn permissions(site: &AdminFrame) -> Choices {
    let text = |permission| messages::permission(site.locale, permission);
    Permission::all()
        .map(|permission| (permission.to_string(), text(permission)))
        .collect()
}

fn types(site: &AdminFrame) -> Choices {
    let types = EventType::DELIVERED.into_iter();
    types
        .map(|kind| (kind.name().to_owned(), site.say(kind.words()).to_owned()))
        .collect()
}

fn ticked(choices: Choices, chosen: &[&str]) -> Vec<FieldOption> {
    let options = choices.into_iter().map(|(value, text)| FieldOption {
        is_chosen: chosen.contains(&value.as_str()),
        value,
        text,
    });
    options.collect()
}
