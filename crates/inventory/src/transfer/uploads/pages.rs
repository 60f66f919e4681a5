//! The pages of imports: upload a file, see what it would add or everything that is wrong with it, confirm, and undo.

use askama::Template;
use axum::{
    body::Bytes,
    extract::{Request, State as Extracted},
    middleware::from_fn_with_state,
    response::Response,
};
use http::{HeaderValue, StatusCode, header};
use web::{
    cookie::HostOnly,
    limits,
    rate::{Key, Period, Rate},
};

use super::{
    super::{ImportError, Problem, Report, Resource, column, encoding::decode, sheet::separator},
    NewUpload, Upload, UploadState, multipart,
};
use crate::{
    accounts::{
        Verb, csrf,
        session::{self, visits::Visit},
    },
    page::{
        Form, Frame, PageState, Post,
        flash::{self, Flash},
        index,
        once::Once,
        routes::{PageRouter, get},
        see_other,
    },
    rest::{Refusal, gate, query::Parameters, resource::RecordId},
};

type Answer = Result<Response, web::Error>;
type Page = Extracted<PageState>;

/// The largest file, in bytes; the command line takes larger ones.
pub(crate) const MAX_FILE: usize = 4 * 1024 * 1024;
/// Files that one user may upload: each costs memory and a look at every row.
const FILES: Rate = Rate::new(20, Period::Minute);
/// Rows that are shown before an import.
const SHOWN: usize = 10;
/// Problems that a page tells one by one.
const TOLD: usize = 200;

/// `/import/` and what lies below it. The body of the upload has a limit of its own.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .route("/import/", get(choose).post(upload))
        .route("/import/template/", get(template))
        .route("/import/{id}/", get(show))
        .route("/import/{id}/confirm/", get(back).post(confirm))
        .route("/import/{id}/undo/", get(back).post(undo))
        .map(|routes| routes.layer(from_fn_with_state(MAX_FILE + 64 * 1024, limits::body)))
}

/// A resource that the reader may import.
struct Choice {
    value: &'static str,
    text: String,
    columns: String,
    is_chosen: bool,
}

/// An import that was made, as the list of them tells it.
struct Made {
    address: String,
    text: String,
    when: String,
    is_undone: bool,
}

#[derive(Template)]
#[template(path = "transfer/choose.html")]
struct ChoosePage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    choices: Vec<Choice>,
    made: Vec<Made>,
    problems: &'a [Problem],
    /// Problems that are not told one by one.
    more: usize,
}

impl ChoosePage<'_> {
    fn column(&self, problem: &Problem) -> &'static str {
        problem
            .column
            .map_or("–", |column| column::label(column, self.frame.locale))
    }

    fn said<'problem>(&self, problem: &'problem Problem) -> &'problem str {
        problem.message.text(self.frame.locale)
    }
}

fn choices(frame: &Frame, chosen: &str) -> Vec<Choice> {
    Resource::all()
        .filter(|resource| frame.may(Verb::Add, resource.model()))
        .map(|resource| Choice {
            value: resource.name(),
            text: resource.words().title(frame.locale),
            columns: resource.columns(frame.locale).join(", "),
            is_chosen: resource.name() == chosen,
        })
        .collect()
}

async fn made(page: &PageState, frame: &Frame) -> Result<Vec<Made>, Refusal> {
    let locale = frame.locale;
    Ok(super::latest(&page.state)
        .await?
        .into_iter()
        .map(|file| Made {
            address: format!("/import/{}/", file.id),
            text: format!(
                "{} · {} ({}) · {}",
                file.file_name,
                file.resource.words().title(locale),
                locale.number(file.added),
                file.user
            ),
            when: locale.date_time(file.created_at),
            is_undone: file.state == UploadState::Undone,
        })
        .collect())
}

/// Whoever may add nothing at all is told so, of products as the usual case.
fn admit(frame: &Frame) -> Result<(), Refusal> {
    let may = |resource: Resource| frame.may(Verb::Add, resource.model());
    if Resource::all().any(may) {
        return Ok(());
    }
    frame.require(Verb::Add, Resource::Products.model())
}

async fn choose(Extracted(page): Page, frame: Frame, request: Request) -> Answer {
    admit(&frame)?;
    let query = Parameters::parse(request.uri().query().unwrap_or_default());
    let chosen = query.get("resource").unwrap_or("products").to_owned();
    Ok(frame.show(ChoosePage {
        choices: choices(&frame, &chosen),
        made: made(&page, &frame).await?,
        frame: &frame,
        form: &Form::new(),
        problems: &[],
        more: 0,
    }))
}

