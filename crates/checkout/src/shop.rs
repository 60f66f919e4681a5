//! The shop as its pages and mails show it. Pure: `balcao` reads the file of the logo.

use std::fmt;

/// The namespace that every SVG image must name. Browsers do not show one without it.
const SVG: &str = "http://www.w3.org/2000/svg";

/// The shop whose page it is.
#[derive(Clone, Debug)]
pub struct Shop {
    /// The name that buyers know.
    pub name: String,
    /// The shop's contact (an address, a number), shown unchanged.
    pub contact: Option<String>,
    /// The shop's logo.
    pub logo: Option<Logo>,
    /// Whether the provider is the sandbox, so that no real money is paid.
    pub is_test: bool,
}

impl Default for Shop {
    fn default() -> Self {
        Self {
            name: "Balcão".to_owned(),
            contact: None,
            logo: None,
            is_test: false,
        }
    }
}

/// An image of a format that every browser shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Logo {
    name: &'static str,
    content: Vec<u8>,
}

/// Why a file cannot be used as a logo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LogoError {
    /// Larger than [`Logo::MAX_BYTES`], which every visitor would have to load.
    #[error("larger than 256 KiB")]
    TooLarge,
    /// The format is unknown.
    #[error("no PNG, WebP or SVG picture")]
    Format,
}

impl Logo {
    /// The largest logo, in bytes.
    pub const MAX_BYTES: usize = 256 * 1024;

    /// Takes the content of an image file. The content determines the format.
    pub fn new(content: Vec<u8>) -> Result<Self, LogoError> {
        if content.len() > Self::MAX_BYTES {
            return Err(LogoError::TooLarge);
        }
        let name = if content.starts_with(b"\x89PNG\r\n\x1a\n") {
            "shop-logo.png"
        } else if content.starts_with(b"RIFF") && content.get(8..12) == Some(b"WEBP") {
            "shop-logo.webp"
        } else if str::from_utf8(&content).is_ok_and(is_svg) {
            "shop-logo.svg"
        } else {
            return Err(LogoError::Format);
        };
        Ok(Self { name, content })
    }

    /// Its file name among the assets.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Its bytes.
    pub fn content(&self) -> &[u8] {
        &self.content
    }
}

impl fmt::Debug for Logo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Logo").field(&self.name).finish()
    }
}

/// Whether the text begins like an SVG image: declaration, comments, `<svg>`.
fn is_svg(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    loop {
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") {
            "?>"
        } else if rest.starts_with("<!") {
            ">"
        } else {
            return rest.starts_with("<svg") && rest.contains(SVG);
        };
        let Some((_, after)) = rest.split_once(end) else {
            return false;
        };
        rest = after.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(content: &[u8]) -> Option<&'static str> {
        Logo::new(content.to_vec()).ok().map(|logo| logo.name())
    }

    #[test]
    fn a_logo_is_known_by_its_content() {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1 1\"/>";
        assert_eq!(name(svg.as_bytes()), Some("shop-logo.svg"));
        let doctype = "<!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"svg11.dtd\">";
        let drawn = format!("\u{feff}<?xml version=\"1.0\"?>\n<!-- a > b -->\n{doctype}\n{svg}");
        assert_eq!(name(drawn.as_bytes()), Some("shop-logo.svg"));
        assert_eq!(name(b"\x89PNG\r\n\x1a\n\0"), Some("shop-logo.png"));
        assert_eq!(name(b"RIFF\x10\0\0\0WEBPVP8 "), Some("shop-logo.webp"));
    }

    #[test]
    fn what_no_page_can_show_is_no_logo() {
        let page = format!("<!doctype html><html><svg xmlns=\"{SVG}\"/></html>");
        for content in ["", "<svg viewBox=\"0 0 1 1\"/>", "<!-- ", "GIF89a", &page] {
            assert_eq!(name(content.as_bytes()), None, "{content}");
        }
        let mut large = b"\x89PNG\r\n\x1a\n".to_vec();
        large.resize(Logo::MAX_BYTES, 0);
        assert_eq!(name(&large), Some("shop-logo.png"));
        large.push(0);
        assert_eq!(name(&large), None);
    }
}
