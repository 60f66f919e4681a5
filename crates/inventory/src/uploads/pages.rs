//! The pages of imports: preview, confirmation and undo. `choose` chooses and checks a file.

use askama::Template;
use axum::middleware::from_fn_with_state;
use http::{HeaderValue, StatusCode, header};
use web::limits;

use super::{
    Upload, UploadState,
    choose::{self, FormChoices},
};
use crate::{
    access::{Model, Verb},
    page::{
        Form, FormSubmission, Frame, PageResult,
        flash::{self, Flash},
        list_page,
        routes::{PageRouter, get, post_from},
        see_other,
    },
    rest::{RecordId, Refusal, query::Parameters},
    transfer::{FileKind, column, sheet::separator},
};

/// The maximum size of a file, in bytes. The command line accepts larger files.
pub(crate) const MAX_FILE: usize = 4 * 1024 * 1024;
/// The number of rows in the preview.
const SHOWN: usize = 10;

/// The routes at `/import/`. The upload has its own size limit for the body.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .route("/import/", get(choose::show).post(choose::upload))
        .route("/import/template/", get(template))
        .route("/import/{id}/", get(show))
        .route("/import/{id}/confirm/", post_from("../", confirm))
        .route("/import/{id}/undo/", post_from("../", undo))
        .map(|routes| routes.layer(from_fn_with_state(MAX_FILE + 64 * 1024, limits::body)))
}

/// An empty file with the columns of a new record, for a spreadsheet in the user's language.
async fn template(frame: Frame, parameters: Parameters) -> PageResult {
    let resource = parameters.get("resource").unwrap_or("products");
    let resource: FileKind = resource.parse().map_err(|_| Refusal::NotFound)?;
    frame.require(Verb::Add, resource.model())?;
    let columns = column::template(resource, frame.locale);
    Ok(list_page::file_of_rows(
        &frame,
        resource.name(),
        &columns,
        [],
    ))
}

#[derive(Template)]
#[template(path = "transfer/upload.html")]
struct UploadPage<'a> {
    frame: &'a Frame,
    file: &'a Upload,
    resource: String,
    added: String,
    so_far: String,
    rows: Vec<Vec<String>>,
    may_undo: bool,
    /// The URL of the list of records.
    list: String,
    /// Why the import cannot be undone.
    problem: &'a str,
}

fn page<'a>(frame: &'a Frame, file: &'a Upload, content: &str, problem: &'a str) -> UploadPage<'a> {
    UploadPage {
        resource: file.resource.words().title(frame.locale),
        added: frame.locale.number(file.added),
        so_far: frame.locale.number(file.so_far),
        rows: rows(content),
        may_undo: file.state == UploadState::Done && may_undo(frame, file),
        list: format!("/{}/", file.resource.name()),
        frame,
        file,
        problem,
    }
}

/// The models of the records that undoing an import deletes.
fn deleted_models(file: &Upload) -> impl Iterator<Item = Model> {
    let names = file.new_names.iter().map(|new| new.kind.model());
    std::iter::once(file.resource.model()).chain(names)
}

fn may_undo(frame: &Frame, file: &Upload) -> bool {
    deleted_models(file).all(|model| frame.may(Verb::Delete, model))
}

/// The header and the first rows of a file.
fn rows(content: &str) -> Vec<Vec<String>> {
    let content = content.trim_start_matches('\u{feff}');
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator(content.as_bytes()))
        .has_headers(false)
        .flexible(true)
        .from_reader(content.as_bytes());
    let short = |cell: &str| -> String { cell.chars().take(60).collect() };
    reader
        .records()
        .filter_map(Result::ok)
        .take(SHOWN + 1)
        .map(|record| record.iter().map(short).collect())
        .collect()
}

/// An uploaded file, for users who may add such records.
async fn find(frame: &Frame, id: RecordId) -> Result<(Upload, String), Refusal> {
    let found = super::find(&frame.state, id.known()?).await?;
    let (file, content) = found.ok_or(Refusal::NotFound)?;
    frame.require(Verb::Add, file.resource.model())?;
    Ok((file, content.unwrap_or_default()))
}

async fn show(frame: Frame, id: RecordId) -> PageResult {
    let (file, content) = find(&frame, id).await?;
    let is_under_way = file.state.is_under_way();
    let problem = file.problem.as_ref().filter(|_| !is_under_way);
    let problem = problem.map_or("", |problem| problem.text(frame.locale));
    let mut response = frame.show(page(&frame, &file, &content, problem));
    if is_under_way {
        // The browser reloads the page until the import has ended.
        let wait = HeaderValue::from_static("2");
        response.headers_mut().insert(header::REFRESH, wait);
    }
    Ok(response)
}

async fn confirm(frame: Frame, id: RecordId, _: FormSubmission) -> PageResult {
    let (file, content) = find(&frame, id).await?;
    let address = format!("/import/{}/", file.id);
    if file.state != UploadState::Checked {
        return Ok(see_other(&address));
    }
    match super::confirm(&frame.state, &frame.caller, &file, &content).await {
        Ok(Some(report)) => {
            let added = frame.locale.number(report.added);
            let records = if report.added == 1 {
                frame.text("registro", "record")
            } else {
                frame.text("registros", "records")
            };
            let text = format!(
                "{}: {added} {records}.",
                frame.text("Importado", "Imported")
            );
            let mut flash = Flash::success(text);
            if may_undo(&frame, &file) {
                flash = flash.undo(format!("{address}undo/"));
            }
            Ok(flash::leave(see_other(&address), flash))
        }
        Ok(None) => Ok(see_other(&address)),
        Err(error) => {
            let chosen = FormChoices::of(&file);
            choose::refused(&frame, Form::new(), &chosen, error).await
        }
    }
}

async fn undo(frame: Frame, id: RecordId, _: FormSubmission) -> PageResult {
    let (file, _) = find(&frame, id).await?;
    for model in deleted_models(&file) {
        frame.require(Verb::Delete, model)?;
    }
    let next = see_other(&format!("/import/{}/", file.id));
    match super::undo(&frame.state, &frame.caller, &file).await {
        Ok(true) => {
            let text = frame.text("A importação foi desfeita.", "The import was undone.");
            Ok(flash::success(next, text))
        }
        Ok(false) => Ok(next),
        Err(Refusal::Conflict(reason)) => {
            let view = page(&frame, &file, "", reason.text(frame.locale));
            Ok(frame.show_with(StatusCode::CONFLICT, view))
        }
        Err(refusal) => Err(refusal),
    }
}
