//! What the layout of a page needs: language, colours, assets, and which page is open.

use axum::extract::{FromRef, FromRequestParts};
use http::Uri;
use http::request::Parts;
use http::uri::PathAndQuery;

use crate::assets::Assets;
use crate::locale::{Locale, Theme, without};
use crate::request_id::RequestId;

/// The frame of one page for one reader. An extractor, for routers whose state gives [`Assets`].
#[derive(Clone, Debug)]
pub struct Layout {
    /// The reader's language.
    pub locale: Locale,
    /// The reader's colour scheme.
    pub theme: Theme,
    /// The path of the page, with its query: where a change of language comes back to.
    pub path: String,
    /// The request's id, for error pages.
    pub request_id: String,
    assets: Assets,
}

impl Layout {
    pub(crate) fn new(
        locale: Locale,
        theme: Theme,
        uri: &Uri,
        request_id: Option<&RequestId>,
        assets: Assets,
    ) -> Self {
        let request_id = request_id.map(RequestId::as_str).unwrap_or_default();
        Self {
            locale,
            theme,
            path: uri
                .path_and_query()
                .map_or("/", PathAndQuery::as_str)
                .to_owned(),
            request_id: request_id.to_owned(),
            assets,
        }
    }

    /// The address of the first page of this list.
    pub fn first_page(&self) -> String {
        without(&self.path, "page")
    }

    /// The language tag for the `lang` attribute.
    pub fn lang(&self) -> &'static str {
        self.locale.tag()
    }

    /// The address of an asset, by its name in the assets folder.
    pub fn asset(&self, name: &str) -> String {
        self.assets.url(name)
    }

    /// The address of a script module that imports its neighbours.
    pub fn asset_module(&self, name: &str) -> String {
        self.assets.module(name)
    }

    /// One of two texts, by the reader's language.
    pub fn text<'a>(&self, portuguese: &'a str, english: &'a str) -> &'a str {
        self.locale.text(portuguese, english)
    }
}

impl<S> FromRequestParts<S> for Layout
where
    Assets: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self::new(
            Locale::of(&parts.headers, &parts.uri),
            Theme::of(&parts.headers),
            &parts.uri,
            parts.extensions.get(),
            Assets::from_ref(state),
        ))
    }
}