/// An empty file of a resource, with the columns of a new record, for a spreadsheet of the reader's language.
async fn template(frame: Frame, request: Request) -> Answer {
    let query = Parameters::parse(request.uri().query().unwrap_or_default());
    let resource = query.get("resource").unwrap_or("products");
    let resource: Resource = resource.parse().map_err(|_| Refusal::NotFound)?;
    frame.require(Verb::Add, resource.model())?;
    Ok(index::empty_file(
        &frame,
        resource.name(),
        &column::template(resource, frame.locale),
    ))
}

async fn upload(Extracted(page): Page, frame: Frame, request: Request) -> Answer {
    let key = Key::new("inventory:uploads", frame.caller.id.to_string());
    gate::take(&page.state, &key, &FILES.into()).await?;
    let (chosen, sent) = receive(&frame, request).await?;
    let mut form = Form::new();
    let sent = match sent {
        Ok(sent) => sent,
        Err((field, message)) => {
            form.complain(field, message);
            return again(&page, &frame, form, &chosen, &Report::default()).await;
        }
    };
    frame.require(Verb::Add, sent.resource.model())?;
    let added = match super::check(&page.state, &frame.caller, &sent).await {
        Ok(added) => added,
        Err(error) => return refused(&page, &frame, form, &chosen, error).await,
    };
    match super::keep(&page.state, &frame.caller, sent, added).await {
        Ok(id) => Ok(see_other(&format!("/import/{id}/"))),
        Err(refusal) => {
            form.take(refusal, frame.locale)?;
            again(&page, &frame, form, &chosen, &Report::default()).await
        }
    }
}

/// Shows again what is wrong with a file; faults of the store are not the file's.
async fn refused(
    page: &PageState,
    frame: &Frame,
    mut form: Form,
    chosen: &str,
    error: ImportError,
) -> Answer {
    let report = match error {
        ImportError::Rows(report) => {
            let count = i64::try_from(report.problem_count).unwrap_or(i64::MAX);
            form.problem = format!(
                "{}: {}. {}",
                frame.text("Problemas no arquivo", "Problems in the file"),
                frame.locale.number(count),
                frame.text("Nada foi importado.", "Nothing was imported.")
            );
            report
        }
        ImportError::Format(message) => {
            form.complain("file", message.text(frame.locale));
            Report::default()
        }
        ImportError::File(error) => return Err(web::Error::internal(error)),
        ImportError::Database(error) => return Err(Refusal::Database(error).into()),
        ImportError::Busy => {
            super::BUSY.text(frame.locale).clone_into(&mut form.problem);
            Report::default()
        }
    };
    again(page, frame, form, chosen, &report).await
}

async fn again(
    page: &PageState,
    frame: &Frame,
    form: Form,
    chosen: &str,
    report: &Report,
) -> Answer {
    let problems = report.problems.get(..TOLD).unwrap_or(&report.problems);
    let count = usize::try_from(report.problem_count).unwrap_or(usize::MAX);
    Ok(frame.show_again(ChoosePage {
        choices: choices(frame, chosen),
        made: made(page, frame).await?,
        frame,
        form: &form,
        problems,
        more: count.saturating_sub(problems.len()),
    }))
}

/// What is wrong with what was sent: the field, and the words.
type Wrong = (&'static str, String);

/// Reads the form with its file, which must be one of ours; the chosen resource, and the file.
async fn receive(
    frame: &Frame,
    request: Request,
) -> Result<(String, Result<NewUpload, Wrong>), Refusal> {
    let (parts, body) = request.into_parts();
    csrf::check_origin(&parts)?;
    let form = multipart::read(Request::from_parts(parts.clone(), body))
        .await
        .map_err(|error| {
            let status = StatusCode::PAYLOAD_TOO_LARGE;
            web::Error::new(status, "Payload Too Large").cause(error)
        })?;
    let text =
        |field: Option<Bytes>| String::from_utf8_lossy(&field.unwrap_or_default()).into_owned();
    let token = text(form.token);
    let once = text(form.once);
    let visit = Visit::of(&parts.extensions);
    let sent_token = (!token.is_empty()).then_some(csrf::Sent::Field(&token));
    session::check_token(visit.0.as_deref(), HostOnly::of(&parts), sent_token)?;
    let chosen = text(form.resource);
    let wrong =
        |field, portuguese, english| Err((field, frame.text(portuguese, english).to_owned()));
    let Ok(resource) = chosen.parse::<Resource>() else {
        return Ok((
            chosen,
            wrong(
                "resource",
                "Escolha o que o arquivo contém.",
                "Choose what the file holds.",
            ),
        ));
    };
    let Some(file) = form.file.filter(|file| !file.is_empty()) else {
        return Ok((
            chosen,
            wrong("file", "Escolha um arquivo.", "Choose a file."),
        ));
    };
    let content = match decode(&file) {
        Some(content) if !content.contains('\0') => content,
        _ => {
            let (portuguese, english) = (
                "O arquivo não está em UTF-8. Salve a planilha como “CSV UTF-8”.",
                "The file is not in UTF-8. Save the spreadsheet as “CSV UTF-8”.",
            );
            return Ok((chosen, wrong("file", portuguese, english)));
        }
    };
    let sent = NewUpload {
        once: Once::with(&once, &format!("{chosen}\n{content}")),
        resource,
        file_name: form
            .file_name
            .chars()
            .filter(|character| !character.is_control())
            .take(200)
            .collect(),
        content,
    };
    Ok((chosen, Ok(sent)))
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
    /// Where the records are.
    list: String,
    /// Why it cannot be taken back.
    problem: &'a str,
}

impl UploadPage<'_> {
    fn is_waiting(&self) -> bool {
        self.file.state == UploadState::Checked
    }

    fn is_under_way(&self) -> bool {
        self.file.state.is_under_way()
    }

    fn is_undone(&self) -> bool {
        self.file.state == UploadState::Undone
    }
}

