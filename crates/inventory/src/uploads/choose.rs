//! The page to choose a file: its resource, the file itself, and the problems that were found in
//! it. A corrected file is chosen there again, with the previous choices kept.

use askama::Template;
use axum::extract::Request;
use http::StatusCode;
use resource::{Field, text};
use web::{
    cookie::HostOnly,
    rate::{Key, Period, Rate},
};

use super::{
    NewUpload, Upload, UploadState,
    multipart::{self, UploadForm},
};
use crate::{
    State,
    access::Verb,
    accounts::{csrf, session},
    api::gate,
    page::{
        Form, Frame, PageResult,
        form_token::{FormToken, TOKEN},
        see_other,
        visits::Visit,
    },
    rest::{Refusal, query::Parameters},
    transfer::{FileKind, ImportError, Problem, Report, column, encoding::decode, missing},
};

/// The rate limit of uploads per user. Each one costs memory and a lookup for every row.
const FILES: Rate = Rate::new(20, Period::Minute);
const RESOURCE: &Field = &text::<String>("Conteúdo", "Contents", 20).named("resource");
const FILE: &Field = &text::<String>("Arquivo", "File", MAX_FILE_NAME).named("file");
/// The most problems that the page lists.
const MOST_SHOWN: usize = 200;

/// The maximum length of a stored file name, in characters.
const MAX_FILE_NAME: usize = 200;

#[derive(Template)]
#[template(path = "transfer/choose.html")]
struct ChoosePage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    /// The resources that the user may import.
    choices: Vec<FileKind>,
    chosen: &'a FormChoices,
    may_create_names: bool,
    /// The latest imports.
    imports: Vec<Upload>,
    problems: &'a [Problem],
    /// The number of problems that are not listed.
    more: usize,
}

/// The fields of the form besides the file.
#[derive(Debug, Default)]
pub(super) struct FormChoices {
    /// The resource, as it was sent.
    resource: String,
    /// Whether missing categories and brands are created.
    creates_names: bool,
    file_name: String,
}

impl FormChoices {
    /// The choices with which a file was checked.
    pub(super) fn of(file: &Upload) -> Self {
        Self {
            resource: file.resource.name().to_owned(),
            creates_names: !file.new_names.is_empty(),
            file_name: file.file_name.clone(),
        }
    }
}

impl ChoosePage<'_> {
    /// The name of the chosen resource.
    fn resource(&self) -> String {
        let is_chosen = |choice: &&FileKind| choice.name() == self.chosen.resource;
        let chosen = self.choices.iter().find(is_chosen);
        chosen.map_or_else(String::new, |choice| {
            choice.words().title(self.frame.locale)
        })
    }

    fn column(&self, problem: &Problem) -> &'static str {
        problem
            .column
            .map_or("–", |column| column::label(column, self.frame.locale))
    }
}

fn may_create_names(frame: &Frame) -> bool {
    frame.may(Verb::Add, FileKind::Products.model())
        && !missing::permitted(&frame.caller).is_empty()
}

/// Refuses users who may not add any records. The message names products as an example.
fn require_any_import(frame: &Frame) -> Result<(), Refusal> {
    let may = |resource: FileKind| frame.may(Verb::Add, resource.model());
    if FileKind::all().any(may) {
        return Ok(());
    }
    frame.require(Verb::Add, FileKind::Products.model())
}

pub(super) async fn show(frame: Frame, parameters: Parameters) -> PageResult {
    require_any_import(&frame)?;
    let chosen = FormChoices {
        resource: parameters.get("resource").unwrap_or("products").to_owned(),
        ..FormChoices::default()
    };
    let (form, report) = (Form::new(), Report::default());
    let view = choose_page(&frame, &form, &chosen, &report).await?;
    Ok(frame.show(view))
}

/// The page with the form, and with the problems of the file that was chosen before.
async fn choose_page<'a>(
    frame: &'a Frame,
    form: &'a Form,
    chosen: &'a FormChoices,
    report: &'a Report,
) -> Result<ChoosePage<'a>, Refusal> {
    let problems = &report.problems;
    let problems = problems.get(..MOST_SHOWN).unwrap_or(problems);
    let may_import = |resource: &FileKind| frame.may(Verb::Add, resource.model());
    let count = usize::try_from(report.problem_count).unwrap_or(usize::MAX);
    Ok(ChoosePage {
        choices: FileKind::all().filter(may_import).collect(),
        may_create_names: may_create_names(frame),
        imports: super::latest(&frame.state).await?,
        more: count.saturating_sub(problems.len()),
        frame,
        form,
        chosen,
        problems,
    })
}

