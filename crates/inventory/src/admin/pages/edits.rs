//! Columns that are written in the list itself: `cell:{id}:{field}` is what stands in a field now, `was:{id}:{field}` what stood there
//! when the list was shown. Only what was changed is written, record by record, by the service function that the record's own form
//! calls. What can be told beforehand is told before anything is written; that somebody else has changed a cell meanwhile, too.

use std::collections::BTreeMap;

use axum::response::Response;

use super::typed;
use crate::{
    accounts::{Verb, pages::posted},
    admin::{
        about::{About, Administered, Field, Record, Target},
        listing::Asked,
        messages,
        pages::list,
        site::Site,
    },
    page::{Form, PageState, flash, see_other},
    rest::{Refusal, fields::Members},
};

/// What was typed into a list, and what is wrong with it, by record.
#[derive(Default)]
pub(super) struct Edits(BTreeMap<i64, Form>);

impl Edits {
    /// What was typed for a record; none when nothing was.
    pub(super) fn of(&self, id: i64) -> Option<&Form> {
        self.0.get(&id)
    }

    /// Whether anything is wrong.
    pub(super) fn is_refused(&self) -> bool {
        self.0.values().any(Form::is_refused)
    }

    /// How many things are wrong.
    pub(super) fn problems(&self) -> usize {
        let forms = self.0.values();
        forms
            .map(|form| form.errors().len() + usize::from(!form.problem.is_empty()))
            .sum()
    }

    /// What is wrong with whole records.
    pub(super) fn sentences(&self) -> impl Iterator<Item = &str> {
        let forms = self.0.values().map(|form| form.problem.as_str());
        forms.filter(|problem| !problem.is_empty())
    }
}

/// The fields of the columns that are written in the list, for whoever may change its records.
pub(super) fn fields(site: &Site, about: &'static About) -> Vec<&'static Field> {
    if !about.is_edited_by(&site.caller, false) {
        return Vec::new();
    }
    let columns = about.columns.iter().filter(|column| column.is_edited);
    columns
        .filter_map(|column| about.field(column.name))
        .collect()
}

/// Saves what was changed in a list, or shows the list again.
pub(super) async fn save(
    page: &PageState,
    site: &Site,
    model: &'static dyn Administered,
    asked: Asked,
    sent: &Members,
) -> Result<Response, Refusal> {
    let about = model.about();
    site.demand(about, Verb::Change)?;
    let fields = fields(site, about);
    let mut edits = Edits::default();
    let mut changed = changed(&fields, sent);
    for (id, members) in &mut changed {
        let mut form = Form::of(members);
        for (field, said) in typed::understand(fields.iter().copied(), members, site.locale) {
            form.complain(field, said);
        }
        form.absorb(&model.problems(Target::Part(*id), members), site.locale);
        if let Some(record) = model.read(&page.state, *id).await? {
            meanwhile(site, &record, sent, &mut form);
        }
        edits.0.insert(*id, form);
    }
    let mut saved = 0;
    if !edits.is_refused() {
        for (id, members) in changed {
            let written = model.write(&page.state, &site.caller, Target::Part(id), members);
            match written.await {
                Ok(_) => {
                    saved += 1;
                    edits.0.remove(&id);
                }
                // It is gone, and so will its row be.
                Err(Refusal::NotFound) => {}
                Err(refusal) => {
                    let form = edits.0.entry(id).or_default();
                    form.take(refusal, site.locale)?;
                }
            }
        }
    }
    if edits.is_refused() {
        return list::shown_again(page, site, model, asked, edits).await;
    }
    let back = see_other(&format!("{}{}", about.address(), asked.href()));
    Ok(if saved == 0 {
        back
    } else {
        flash::success(back, messages::changed(site.locale, about, saved))
    })
}

/// Complains of what somebody else has changed since the list was shown. The list that is shown again has the new values to compare
/// with, so whoever saves it once more means it.
fn meanwhile(site: &Site, record: &Record, sent: &Members, form: &mut Form) {
    let lines = |text: &str| text.trim().replace("\r\n", "\n");
    for (field, cell) in &record.facts {
        let sent = |prefix: &str| posted::text(sent, &format!("{prefix}:{}:{field}", record.id));
        let Some(typed) = sent("cell") else {
            continue;
        };
        let (typed, was) = (lines(&typed), lines(&sent("was").unwrap_or_default()));
        let now = lines(&cell.typed(site.locale));
        let is_written_over = was != now && was != typed && now != typed;
        // What is wrong with it anyway is told first.
        if is_written_over && form.error(field).is_empty() {
            form.complain(field, messages::meanwhile(site.locale, &now));
        }
    }
}

/// The fields of each record that are not what they were when the list was shown.
fn changed(fields: &[&'static Field], sent: &Members) -> BTreeMap<i64, Members> {
    let mut changed: BTreeMap<i64, Members> = BTreeMap::new();
    for (name, value) in sent {
        let Some((id, field)) = name
            .strip_prefix("cell:")
            .and_then(|rest| rest.split_once(':'))
        else {
            continue;
        };
        let is_field = fields.iter().any(|known| known.name == field);
        let Ok(id) = id.parse::<i64>() else {
            continue;
        };
        let was = posted::text(sent, &format!("was:{id}:{field}"));
        if is_field && was != posted::text(sent, name) {
            let members = changed.entry(id).or_default();
            members.insert(field.to_owned(), value.clone());
        }
    }
    changed
}