fn page<'a>(frame: &'a Frame, file: &'a Upload, content: &str, problem: &'a str) -> UploadPage<'a> {
    UploadPage {
        resource: file.resource.words().title(frame.locale),
        added: frame.locale.number(file.added),
        so_far: frame.locale.number(file.so_far),
        rows: rows(content),
        may_undo: frame.may(Verb::Delete, file.resource.model()) && file.state == UploadState::Done,
        list: format!("/{}/", file.resource.name()),
        frame,
        file,
        problem,
    }
}

/// The first rows of a file, its columns' names before them.
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

/// A file, for those who may add such records.
async fn find(
    page: &PageState,
    frame: &Frame,
    RecordId(id): RecordId,
) -> Result<(Upload, String), Refusal> {
    let id = id.ok_or(Refusal::NotFound)?;
    let (file, content) = super::find(&page.state, id)
        .await?
        .ok_or(Refusal::NotFound)?;
    frame.require(Verb::Add, file.resource.model())?;
    Ok((file, content.unwrap_or_default()))
}

async fn show(Extracted(state): Page, frame: Frame, id: RecordId) -> Answer {
    let (file, content) = find(&state, &frame, id).await?;
    let is_under_way = file.state.is_under_way();
    let problem = file.problem.as_ref().filter(|_| !is_under_way);
    let problem = problem.map_or("", |problem| problem.text(frame.locale));
    let mut response = frame.show(page(&frame, &file, &content, problem));
    if is_under_way {
        // Browsers ask again until it has ended.
        let wait = HeaderValue::from_static("2");
        response.headers_mut().insert(header::REFRESH, wait);
    }
    Ok(response)
}

/// These addresses only take forms; whoever comes by a link is led to the import.
async fn back(frame: Frame) -> Response {
    let (address, _) = frame
        .address()
        .trim_end_matches('/')
        .rsplit_once('/')
        .unwrap_or_default();
    see_other(&format!("{address}/"))
}

async fn confirm(Extracted(state): Page, frame: Frame, id: RecordId, request: Request) -> Answer {
    let (file, content) = find(&state, &frame, id).await?;
    let (parts, body) = request.into_parts();
    Post::read(&state.state, &parts, body).await?;
    let address = format!("/import/{}/", file.id);
    if file.state != UploadState::Checked {
        return Ok(see_other(&address));
    }
    match super::confirm(&state.state, &frame.caller, &file, &content).await {
        Ok(Some(report)) => {
            let added = frame
                .locale
                .number(i64::try_from(report.added).unwrap_or(i64::MAX));
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
            if frame.may(Verb::Delete, file.resource.model()) {
                flash = flash.undo(format!("{address}undo/"));
            }
            Ok(flash::leave(see_other(&address), flash))
        }
        Ok(None) => Ok(see_other(&address)),
        Err(error) => refused(&state, &frame, Form::new(), file.resource.name(), error).await,
    }
}

async fn undo(Extracted(state): Page, frame: Frame, id: RecordId, request: Request) -> Answer {
    let (file, _) = find(&state, &frame, id).await?;
    frame.require(Verb::Delete, file.resource.model())?;
    let (parts, body) = request.into_parts();
    Post::read(&state.state, &parts, body).await?;
    let next = see_other(&format!("/import/{}/", file.id));
    match super::undo(&state.state, &frame.caller, &file).await {
        Ok(true) => {
            let text = frame.text("A importação foi desfeita.", "The import was undone.");
            Ok(flash::leave(next, Flash::success(text)))
        }
        Ok(false) => Ok(next),
        Err(Refusal::Conflict(reason)) => {
            let shown = page(&frame, &file, "", reason.text(frame.locale));
            Ok(frame.show_with(StatusCode::CONFLICT, shown))
        }
        Err(refusal) => Err(refusal.into()),
    }
}
