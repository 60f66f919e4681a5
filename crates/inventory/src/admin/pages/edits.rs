//! Cells that are edited in the list itself: `cell:{id}:{field}` is the new value, `was:{id}:{field}` the value when the list was shown.
//! Only changed cells are written, by the service function that the record's own form calls, all of them or none in one transaction. The
//! records are locked before it is checked whether somebody else has changed a cell meanwhile.

use std::{collections::BTreeMap, sync::Arc};

use axum::response::Response;
use db::Tx;
use web::locale::Locale;

use super::{
    together::{self, Failed, mendable},
    typed,
};
use crate::{
    access::Verb,
    accounts::pages::posted,
    admin::{
        about::{About, Administered, By, Field, Record, Target},
        listing::Asked,
        messages,
        pages::list,
        site::Site,
    },
    idempotency::on_conflict,
    page::{
        Form, PageState, flash,
        meanwhile::{self, Compared, Place, one_line},
        see_other,
    },
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Members},
    },
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
    let mut rows = Vec::new();
    for (id, mut members) in changed(&fields, sent) {
        let mut form = Form::of(&members);
        for (field, said) in typed::understand(fields.iter().copied(), &mut members, site.locale) {
            form.complain(field, said);
        }
        form.absorb(&model.problems(Target::Part(id), &members), site.locale);
        edits.0.insert(id, form);
        let compared = fields.iter().filter_map(|field| compared(id, field, sent));
        rows.push(Row {
            id,
            members,
            compared: compared.collect(),
        });
    }
    let all = Arc::new(Changes {
        model,
        rows,
        is_refused: edits.is_refused(),
        by: By::now(&page.state, &site.caller),
        locale: site.locale,
    });
    let write = async move |tx: &mut Tx| all.write(tx).await;
    let written = on_conflict(&page.state.db, write).await;
    let saved = match together::written(&page.state, written)? {
        Ok(saved) => saved,
        Err(refused) => {
            for (id, refusal) in refused {
                edits.0.entry(id).or_default().take(refusal, site.locale)?;
            }
            return list::shown_again(page, site, model, asked, edits).await;
        }
    };
    let back = see_other(&format!("{}{}", about.address(), asked.href()));
    Ok(if saved == 0 {
        back
    } else {
        flash::success(back, messages::changed(site.locale, about, saved))
    })
}

/// The records that were changed in a list.
struct Changes {
    model: &'static dyn Administered,
    rows: Vec<Row>,
    /// Whether something is wrong already, so that nothing is written whatever else is found.
    is_refused: bool,
    by: By,
    locale: Locale,
}

/// What was changed of one record.
struct Row {
    id: i64,
    members: Members,
    compared: Vec<Compared>,
}

/// A cell as it was shown, and as it was sent; none when it was not sent.
fn compared(id: i64, field: &Field, sent: &Members) -> Option<Compared> {
    let name = field.name;
    let sent = |prefix: &str| posted::text(sent, &format!("{prefix}:{id}:{name}"));
    let was = sent("was").unwrap_or_default();
    Some(Compared::new(name, &was, &sent("cell")?))
}

impl Changes {
    /// Holds every record, looks whether each is still as it was shown, and writes all of them or none; how many.
    async fn write(&self, tx: &mut Tx) -> Result<u64, Failed<i64>> {
        let (mut refused, mut there) = (Vec::new(), Vec::new());
        for row in &self.rows {
            // One that is gone is left out, as its row will be.
            if let Some(record) = self.model.read_held(tx, row.id).await? {
                let errors = self.meanwhile(&record, row);
                if !errors.is_empty() {
                    refused.push((row.id, errors.into()));
                }
                there.push(row);
            }
        }
        if self.is_refused || !refused.is_empty() {
            return Err(Failed::Refused(refused));
        }
        for row in &there {
            let target = Target::Part(row.id);
            let written = self.model.write_within(tx, &self.by, target, &row.members);
            if let Err(refusal) = written.await {
                refused.push((row.id, mendable(refusal)?));
            }
        }
        if refused.is_empty() {
            Ok(there.len() as u64)
        } else {
            Err(Failed::Refused(refused))
        }
    }

    /// What somebody else has changed since the list was shown. The list that is shown again has the new values to compare with, so
    /// whoever saves it once more means it.
    fn meanwhile(&self, record: &Record, row: &Row) -> FieldErrors {
        let mut errors = FieldErrors::default();
        for compared in &row.compared {
            let now = one_line(&record.fact(compared.field).typed(self.locale));
            if compared.overwrites(&now) {
                let told = meanwhile::told(self.locale, Place::List, &now);
                errors.add(compared.field, Message::translated(told));
            }
        }
        errors
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
