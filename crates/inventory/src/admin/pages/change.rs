//! The form of a record, new or there already: shown, filled from the address, saved, and shown again with what is wrong.
//! Whoever may only look gets the same page without fields.

use askama::Template;
use axum::{
    extract::{Path, Request, State as Extracted},
    response::Response,
};
use serde_json::value::RawValue;

use super::{
    Place,
    fields::{FieldView, field_views},
    find, list_address, query,
};
use crate::{
    accounts::{
        Model, Verb,
        pages::{keep_nothing, posted},
    },
    admin::{
        about::{About, Administered, Cell, FieldKind, Record, Written},
        messages::{self, Done, Follows},
        registry,
        site::{Site, capitalized},
    },
    page::{Form, PageState, flash, see_other},
    rest::{Refusal, fields::Members, query::Parameters},
};

#[derive(Template)]
#[template(path = "admin/change.html")]
struct ChangePage<'a> {
    site: &'a Site,
    about: &'a About,
    /// None on the form of a new record.
    record: Option<Record>,
    form: Form,
    /// None for whoever may only look.
    fields: Option<Vec<FieldView>>,
    /// A token that makes a form sent twice act once.
    once: String,
}

#[derive(Template)]
#[template(path = "admin/secret.html")]
struct SecretPage<'a> {
    site: &'a Site,
    text: String,
    secret: String,
    address: String,
}

/// What can be read beside the form.
struct Fact {
    name: &'static str,
    text: String,
    address: Option<String>,
}

impl ChangePage<'_> {
    fn name(&self) -> String {
        capitalized(self.about.words.many(self.site.locale))
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

    /// What is not a field of the form.
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
                text: cell.shown(self.site.locale),
                address: self.link(cell),
            })
            .collect()
    }

    fn link(&self, cell: &Cell) -> Option<String> {
        let (path, id) = cell.record()?;
        let about = registry::find(path)?.about();
        let is_read = about.is_read_by(&self.site.caller);
        is_read.then(|| about.record_address(id))
    }

    fn may(&self, verb: Verb) -> bool {
        self.about.allows(&self.site.caller, verb)
    }

    fn may_add(&self) -> bool {
        self.may(Verb::Add)
    }

    fn may_delete(&self) -> bool {
        self.may(Verb::Delete)
    }

    fn may_continue(&self) -> bool {
        self.may(Verb::Change) || (self.may(Verb::View) && self.record.is_none())
    }

    fn address(&self, id: i64, page: &str) -> String {
        format!("/admin/{}/{id}/{page}/", self.about.path)
    }

    fn on_site(&self, id: i64) -> Option<String> {
        self.about.site.map(|site| format!("{site}{id}/"))
    }

    fn has_password(&self) -> bool {
        self.about.model == Model::User && self.fields.is_some()
    }
}

async fn show(
    page: &PageState,
    site: &Site,
    model: &'static dyn Administered,
    record: Option<Record>,
    form: Form,
) -> Result<Response, Refusal> {
    let about = model.about();
    let is_new = record.is_none();
    let is_edited = about.is_edited_by(&site.caller, is_new);
    let fields = if is_edited {
        Some(field_views(page, site, about, &form, is_new).await?)
    } else {
        None
    };
    let is_refused = form.is_refused();
    Ok(site.page(
        is_refused,
        ChangePage {
            once: site.one_use_token(),
            site,
            about,
            record,
            form,
            fields,
        },
    ))
}

/// `GET /admin/{model}/add/`
pub(super) async fn add_form(
    Extracted(page): Extracted<PageState>,
    site: Site,
    Path(model): Path<String>,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, _) = request.into_parts();
    let model = site.model(&model)?;
    site.demand(model.about(), Verb::Add)?;
    let asked = Parameters::parse(query(&parts));
    let mut form = Form::new();
    for field in model.about().fields {
        if let Some(value) = asked
            .get(field.name)
            .filter(|_| field.kind != FieldKind::Password)
        {
            form.set(field.name, value);
        }
    }
    Ok(show(&page, &site, model, None, form).await?)
}

/// `POST /admin/{model}/add/`
pub(super) async fn add(
    Extracted(page): Extracted<PageState>,
    site: Site,
    Path(model): Path<String>,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, body) = request.into_parts();
    let members = posted::read(&page.state, &parts, body).await?;
    let model = site.model(&model)?;
    site.demand(model.about(), Verb::Add)?;
    Ok(save(&page, &site, model, None, members).await?)
}

