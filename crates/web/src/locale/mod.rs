//! The visitor's language and colour scheme, and numbers, money and dates as people read them.
//!
//! A choice is made with `?lang=`, or by the form that posts to [`routes`], and remembered in a
//! cookie. Without one the browser's languages decide, and without those it is Brazilian
//! Portuguese. Texts of APIs are never translated, because the specification has them.

mod format;
mod preferences;

use http::header::ACCEPT_LANGUAGE;
use http::{HeaderMap, Uri};

pub use format::{in_sao_paulo, read_file_time};
pub(crate) use preferences::without;
pub use preferences::{LANGUAGE_COOKIE, THEME_COOKIE, is_own_path, remember, routes};

use crate::accept::ranges;
use crate::cookie;

/// The languages of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Locale {
    /// Brazilian Portuguese.
    #[default]
    PtBr,
    /// English.
    En,
}

/// The colour scheme of the pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// As the device prefers.
    #[default]
    Auto,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
}

impl Locale {
    /// The language for a request: `?lang=`, else the remembered choice, else `Accept-Language`,
    /// else Brazilian Portuguese.
    pub fn of(headers: &HeaderMap, uri: &Uri) -> Self {
        Self::chosen(uri)
            .or_else(|| cookie::find(headers, LANGUAGE_COOKIE).and_then(Self::parse))
            .or_else(|| Self::accepted(headers))
            .unwrap_or_default()
    }

    /// The language that the address asks for with `?lang=`.
    pub fn chosen(uri: &Uri) -> Option<Self> {
        uri.query()?
            .split('&')
            .filter_map(|pair| pair.strip_prefix("lang="))
            .find_map(Self::parse)
    }

    /// The language of a tag: `pt`, `pt-BR`, `en`, `en-GB`, in any case.
    pub fn parse(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        if primary.eq_ignore_ascii_case("pt") {
            Some(Self::PtBr)
        } else if primary.eq_ignore_ascii_case("en") {
            Some(Self::En)
        } else {
            None
        }
    }

    /// The best of `Accept-Language` (RFC 9110, 12.5.4): the greatest weight, the first among
    /// equals; `*` stands for the default.
    fn accepted(headers: &HeaderMap) -> Option<Self> {
        let mut best: Option<(u16, Self)> = None;
        for (tag, weight) in ranges(headers, ACCEPT_LANGUAGE) {
            // A range with a malformed weight is never chosen.
            let weight = weight.unwrap_or(0);
            let locale = if tag == "*" {
                Some(Self::default())
            } else {
                Self::parse(tag)
            };
            if let Some(locale) = locale
                && weight > best.map_or(0, |(weight, _)| weight)
            {
                best = Some((weight, locale));
            }
        }
        best.map(|(_, locale)| locale)
    }

    /// The tag for `lang` attributes and the cookie.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::PtBr => "pt-BR",
            Self::En => "en",
        }
    }

    /// One of two texts.
    pub const fn text<'a>(self, portuguese: &'a str, english: &'a str) -> &'a str {
        match self {
            Self::PtBr => portuguese,
            Self::En => english,
        }
    }

    /// One of two values, such as texts that contain numbers.
    pub fn choose<T>(self, portuguese: T, english: T) -> T {
        match self {
            Self::PtBr => portuguese,
            Self::En => english,
        }
    }

    /// One of a pair of texts, Portuguese and English.
    pub const fn say<'a>(self, (portuguese, english): (&'a str, &'a str)) -> &'a str {
        self.text(portuguese, english)
    }
}

impl Theme {
    /// The remembered colour scheme of a request.
    pub fn of(headers: &HeaderMap) -> Self {
        cookie::find(headers, THEME_COOKIE)
            .and_then(Self::parse)
            .unwrap_or_default()
    }

    /// The scheme of that name: `auto`, `light`, `dark`.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Auto, Self::Light, Self::Dark]
            .into_iter()
            .find(|theme| theme.name() == name)
    }

    /// The name for the `data-theme` attribute and the cookie.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::COOKIE;

    use super::*;

    fn locale(accept: &str, cookie: &str, uri: &str) -> Locale {
        let mut headers = HeaderMap::new();
        headers.insert(
            ACCEPT_LANGUAGE,
            HeaderValue::from_bytes(accept.as_bytes()).unwrap(),
        );
        headers.insert(COOKIE, HeaderValue::from_str(cookie).unwrap());
        Locale::of(&headers, &uri.parse().unwrap())
    }

    #[test]
    fn the_browsers_weights_decide_when_nothing_was_chosen() {
        let cases = [
            ("", Locale::PtBr),
            ("en", Locale::En),
            ("EN-us", Locale::En),
            ("pt-PT,en;q=0.9", Locale::PtBr),
            ("en;q=0.3, pt-BR;q=0.8", Locale::PtBr),
            ("fr-FR, en;q=0.5", Locale::En),
            ("de, *;q=0.5", Locale::PtBr),
            ("de, *;q=0.5, en;q=0.6", Locale::En),
            ("en;q=0", Locale::PtBr),
            ("en;q=2", Locale::PtBr),
            ("en;q=NaN, ;;;, =", Locale::PtBr),
            ("english", Locale::PtBr),
        ];
        for (accept, expected) in cases {
            assert_eq!(locale(accept, "", "/"), expected, "{accept:?}");
        }
    }

    #[test]
    fn the_address_beats_the_cookie_and_the_cookie_beats_the_browser() {
        assert_eq!(locale("pt", "balcao_language=en", "/"), Locale::En);
        assert_eq!(
            locale("en", "balcao_language=en", "/?a=b&lang=pt-BR"),
            Locale::PtBr
        );
        assert_eq!(locale("en", "balcao_language=xx", "/?lang=yy"), Locale::En);
    }

    #[test]
    fn the_colour_scheme_is_what_was_chosen_and_else_the_devices() {
        let theme = |cookie: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(COOKIE, HeaderValue::from_str(cookie).unwrap());
            Theme::of(&headers)
        };
        assert_eq!(theme("balcao_theme=dark"), Theme::Dark);
        assert_eq!(theme("balcao_theme=<script>"), Theme::Auto);
        assert_eq!(theme(""), Theme::Auto);
    }
}