pub(super) async fn upload(frame: Frame, request: Request) -> PageResult {
    let key = Key::new("inventory:uploads", frame.caller.id.to_string());
    gate::take(&frame.state, &key, &FILES.into()).await?;
    let (chosen, sent) = receive(&frame.state, request).await?;
    let mut form = Form::new();
    let upload = match new_upload(&frame, &chosen, &sent) {
        Ok(upload) => upload,
        Err((field, message)) => {
            form.complain_of(field, message);
            return show_problems(&frame, &form, &chosen, &Report::default()).await;
        }
    };
    frame.require(Verb::Add, upload.resource.model())?;
    let report = match super::check(&frame.state, &frame.caller, &upload).await {
        Ok(report) => report,
        Err(error) => return refused(&frame, form, &chosen, error).await,
    };
    match super::save(&frame.state, &frame.caller, upload, report).await {
        Ok(id) => Ok(see_other(&format!("/import/{id}/"))),
        Err(refusal) => {
            form.take(refusal, frame.locale)?;
            show_problems(&frame, &form, &chosen, &Report::default()).await
        }
    }
}

/// Shows the form again with the problems of a file, or returns a failure of the database.
pub(super) async fn refused(
    frame: &Frame,
    mut form: Form,
    chosen: &FormChoices,
    error: ImportError,
) -> PageResult {
    let report = match error {
        ImportError::Rows(report) => {
            form.problem = format!(
                "{}: {}. {}",
                frame.text("Problemas no arquivo", "Problems in the file"),
                frame.locale.number(report.problem_count),
                frame.text(
                    "Nada foi importado. Corrija o arquivo e escolha-o de novo abaixo; as outras escolhas continuam valendo.",
                    "Nothing was imported. Correct the file and choose it again below; your other choices are kept."
                )
            );
            report
        }
        ImportError::Format(message) => {
            form.complain_of(FILE, message.text(frame.locale));
            Report::default()
        }
        ImportError::File(error) => return Err(web::Error::internal(error).into()),
        ImportError::Database(error) => return Err(Refusal::Database(error)),
        ImportError::Busy => {
            super::BUSY.text(frame.locale).clone_into(&mut form.problem);
            Report::default()
        }
    };
    show_problems(frame, &form, chosen, &report).await
}

async fn show_problems(
    frame: &Frame,
    form: &Form,
    chosen: &FormChoices,
    report: &Report,
) -> PageResult {
    let view = choose_page(frame, form, chosen, report).await?;
    Ok(frame.show_again(view))
}

/// Reads the form and checks its tokens. Returns the choices, and the form with the file.
async fn receive(state: &State, request: Request) -> Result<(FormChoices, UploadForm), Refusal> {
    let (parts, body) = request.into_parts();
    csrf::check_origin(&parts)?;
    let form = multipart::read(Request::from_parts(parts.clone(), body))
        .await
        .map_err(|error| {
            let status = StatusCode::PAYLOAD_TOO_LARGE;
            web::Error::new(status, "Payload Too Large").cause(error)
        })?;
    let token = form.text(csrf::FIELD);
    let visit = Visit::of(&parts.extensions);
    if !visit.is_current(state, &parts).await? {
        return Err(Refusal::forbidden());
    }
    let sent_token = (!token.is_empty()).then_some(csrf::SubmittedToken::Field(&token));
    session::check_token(visit.0.as_deref(), HostOnly::of(&parts), sent_token)?;
    let characters = form.file_name.chars();
    let chosen = FormChoices {
        resource: form.text("resource"),
        creates_names: form.fields.contains_key("create_names"),
        file_name: characters
            .filter(|character| !character.is_control())
            .take(MAX_FILE_NAME)
            .collect(),
    };
    Ok((chosen, form))
}

/// The file to check, or the form field with an error and its message.
fn new_upload(
    frame: &Frame,
    chosen: &FormChoices,
    form: &UploadForm,
) -> Result<NewUpload, (&'static Field, &'static str)> {
    let resource: FileKind = chosen.resource.parse().map_err(|_| {
        let message = frame.text(
            "Escolha o que o arquivo contém.",
            "Choose what the file contains.",
        );
        (RESOURCE, message)
    })?;
    let file = form.fields.get(FILE.name).filter(|file| !file.is_empty());
    let file = file.ok_or_else(|| {
        let message = if chosen.file_name.is_empty() {
            frame.text("Escolha um arquivo.", "Choose a file.")
        } else {
            frame.text("O arquivo está vazio.", "The file is empty.")
        };
        (FILE, message)
    })?;
    let content = decode(file).filter(|content| !content.contains('\0'));
    let content = content.ok_or_else(|| {
        let message = frame.text(
            "O arquivo não está em UTF-8. Salve a planilha como “CSV UTF-8”.",
            "The file is not in UTF-8. Save the spreadsheet as “CSV UTF-8”.",
        );
        (FILE, message)
    })?;
    let creates_names = chosen.creates_names;
    let fingerprint = format!("{}\n{creates_names}\n{content}", chosen.resource);
    Ok(NewUpload {
        once: FormToken::with(&form.text(TOKEN), &fingerprint),
        resource,
        file_name: chosen.file_name.clone(),
        content,
        creates_names,
    })
}
