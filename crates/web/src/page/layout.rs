//! What the layout of a page needs: language, colours, assets, and which page is open.

use axum::extract::{FromRef, FromRequestParts};
use http::request::Parts;

use crate::assets::Assets;
use crate::errors::Facts;
use crate::locale::{Locale, Theme};
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
    /// The request's id, for the pages that tell of a fault.
    pub request_id: String,
    assets: Assets,
}

impl Layout {
    /// The frame for the page that answers a failed request.
    pub fn of(facts: &Facts, assets: Assets) -> Self {
        Self {
            locale: facts.locale,
            theme: facts.theme,
            path: path_and_query(&facts.uri),
            request_id: facts
                .request_id
                .as_ref()
                .map(|id| id.as_str().to_owned())
                .unwrap_or_default(),
            assets,
        }
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

fn path_and_query(uri: &http::Uri) -> String {
    uri.path_and_query()
        .map_or("/", http::uri::PathAndQuery::as_str)
        .to_owned()
}

impl<S> FromRequestParts<S> for Layout
where
    Assets: FromRef<S>,
    S: Send + Sync,
{
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Self::Rejection> {
        Ok(Self {
            locale: Locale::of(&parts.headers, &parts.uri),
            theme: Theme::of(&parts.headers),
            path: path_and_query(&parts.uri),
            request_id: parts
                .extensions
                .get::<RequestId>()
                .map(|id| id.as_str().to_owned())
                .unwrap_or_default(),
            assets: Assets::from_ref(state),
        })
    }
}
