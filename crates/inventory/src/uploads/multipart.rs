//! Reads the upload form (`multipart/form-data`, RFC 7578). The routes limit the body's size.

use std::collections::{HashMap, hash_map::Entry};

use axum::{
    body::Bytes,
    extract::{FromRequest as _, Multipart, Request, multipart::MultipartError},
};
use http::StatusCode;

/// The form. If a field is sent twice, the first one counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct UploadForm {
    /// The fields by name.
    pub(super) fields: HashMap<String, Bytes>,
    pub(super) file_name: String,
}

impl UploadForm {
    /// The text of a field; empty if it was not sent.
    pub(super) fn text(&self, name: &str) -> String {
        let field = self.fields.get(name);
        field.map_or_else(String::new, |field| {
            String::from_utf8_lossy(field).into_owned()
        })
    }
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
    let mut upload = UploadForm::default();
    while let Some(field) = form.next_field().await? {
        let Some(name) = field.name().map(str::to_owned) else {
            continue;
        };
        let Entry::Vacant(vacant) = upload.fields.entry(name) else {
            continue;
        };
        if let Some(name) = field.file_name() {
            // Browsers escape quotation marks in file names like this.
            upload.file_name = name.replace("%22", "\"");
        }
        vacant.insert(field.bytes().await?);
    }
    Ok(upload)
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
        let fields = [("resource", "brands"), ("file", "name\r\nGrão\r\n")];
        let expected = UploadForm {
            fields: fields
                .map(|(name, text)| (name.to_owned(), text.into()))
                .into(),
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
