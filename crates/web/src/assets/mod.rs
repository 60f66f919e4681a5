//! Files inside the binary: styles, scripts, pictures, each under a name with the hash of its content.
//!
//! A crate derives [`rust_embed::RustEmbed`] over its `assets/` folder; a service gathers the folders it needs into one [`Assets`] and puts its
//! [`Assets::routes`] on its router. The files themselves belong to the crates; [`Shared`] are those of this one.

mod content_type;
mod serve;
mod store;

use std::fmt::Write;
use std::sync::Arc;

use axum::Router;
use rust_embed::RustEmbed;

use store::Store;

/// The assets that every service uses: the style sheet and its companions.
#[derive(RustEmbed)]
#[folder = "assets/"]
#[exclude = "vendor/*"]
pub struct Shared;

/// The path under which assets are served.
pub const PATH: &str = "/assets/";

/// All assets of one service. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Assets(Arc<Store>);

impl Assets {
    /// The shared assets, and nothing else yet.
    pub fn shared() -> Self {
        Self::default().with::<Shared>()
    }

    /// Adds a crate's folder. A name that is there already is replaced.
    #[must_use]
    pub fn with<F: RustEmbed>(self) -> Self {
        let mut store = Arc::unwrap_or_clone(self.0);
        store.add::<F>();
        Self(Arc::new(store))
    }

    /// The address of a file, with its hash: `/assets/balcao-3f2a9c01d4e5.css`. The browser may keep what it finds there for ever.
    ///
    /// A name that no folder has is a mistake of ours: it is logged, and its address answers 404.
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

    /// `GET` and `HEAD` of `/assets/{name}`: with the hash in the name immutable, without it to be asked for again each time.
    pub fn routes<S: Clone + Send + Sync + 'static>(&self) -> Router<S> {
        serve::routes(self.clone())
    }
}
