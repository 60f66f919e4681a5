//! The files of a service by name, their hashes, and their compressed forms, made at the first request that takes them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use rust_embed::{EmbeddedFile, RustEmbed};

use super::content_type;

/// Hexadecimal digits of the hash in a name: 48 bits, enough to tell two versions of one file apart.
const HASH_DIGITS: usize = 12;

/// Below this many bytes compression saves less than its header costs.
const SMALLEST_COMPRESSED: usize = 1024;

#[derive(Clone, Default)]
pub(super) struct Store(BTreeMap<String, Arc<File>>);

impl Store {
    pub(super) fn add<F: RustEmbed>(&mut self) {
        for name in F::iter() {
            if let Some(file) = F::get(&name) {
                self.0
                    .insert(name.clone().into_owned(), Arc::new(File::new(&name, file)));
            }
        }
    }

    pub(super) fn file(&self, name: &str) -> Option<&Arc<File>> {
        self.0.get(name)
    }

    /// The file of an address, and whether the address carries the hash of the content.
    pub(super) fn find(&self, address: &str) -> Option<(&Arc<File>, bool)> {
        if let Some(file) = self.file(address) {
            return Some((file, false));
        }
        let (stem, extension) = address.rsplit_once('.')?;
        let (stem, hash) = stem.rsplit_once('-')?;
        let file = self.file(&format!("{stem}.{extension}"))?;
        (file.hash == hash).then_some((file, true))
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

/// One file.
pub(super) struct File {
    content: Bytes,
    hash: String,
    pub(super) content_type: &'static str,
    is_compressible: bool,
    compressed: OnceLock<Option<Bytes>>,
}

impl File {
    fn new(name: &str, file: EmbeddedFile) -> Self {
        let (content_type, is_text) = content_type::of(name);
        let hash = file
            .metadata
            .sha256_hash()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>();
        let content = match file.data {
            Cow::Borrowed(content) => Bytes::from_static(content),
            Cow::Owned(content) => Bytes::from(content),
        };
        Self {
            is_compressible: is_text && content.len() >= SMALLEST_COMPRESSED,
            hash: hash.chars().take(HASH_DIGITS).collect(),
            content,
            content_type,
            compressed: OnceLock::new(),
        }
    }

    pub(super) fn hash(&self) -> &str {
        &self.hash
    }

    pub(super) fn content(&self) -> Bytes {
        self.content.clone()
    }

    /// Whether there is a compressed form, so that the answer depends on `Accept-Encoding`.
    pub(super) const fn is_compressible(&self) -> bool {
        self.is_compressible
    }

    /// The content compressed with gzip, when that is smaller. Takes some 0.1 s for a megabyte the first time.
    pub(super) fn gzip(&self) -> Option<Bytes> {
        if !self.is_compressible {
            return None;
        }
        self.compressed
            .get_or_init(|| {
                let mut encoder = GzEncoder::new(
                    Vec::with_capacity(self.content.len() / 3),
                    Compression::new(6),
                );
                encoder.write_all(&self.content).ok()?;
                let compressed = encoder.finish().ok()?;
                (compressed.len() < self.content.len()).then(|| Bytes::from(compressed))
            })
            .clone()
    }
}
