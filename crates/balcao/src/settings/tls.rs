//! Loads certificate and key from the files that the settings name.

use web::server::{Tls, TlsFiles};

use super::problem::{Problem, with_causes};
use super::table::Settings;

/// TLS of our own, if it is configured.
pub(crate) fn tls(settings: &Settings) -> Result<Option<Tls>, Problem> {
    let (Some(certificate), Some(key)) = (&settings.tls_cert_file, &settings.tls_key_file) else {
        return Ok(None);
    };
    let files = TlsFiles {
        certificate: certificate.clone(),
        key: key.clone(),
    };
    Tls::load(files).map(Some).map_err(|error| {
        let found = with_causes("found files that cannot be used", &error);
        Problem::new(
            "BALCAO_TLS_CERT_FILE and BALCAO_TLS_KEY_FILE",
            format!("{found}; allowed: a certificate chain and its private key, both in PEM"),
        )
    })
}
