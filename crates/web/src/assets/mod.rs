//! Files inside the binary: styles, scripts, pictures, each under a name with the hash of its
//! content.
//!
//! A crate derives [`rust_embed::RustEmbed`] over its `assets/` folder; a service gathers the
//! folders it needs into one [`Assets`] and puts its [`Assets::routes`] on its router. The files
//! themselves belong to the crates; [`Shared`] are those of this one.

mod content_type;
mod serve;
mod store;

use std::fmt::Write;
use std::sync::Arc;

use axum::Router;
use rust_embed::RustEmbed;

use store::Store;

/// The assets that every service uses: the style sheet, its fonts and scripts, and the styles of
/// the documents' viewers.
#[derive(RustEmbed)]
#[folder = "assets/"]
#[exclude = "vendor/*"]
pub struct Shared;

/// The parts of the style sheet, by subject. They are served as one file, so that a page waits for
/// one only.
const STYLES: &[&str] = &[
    "css/tokens.css",
    "css/base.css",
    "css/buttons.css",
    "css/forms.css",
    "css/pickers.css",
    "css/feedback.css",
    "css/data.css",
    "css/lists.css",
    "css/record.css",
    "css/charts.css",
    "css/shell.css",
    "css/print.css",
];

/// The path under which assets are served.
pub const PATH: &str = "/assets/";

/// All assets of one service. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Assets(Arc<Store>);

impl Assets {
    /// The shared assets, and nothing else yet.
    pub fn shared() -> Self {
        let mut store = Store::default();
        store.add::<Shared>();
        // Pages with styles of their own, such as the documents, use only our colours and sizes.
        store.add_alias("css/tokens.css", "tokens.css");
        store.join("balcao.css", STYLES);
        Self(Arc::new(store))
    }

    /// Adds a crate's folder. A name that is there already is replaced.
    #[must_use]
    pub fn with<F: RustEmbed>(self) -> Self {
        let mut store = Arc::unwrap_or_clone(self.0);
        store.add::<F>();
        Self(Arc::new(store))
    }

    /// Adds a picture that is not ours, such as a shop's logo. Opened by itself it runs nothing.
    #[must_use]
    pub fn with_picture(self, name: &str, content: Vec<u8>) -> Self {
        let mut store = Arc::unwrap_or_clone(self.0);
        store.add_picture(name, content);
        Self(Arc::new(store))
    }

    /// The address of a file, with its hash: `/assets/balcao-3f2a9c01d4e5.css`. The browser may
    /// keep what it finds there for ever.
    ///
    /// A name that no folder has is a bug: it is logged, and its address answers 404.
    pub fn url(&self, name: &str) -> String {
        let Some(file) = self.0.file(name) else {
            tracing::error!(name, "no such asset");
            return format!("{PATH}{name}");
        };
        let mut url = String::with_capacity(PATH.len() + name.len() + 13);
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        // Writing to a string does not fail.
        let _ = write!(url, "{PATH}{stem}-{}.{extension}", file.hash());
        url
    }

    /// The address of a script module: `/assets/9c01d4e53f2a/checkout.js`, in a folder whose name
    /// is the hash of all files together.
    ///
    /// The modules that it imports (`./masks.js`) are in the same folder under plain names, so they
    /// have the same version and can be cached for ever.
    pub fn module(&self, name: &str) -> String {
        if self.0.file(name).is_none() {
            tracing::error!(name, "no such asset");
        }
        format!("{PATH}{}/{name}", self.0.set())
    }

    /// `GET` and `HEAD` of `/assets/{name}`: immutable with the hash in the name, revalidated each
    /// time without.
    pub fn routes<S: Clone + Send + Sync + 'static>(&self) -> Router<S> {
        serve::routes(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(assets: &Assets, address: &str) -> Option<(String, bool)> {
        let name = address.strip_prefix(PATH)?;
        let (file, is_for_ever) = assets.0.find(name)?;
        let content = String::from_utf8(file.content().to_vec()).ok()?;
        Some((content, is_for_ever))
    }

    #[test]
    fn the_style_sheet_is_one_file_of_all_its_parts() {
        let assets = Assets::shared();
        let (styles, is_for_ever) = content(&assets, &assets.url("balcao.css")).unwrap();
        assert!(is_for_ever);
        for part in [
            ":root",
            ".button",
            ".field",
            ".badge",
            ".index-table",
            ".shell",
            "@media print",
        ] {
            assert!(styles.contains(part), "{part}");
        }
        assert_eq!(content(&assets, "/assets/css/tokens.css"), None);
    }

    #[test]
    fn a_module_finds_its_neighbours_in_the_same_version() {
        let assets = Assets::shared();
        let address = assets.module("preferences.js");
        let neighbour = address.replace("preferences.js", "favicon.svg");
        assert!(content(&assets, &neighbour).unwrap().1);
        let other_version = neighbour.replacen(assets.0.set(), "0123456789ab", 1);
        assert_eq!(content(&assets, &other_version), None);
    }
}
