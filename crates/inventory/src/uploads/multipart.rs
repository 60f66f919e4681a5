//! Reads the upload form (`multipart/form-data`, RFC 7578). The routes limit the body's size.

use axum::{
    body::Bytes,
    extract::{FromRequest as _, Multipart, Request, multipart::MultipartError},
};
use http::StatusCode;

use crate::{accounts::csrf, page::form_token};

/// The checkbox to create missing categories and brands.
pub(super) const CREATE_NAMES: &str = "create_names";

/// The fields of the form. If a field is sent twice, the first one counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct UploadForm {
    pub(super) token: Option<Bytes>,
    pub(super) once: Option<Bytes>,
    pub(super) resource: Option<Bytes>,
    pub(super) creates_names: Option<Bytes>,
    pub(super) file: Option<Bytes>,
    pub(super) file_name: String,
}

/// Reads the form. Returns an empty form if the body does not match its content type or is cut off.
/// An error if the body cannot be read completely, for example because it is too large.
pub(super) async fn read(request: Request) -> Result<UploadForm, MultipartError> {
    let Ok(form) = Multipart::from_request(request, &()).await else {
        return Ok(UploadForm::default());
    };
    match fields(form).await {
        Err(error) if error.status() == StatusCode::BAD_REQUEST => Ok(UploadForm::default()),
        result => result,
    }
}

async fn fields(mut form: Multipart) -> Result<UploadForm, MultipartError> {
    let mut form_fields = UploadForm::default();
    while let Some(field) = form.next_field().await? {
        let slot = match field.name() {
            Some(csrf::FIELD) => &mut form_fields.token,
            Some(form_token::TOKEN) => &mut form_fields.once,
            Some("resource") => &mut form_fields.resource,
            Some(CREATE_NAMES) => &mut form_fields.creates_names,
            Some("file") => &mut form_fields.file,
            _ => continue,
        };
        if slot.is_some() {
            continue;
        }
        if let Some(name) = field.file_name() {
            // Browsers escape quotation marks in file names like this.
            form_fields.file_name = name.replace("%22", "\"");
        }
        *slot = Some(field.bytes().await?);
    }
    Ok(form_fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPE: &str = "multipart/form-data; boundary=----x";

    async fn sent(content_type: &str, body: &str) -> UploadForm {
        let request = Request::post("/").header("content-type", content_type);
        let request = request.body(body.to_owned().into()).unwrap();
        read(request).await.unwrap()
    }

    #[tokio::test]
    async fn fields_and_files_are_read_as_they_were_sent() {
        let body = "------x\r\nContent-Disposition: form-data; name=\"resource\"\r\n\r\nbrands\r\n\
                    ------x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a %22b%22.csv\"\r\n\
                    Content-Type: text/csv\r\n\r\nname\r\nGrão\r\n\r\n\
                    ------x\r\nContent-Disposition: form-data; name=\"resource\"\r\n\r\nproducts\r\n------x--\r\n";
        let expected = UploadForm {
            token: None,
            once: None,
            resource: Some("brands".into()),
            creates_names: None,
            file: Some("name\r\nGrão\r\n".into()),
            file_name: "a \"b\".csv".to_owned(),
        };
        assert_eq!(sent(TYPE, body).await, expected);
    }

    #[tokio::test]
    async fn what_is_cut_off_or_something_else_is_not_read() {
        let head = "------x\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n";
        for (content_type, body) in [
            ("text/plain", "x"),
            ("multipart/form-data", "------x--"),
            (TYPE, ""),
            (TYPE, &format!("{head}b")),
            (TYPE, &format!("{head}b\r\n------x\r\n")),
            (TYPE, "------x\r\nX: y\r\n\r\nb\r\n------x--"),
            (TYPE, "------xy"),
        ] {
            assert_eq!(
                sent(content_type, body).await,
                UploadForm::default(),
                "{body}"
            );
        }
    }
}
