//! The pages that save the current list as a view, rename a view and remove it. A script opens them
//! as dialogs.

use askama::Template;
use axum::response::Response;
use resource::Both;

use super::{MAX_NAME, canonical};
use crate::{
    accounts::session::SavedView,
    page::{
        Form, FormSubmission, Frame, PageResult,
        confirmation::Confirmation,
        flash, redirect,
        routes::{PageRouter, get},
        see_other,
    },
    rest::{RecordId, Refusal, query::Parameters},
};

pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .route("/views/new/", get(new).post(create))
        .route("/views/{id}/edit/", get(edit).post(rename))
        .route("/views/{id}/delete/", get(ask).post(remove))
}

const NEW_TITLE: Both = ("Salvar esta visão", "Save this view");
const EDIT_TITLE: Both = ("Renomear a visão", "Rename the view");

/// The form with the name of a view.
#[derive(Template)]
#[template(path = "views/form.html")]
struct ViewFormPage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    title: Both,
    /// The address of the list that the view shows.
    address: &'a str,
}

impl ViewFormPage<'_> {
    /// The name of the list in the navigation.
    fn list(&self) -> String {
        let places = self.frame.places().into_iter();
        let mut above = places.filter(|place| place.is_above(self.address));
        above.next().map(|place| place.text).unwrap_or_default()
    }

    fn attributes() -> String {
        format!("maxlength=\"{MAX_NAME}\" required autocomplete=\"off\"")
    }
}

async fn new(frame: Frame, parameters: Parameters) -> PageResult {
    let Some(address) = parameters.get("address").and_then(canonical) else {
        // There is no list to save.
        return Ok(redirect("/"));
    };
    Ok(frame.show(ViewFormPage {
        frame: &frame,
        form: &Form::new(),
        title: NEW_TITLE,
        address: &address,
    }))
}

async fn create(frame: Frame, post: FormSubmission) -> PageResult {
    let Some(address) = canonical(&post.text("address")) else {
        return Ok(see_other("/"));
    };
    let key = post.idempotency_key(&frame, "views");
    let saved = super::save(
        &frame.state,
        &frame.caller,
        address.clone(),
        &post.members,
        key,
    );
    match saved.await {
        Ok(view) => {
            let message = frame.text("Visão salva", "View saved");
            Ok(done(&view.address, message, &view.name))
        }
        Err(refusal) => again(&frame, post, NEW_TITLE, &address, refusal),
    }
}

fn done(address: &str, message: &str, name: &str) -> Response {
    flash::success(see_other(address), format!("{message}: {name}."))
}

fn again(
    frame: &Frame,
    post: FormSubmission,
    title: Both,
    address: &str,
    refusal: Refusal,
) -> PageResult {
    let mut form = post.form;
    form.take(refusal, frame.locale)?;
    Ok(frame.show_again(ViewFormPage {
        frame,
        form: &form,
        title,
        address,
    }))
}

/// A view of the user.
fn find(frame: &Frame, RecordId(id): RecordId) -> Result<&SavedView, Refusal> {
    let mut views = frame.views().iter();
    views
        .find(|view| Some(view.id) == id)
        .ok_or(Refusal::NotFound)
}

async fn edit(frame: Frame, id: RecordId) -> PageResult {
    let view = find(&frame, id)?;
    Ok(frame.show(ViewFormPage {
        frame: &frame,
        form: &Form::new().with("name", view.name.clone()),
        title: EDIT_TITLE,
        address: &view.address,
    }))
}

async fn rename(frame: Frame, id: RecordId, post: FormSubmission) -> PageResult {
    let view = find(&frame, id)?;
    match super::rename(&frame.state, &frame.caller, view.id, &post.members).await {
        Ok(view) => {
            let message = frame.text("Visão renomeada", "View renamed");
            Ok(done(&view.address, message, &view.name))
        }
        Err(refusal) => again(&frame, post, EDIT_TITLE, &view.address, refusal),
    }
}

async fn ask(frame: Frame, id: RecordId) -> PageResult {
    let view = find(&frame, id)?;
    let confirmation = Confirmation::new(
        (
            frame.text("Remover a visão?", "Remove the view?"),
            frame.text("Sim, remover", "Yes, remove"),
        ),
        view.name.clone(),
        frame.text(
            "Só o atalho some do menu. A lista e os registros ficam como estão.",
            "Only the shortcut in the menu is removed. The list and its records stay as they are.",
        ),
        view.address.clone(),
    );
    Ok(confirmation.show(&frame))
}

async fn remove(frame: Frame, id: RecordId, _: FormSubmission) -> PageResult {
    let view = find(&frame, id)?;
    super::remove(&frame.state, &frame.caller, view.id).await?;
    let message = frame.text("Visão removida", "View removed");
    Ok(done(&view.address, message, &view.name))
}