/// `GET /admin/{model}/{id}/change/`
pub(super) async fn change_form(
    Extracted(page): Extracted<PageState>,
    site: Site,
    Path((model, id)): Place,
) -> Result<Response, web::Error> {
    let model = site.model(&model)?;
    site.demand(model.about(), Verb::View)?;
    let record = match find(&page, &site, model, &id).await? {
        Ok(record) => record,
        Err(response) => return Ok(response),
    };
    let values = record.values.iter();
    let form = values.fold(Form::new(), |form, (name, value)| {
        form.with(name, value.as_str())
    });
    Ok(show(&page, &site, model, Some(record), form).await?)
}

/// `POST /admin/{model}/{id}/change/`
pub(super) async fn change(
    Extracted(page): Extracted<PageState>,
    site: Site,
    Path((model, id)): Place,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, body) = request.into_parts();
    let members = posted::read(&page.state, &parts, body).await?;
    let model = site.model(&model)?;
    site.demand(model.about(), Verb::Change)?;
    let record = match find(&page, &site, model, &id).await? {
        Ok(record) => record,
        Err(response) => return Ok(response),
    };
    Ok(save(&page, &site, model, Some(record), members).await?)
}

async fn save(
    page: &PageState,
    site: &Site,
    model: &'static dyn Administered,
    record: Option<Record>,
    mut members: Members,
) -> Result<Response, Refusal> {
    let about = model.about();
    let mut form = Form::of(&members);
    ticked(&mut form, &members, about);
    for field in about
        .fields
        .iter()
        .filter(|field| field.kind == FieldKind::Password)
    {
        // No page brings a password back.
        form.set(field.name, "");
    }
    blank_is_nothing(&mut members, about);
    let follows = follows(&members);
    let id = record.as_ref().map(|record| record.id);
    match model.write(&page.state, &site.caller, id, members).await {
        Ok(Written {
            id,
            text,
            secret: None,
        }) => Ok(saved(site, about, id, &text, record.is_none(), follows)),
        Ok(Written {
            id,
            text,
            secret: Some(secret),
        }) => Ok(told_once(site, about, id, text, secret)),
        Err(refusal) => {
            form.take(refusal, site.locale)?;
            show(page, site, model, record, form).await
        }
    }
}

/// Boxes of one field come as members of their own; the form keeps them together.
fn ticked(form: &mut Form, members: &Members, about: &About) {
    for field in about.fields {
        if matches!(
            field.kind,
            FieldKind::Several(_) | FieldKind::Permissions | FieldKind::Choices(_)
        ) {
            let values = members.keys().filter_map(|name| {
                let value = name.strip_prefix(field.name)?.strip_prefix(':')?;
                Some(value.to_owned())
            });
            form.set(field.name, values.collect::<Vec<_>>().join(","));
        }
    }
}

/// A field that may stay empty, and is, holds nothing rather than a blank text.
fn blank_is_nothing(members: &mut Members, about: &About) {
    let is_blank = |members: &Members, name| {
        posted::text(members, name).is_some_and(|text| text.trim().is_empty())
    };
    for field in about.fields.iter().filter(|field| !field.is_required) {
        if is_blank(members, field.name) {
            members.insert(field.name.to_owned(), RawValue::NULL.to_owned());
        }
    }
}

fn follows(members: &Members) -> Follows {
    if members.contains_key("_continue") {
        Follows::Record
    } else if members.contains_key("_addanother") {
        Follows::Another
    } else {
        Follows::List
    }
}

/// Shows a secret, this once. No browser keeps the page.
fn told_once(site: &Site, about: &About, id: i64, text: String, secret: String) -> Response {
    let address = about.record_address(id);
    let mut response = site.page(
        false,
        SecretPage {
            site,
            text,
            secret,
            address,
        },
    );
    keep_nothing(&mut response);
    response
}

fn saved(
    site: &Site,
    about: &About,
    id: i64,
    text: &str,
    is_new: bool,
    follows: Follows,
) -> Response {
    let follows = match follows {
        Follows::List if is_new && about.in_two_steps => Follows::Record,
        follows => follows,
    };
    let address = match follows {
        Follows::Record => about.record_address(id),
        Follows::Another => format!("{}add/", about.address()),
        Follows::List => list_address(site, about),
    };
    let done = if is_new { Done::Added } else { Done::Changed };
    let told = messages::done(site.locale, about, text, done, follows);
    flash::success(see_other(&address), told)
}
