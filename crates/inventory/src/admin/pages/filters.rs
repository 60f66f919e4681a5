//! The filters beside a list: their choices, the active choice and, on request, the number of
//! records of each choice.

use web::locale::Locale;

use super::fields::{self, RelationLinks};
use crate::{
    access::Caller,
    admin::{
        about::{Both, ModelFilter, ModelFilterKind},
        listing::ListParameters,
        registry::{self, RegisteredModel},
        site::AdminFrame,
    },
    page::list_page::Chip,
    rest::Refusal,
};

/// Up to this many records of another model become choices. Above, the filter is a field for an id.
const MOST_CHOICES: u64 = 50;

const YES_OR_NO: [(&str, Both); 2] = [("1", ("Sim", "Yes")), ("0", ("Não", "No"))];

pub(super) struct FilterView {
    pub(super) name: &'static str,
    pub(super) title: String,
    /// The choices, `All` first. Empty if there are too many.
    pub(super) choices: Vec<FilterChoice>,
    /// The field for an id, if there are too many choices.
    pub(super) field: Option<IdField>,
}

impl FilterView {
    /// The active choice, and the address of the list without the filter. `None` without a choice.
    pub(super) fn chip(&self) -> Option<Chip> {
        let (text, address) = match &self.field {
            Some(field) if !field.value.is_empty() => (&field.links.text, &field.cleared),
            _ => {
                let (everything, others) = self.choices.split_first()?;
                let choice = others.iter().find(|choice| choice.is_current)?;
                (&choice.text, &everything.href)
            }
        };
        Some(Chip {
            text: format!("{}: {text}", self.name),
            address: address.clone(),
        })
    }
}

pub(super) struct FilterChoice {
    pub(super) text: String,
    pub(super) href: String,
    pub(super) is_current: bool,
    pub(super) count: Option<String>,
}

/// A field for an id, for models with more than [`MOST_CHOICES`] records.
pub(super) struct IdField {
    pub(super) name: &'static str,
    pub(super) value: String,
    /// The links to the record, to the list of the model, and to the suggestions.
    pub(super) links: RelationLinks,
    /// The other parameters of the query, as hidden fields.
    pub(super) rest: Vec<(&'static str, String)>,
    /// The address of the list without this filter.
    pub(super) cleared: String,
}

pub(super) async fn filter_views(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    query: &ListParameters,
) -> Result<Vec<FilterView>, Refusal> {
    let mut views = Vec::new();
    for filter in &model.about.filters {
        if filter.is_shown_to(&site.caller) {
            views.push(view(site, model, query, filter).await?);
        }
    }
    Ok(views)
}

async fn view(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    query: &ListParameters,
    filter: &ModelFilter,
) -> Result<FilterView, Refusal> {
    let locale = site.locale;
    let name = site.field(filter.name);
    let title = match locale {
        Locale::En => format!("By {}", name.to_lowercase()),
        Locale::PtBr if matches!(filter.kind, ModelFilterKind::Truth) => name.to_owned(),
        Locale::PtBr => format!("Por {}", name.to_lowercase()),
    };
    let word = |(value, text): &(&str, Both)| ((*value).to_owned(), site.say(*text).to_owned());
    let values = match filter.kind {
        ModelFilterKind::Truth => YES_OR_NO.iter().map(word).collect(),
        ModelFilterKind::Choices(choices) => choices.iter().map(word).collect(),
        ModelFilterKind::Related(path) => {
            let value = query.value(filter.name).unwrap_or_default();
            let (records, links) = fields::related(site, path, value, MOST_CHOICES).await?;
            let Some(records) = records else {
                return Ok(FilterView {
                    name,
                    title,
                    choices: Vec::new(),
                    field: Some(IdField::of(filter.name, query, links)),
                });
            };
            records
        }
    };
    let all = (None, locale.text("Todos", "All").to_owned());
    let values = values.into_iter();
    let values = values.map(|(value, text)| (Some(value), text));
    let mut choices = Vec::new();
    for (value, text) in std::iter::once(all).chain(values) {
        let value = value.as_deref();
        choices.push(FilterChoice {
            text,
            href: query.with(|query| query.set(filter.name, value)),
            is_current: query.value(filter.name) == value,
            count: count(site, model, query, (filter.name, value)).await?,
        });
    }
    Ok(FilterView {
        name,
        title,
        choices,
        field: None,
    })
}

/// The number of records of a choice, if the query requests counts.
async fn count(
    site: &AdminFrame,
    model: &'static RegisteredModel,
    query: &ListParameters,
    (name, value): (&'static str, Option<&str>),
) -> Result<Option<String>, Refusal> {
    if !query.shows_counts {
        return Ok(None);
    }
    let mut narrowed = ListParameters {
        page: 1,
        size: 1,
        ..query.clone()
    };
    narrowed.set(name, value);
    let count = model.list(&site.state, &narrowed).await?.count;
    let number = site.locale.number(count.number);
    let mark = if count.is_more { "> " } else { "" };
    Ok(Some(format!("{mark}{number}")))
}

impl ModelFilter {
    /// Whether the caller may read the records that are its choices.
    fn is_shown_to(&self, caller: &Caller) -> bool {
        match self.kind {
            ModelFilterKind::Related(path) => {
                registry::find(path).is_some_and(|model| model.about.is_read_by(caller))
            }
            _ => true,
        }
    }
}

impl IdField {
    fn of(name: &'static str, query: &ListParameters, links: RelationLinks) -> Self {
        let mut rest = query.pairs();
        rest.retain(|(other, _)| *other != name);
        Self {
            name,
            value: query.value(name).unwrap_or_default().to_owned(),
            links,
            rest,
            cleared: query.with(|query| query.set(name, None)),
        }
    }
}
