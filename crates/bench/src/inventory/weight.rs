//! The size of a page: its bytes and those of every file that it loads, as sent, with response
//! heads. Once for a first visit, and once for a repeated visit with the browser's cache.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use axum::body::Bytes;
use axum::http::{Response, header};

use super::super::load::LoadError;
use super::visitor::{Visitor, compressed};

/// The size of a page view, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Weight {
    /// With an empty cache.
    pub(super) first: usize,
    /// With a filled cache.
    pub(super) again: usize,
}

/// A file that pages load.
#[derive(Debug, Clone, Default)]
struct File {
    weight: Weight,
    /// The files that it loads itself.
    loads: BTreeSet<String>,
}

/// The measured files, by address.
#[derive(Debug, Default)]
pub(super) struct PageWeights {
    files: BTreeMap<String, File>,
}

impl PageWeights {
    /// Measures a page.
    ///
    /// # Errors
    ///
    /// When the status of the page or of one of its files is not 200.
    pub(super) async fn page(
        &mut self,
        visitor: &Visitor,
        path: &str,
    ) -> Result<Weight, LoadError> {
        let sent = bytes(&visitor.read(path, &[compressed()]).await?);
        let page = visitor.read(path, &[]).await?;
        let text = String::from_utf8_lossy(page.body()).into_owned();
        let mut weight = Weight {
            first: sent,
            again: sent,
        };
        let mut wanted: Vec<String> = named(&text).into_iter().collect();
        let mut seen = BTreeSet::new();
        while let Some(address) = wanted.pop() {
            if seen.insert(address.clone()) {
                let file = self.file(visitor, &address).await?;
                weight.first += file.weight.first;
                weight.again += file.weight.again;
                wanted.extend(file.loads);
            }
        }
        Ok(weight)
    }

    async fn file(&mut self, visitor: &Visitor, address: &str) -> Result<File, LoadError> {
        if let Some(file) = self.files.get(address) {
            return Ok(file.clone());
        }
        let sent = visitor.read(address, &[compressed()]).await?;
        let kept = sent.headers().get(header::CACHE_CONTROL);
        let is_kept = kept.is_some_and(|line| line.as_bytes().ends_with(b"immutable"));
        let plain = visitor.read(address, &[]).await?;
        let is_script = is_script(address);
        let loads = if is_script {
            imported(address, &String::from_utf8_lossy(plain.body()))
        } else {
            BTreeSet::new()
        };
        let file = File {
            weight: Weight {
                first: bytes(&sent),
                // A response that must not be cached counts in full. A browser that revalidates it
                // transfers less.
                again: if is_kept { 0 } else { bytes(&sent) },
            },
            loads,
        };
        self.files.insert(address.to_owned(), file.clone());
        Ok(file)
    }
}

/// The bytes of a response in HTTP/1.1.
fn bytes(answer: &Response<Bytes>) -> usize {
    let lines = answer.headers().iter();
    let head: usize = lines
        .map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len())
        .sum();
    "HTTP/1.1 200 OK\r\n\r\n".len() + head + answer.body().len()
}

/// The files that a page names.
fn named(page: &str) -> BTreeSet<String> {
    let places = page.match_indices("/assets/").map(|(at, _)| at);
    places
        .filter_map(|at| page.get(at..)?.split(['"', '\'', '#', ' ', '>']).next())
        .map(str::to_owned)
        .collect()
}

fn is_script(address: &str) -> bool {
    Path::new(address)
        .extension()
        .is_some_and(|kind| kind == "js")
}

/// The modules that a script imports from its own folder.
fn imported(address: &str, script: &str) -> BTreeSet<String> {
    let folder = address.rsplit_once('/').map_or("", |(folder, _)| folder);
    let names = script.split("\"./").skip(1);
    names
        .filter_map(|rest| rest.split('"').next())
        .filter(|name| is_script(name))
        .map(|name| format!("{folder}/{name}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_those_that_a_page_names_and_a_script_imports() {
        let page = r#"<link href="/assets/a-1.css"><use href="/assets/icons-2.svg#box"/><use href="/assets/icons-2.svg#pen"/>"#;
        let files: Vec<String> = named(page).into_iter().collect();
        assert_eq!(files, ["/assets/a-1.css", "/assets/icons-2.svg"]);
        let script = "import \"./b.js\";\nimport { c } from \"./c.js\";\nconst d = \"./d\";";
        let modules: Vec<String> = imported("/assets/12/a.js", script).into_iter().collect();
        assert_eq!(modules, ["/assets/12/b.js", "/assets/12/c.js"]);
    }
}
