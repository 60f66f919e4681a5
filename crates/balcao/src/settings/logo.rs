//! Reads the shop's logo from the file that a setting names.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use checkout::page::Logo;

use super::problem::Problem;
use super::table::Settings;

/// The logo, if one is configured.
pub(crate) fn logo(settings: &Settings) -> Result<Option<Logo>, Problem> {
    let Some(file) = &settings.checkout_shop_logo else {
        return Ok(None);
    };
    let found = match read(file) {
        Ok(content) => match Logo::new(content) {
            Ok(logo) => return Ok(Some(logo)),
            Err(error) => format!("which is {error}"),
        },
        Err(error) => format!("which cannot be read: {error}"),
    };
    Err(Problem::new(
        "BALCAO_CHECKOUT_SHOP_LOGO",
        format!(
            "found {}, {found}; allowed: a file with a PNG, WebP or SVG picture of at most 256 KiB",
            file.display()
        ),
    ))
}

/// The content, read up to one byte more than the limit, so that a larger file is noticed.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let most = u64::try_from(Logo::MAX_BYTES).unwrap_or(u64::MAX);
    let mut content = Vec::new();
    File::open(file)?.take(most + 1).read_to_end(&mut content)?;
    Ok(content)
}
