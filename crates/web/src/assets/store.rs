//! The files of a service by name, with their hashes. Each is compressed at the first request for
//! it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use data_encoding::HEXLOWER;
use flate2::Compression;
use rust_embed::RustEmbed;
use sha2::{Digest, Sha256};

use super::content_type;
use crate::compression;

/// Bytes of the hash in a name, enough to tell two versions of one file apart.
const HASH_BYTES: usize = 6;

#[derive(Clone, Default)]
pub(super) struct Store {
    files: BTreeMap<String, Arc<File>>,
    /// The hash of all files together.
    set: String,
}

impl Store {
    pub(super) fn add<F: RustEmbed>(&mut self) {
        for name in F::iter() {
            if let Some(file) = F::get(&name) {
                let file = File::new(&name, file.data, &file.metadata.sha256_hash());
                self.files.insert(name.into_owned(), Arc::new(file));
            }
        }
        self.set = self.hash_of_all();
    }

    pub(super) fn add_picture(&mut self, name: &str, content: Vec<u8>) {
        let digest = Sha256::digest(&content);
        let file = File {
            is_ours: false,
            ..File::new(name, Cow::Owned(content), &digest)
        };
        self.files.insert(name.to_owned(), Arc::new(file));
        self.set = self.hash_of_all();
    }

    /// Adds a second name for a file.
    pub(super) fn add_alias(&mut self, name: &str, alias: &str) {
        if let Some(file) = self.files.get(name).map(Arc::clone) {
            self.files.insert(alias.to_owned(), file);
        } else {
            tracing::error!(name, "no such asset");
        }
    }

    /// Joins some files, in this order, into one of this name. The parts are removed.
    pub(super) fn join(&mut self, name: &str, parts: &[&str]) {
        let mut whole = Vec::new();
        for part in parts {
            if let Some(file) = self.files.remove(*part) {
                whole.extend_from_slice(&file.content);
            } else {
                tracing::error!(part, "no such asset");
            }
        }
        let digest = Sha256::digest(&whole);
        let file = File::new(name, Cow::Owned(whole), &digest);
        self.files.insert(name.to_owned(), Arc::new(file));
        self.set = self.hash_of_all();
    }

    fn hash_of_all(&self) -> String {
        let mut all = Sha256::new();
        for (name, file) in &self.files {
            all.update(name);
            all.update(&file.hash);
        }
        hexadecimal(&all.finalize())
    }

    pub(super) fn file(&self, name: &str) -> Option<&Arc<File>> {
        self.files.get(name)
    }

    /// The hash of all files together. It names a folder in which each file has its plain name.
    pub(super) fn set(&self) -> &str {
        &self.set
    }

    /// The file of an address, and whether the address carries the hash of the content.
    pub(super) fn find(&self, address: &str) -> Option<(&Arc<File>, bool)> {
        if let Some(file) = self.file(address) {
            return Some((file, false));
        }
        let in_set = address
            .strip_prefix(&self.set)
            .and_then(|rest| rest.strip_prefix('/'));
        if let Some(file) = in_set.and_then(|name| self.file(name)) {
            return Some((file, true));
        }
        let (stem, extension) = address.rsplit_once('.')?;
        let (stem, hash) = stem.rsplit_once('-')?;
        let file = self.file(&format!("{stem}.{extension}"))?;
        (file.hash == hash).then_some((file, true))
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.files.keys()).finish()
    }
}

/// The part of a digest that addresses carry.
fn hexadecimal(digest: &[u8]) -> String {
    HEXLOWER.encode(digest.get(..HASH_BYTES).unwrap_or(digest))
}

/// One file.
pub(super) struct File {
    content: Bytes,
    hash: String,
    pub(super) content_type: &'static str,
    /// Whether it is embedded in the program.
    pub(super) is_ours: bool,
    is_compressible: bool,
    compressed: OnceLock<Option<Bytes>>,
}

impl File {
    fn new(name: &str, content: Cow<'static, [u8]>, digest: &[u8]) -> Self {
        let (content_type, is_text) = content_type::of(name);
        let content = match content {
            Cow::Borrowed(content) => Bytes::from_static(content),
            Cow::Owned(content) => Bytes::from(content),
        };
        Self {
            is_compressible: is_text && content.len() >= compression::SMALLEST,
            hash: hexadecimal(digest),
            content,
            content_type,
            is_ours: true,
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

    /// The content compressed with gzip, when that is smaller. Takes some 0.1 s for a megabyte the
    /// first time.
    pub(super) fn gzip(&self) -> Option<Bytes> {
        if !self.is_compressible {
            return None;
        }
        self.compressed
            .get_or_init(|| compression::gzip(&self.content, Compression::new(6)))
            .clone()
    }
}
