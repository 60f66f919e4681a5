//! Import cycles: in each crate the modules right below `src` import each other in one direction. A
//! name that the crate's root (`lib.rs` or `main.rs`) exports belongs to the module that defines it.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;
use super::{File, files, none};

#[test]
fn modules_of_a_crate_import_each_other_without_cycles() {
    let mut wrong = Vec::new();
    for (name, graph) in graphs() {
        wrong.extend(
            graph
                .cycle()
                .map(|files| format!("crates/{name}: {}", files.join(", "))),
        );
    }
    none(
        &wrong,
        "Modules of a crate import each other in a cycle. Move down what is shared, or pass in what calls upward:",
    );
}

/// The top-level modules of a crate, and which imports which.
#[derive(Default)]
struct ImportGraph {
    nodes: BTreeSet<String>,
    /// The modules of the names that the root exports.
    exports: BTreeMap<String, String>,
    /// From one module to another: the first file that imports, and what.
    edges: BTreeMap<(String, String), String>,
}

/// Every crate by its name.
fn graphs() -> BTreeMap<String, ImportGraph> {
    let mut graphs: BTreeMap<String, ImportGraph> = BTreeMap::new();
    let mut sources = Vec::new();
    let mut tests = BTreeSet::new();
    for file in files().into_iter().filter(File::is_rust) {
        let path = file.path.strip_prefix("crates/");
        let Some((name, path)) = path.and_then(|path| path.split_once("/src/")) else {
            continue;
        };
        let module = module(path);
        let place = (name.to_owned(), module.clone());
        let modules_of_tests = modules_of_tests(&file.text);
        tests.extend(modules_of_tests.map(|test| {
            let (name, mut module) = place.clone();
            module.push(test.to_owned());
            (name, module)
        }));
        let graph = graphs.entry(name.to_owned()).or_default();
        graph.nodes.extend(module.first().cloned());
        sources.push((
            name.to_owned(),
            module,
            path.to_owned(),
            Source::read(&file.text),
        ));
    }
    sources.retain(|(name, module, ..)| {
        let within = (1..=module.len()).map(|length| (name.clone(), module[..length].to_vec()));
        !within.into_iter().any(|place| tests.contains(&place))
    });
    for (name, _, _, source) in sources.iter().filter(|(_, module, ..)| module.is_empty()) {
        if let Some(graph) = graphs.get_mut(name) {
            graph.read_exports(&source.code);
        }
    }
    for (name, module, path, source) in &sources {
        if let Some(graph) = graphs.get_mut(name) {
            graph.read_imports(module, path, &source.code);
        }
    }
    graphs
}

/// The module of a file below `src`: none for the root.
fn module(path: &str) -> Vec<String> {
    let parts = path.trim_end_matches(".rs").split('/');
    let mut module: Vec<String> = parts.map(str::to_owned).collect();
    let last = module.last().map(String::as_str);
    if matches!(last, Some("lib" | "main" | "mod")) {
        module.pop();
    }
    module
}

/// The modules that a file declares for tests only, in files of their own.
fn modules_of_tests(text: &str) -> impl Iterator<Item = &str> {
    let declarations = text.split("#[cfg(test)]\n").skip(1);
    declarations.filter_map(|rest| rest.strip_prefix("mod ")?.lines().next()?.strip_suffix(';'))
}

impl ImportGraph {
    fn read_exports(&mut self, code: &str) {
        for (at, _) in code.match_indices("pub use ") {
            for path in paths(&code[at + "pub use ".len()..]) {
                if let (Some(node), Some(name)) = (path.first(), path.last()) {
                    self.exports.insert(name.clone(), node.clone());
                }
            }
        }
    }

    fn read_imports(&mut self, module: &[String], file: &str, code: &str) {
        let Some(own) = module.first() else { return };
        for start in ["crate::", "super::"] {
            for (at, _) in code.match_indices(start) {
                let is_whole =
                    !code[..at].ends_with(|last: char| last.is_alphanumeric() || last == ':');
                for path in paths(&code[at..]).iter().filter(|_| is_whole) {
                    let target = resolved(module, path);
                    let Some(node) = target.first().and_then(|first| self.node(first)) else {
                        continue;
                    };
                    if node != own {
                        let edge = (own.clone(), node.clone());
                        let what = format!("{file} -> {node} ({})", target.join("::"));
                        self.edges.entry(edge).or_insert(what);
                    }
                }
            }
        }
    }

    fn node(&self, name: &str) -> Option<&String> {
        self.nodes.get(name).or_else(|| self.exports.get(name))
    }

    /// The files of a cycle, if there is one.
    fn cycle(&self) -> Option<Vec<String>> {
        let mut nodes: BTreeSet<&String> = self.nodes.iter().collect();
        // A module that imports none of the others is in no cycle.
        loop {
            let imports = |node: &String| {
                let mut from_node = self.edges.iter().filter(|((from, _), _)| from == node);
                from_node.any(|((_, to), _)| nodes.contains(to))
            };
            let rest: BTreeSet<_> = nodes.iter().copied().filter(|node| imports(node)).collect();
            if rest.len() == nodes.len() {
                break;
            }
            nodes = rest;
        }
        // Each that is left imports another that is left, so following the imports closes a cycle.
        let mut visited: Vec<&String> = Vec::new();
        let mut files = Vec::new();
        let mut node = nodes.iter().copied().next()?;
        loop {
            if let Some(place) = visited.iter().position(|seen| *seen == node) {
                return Some(files.split_off(place));
            }
            visited.push(node);
            let mut from_node = self.edges.iter().filter(|((from, _), _)| from == node);
            let ((_, to), what) = from_node.find(|((_, to), _)| nodes.contains(to))?;
            files.push(what.clone());
            node = to;
        }
    }
}

/// A path from the crate's root.
fn resolved(module: &[String], path: &[String]) -> Vec<String> {
    let mut target = module.to_vec();
    let mut rest = path;
    while let Some((first, after)) = rest.split_first() {
        match first.as_str() {
            "crate" => target.clear(),
            "super" => drop(target.pop()),
            "self" => {}
            _ => break,
        }
        rest = after;
    }
    target.extend(rest.iter().cloned());
    target
}

/// The paths that begin where the code does: several when it ends in braces.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut path = Vec::new();
    let mut rest = code.trim_start();
    loop {
        let end = rest.find(|next: char| !next.is_alphanumeric() && next != '_');
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        if !word.is_empty() {
            path.push(word.to_owned());
        }
        let Some(next) = after.strip_prefix("::") else {
            return vec![path];
        };
        rest = next;
        if let Some(inside) = rest.strip_prefix('{') {
            let each = items(inside).into_iter().flat_map(paths);
            return each.map(|item| [path.clone(), item].concat()).collect();
        }
    }
}

/// The items between commas up to the closing brace.
fn items(inside: &str) -> Vec<&str> {
    let (mut items, mut begin, mut depth) = (Vec::new(), 0, 0);
    for (at, letter) in inside.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                items.push(inside[begin..at].trim());
                begin = at + 1;
                if letter == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    items.retain(|item| !item.is_empty());
    items
}

#[test]
fn paths_in_braces_are_taken_apart() {
    let found = paths("crate::{app::State, payments::{self, store}};");
    let found: Vec<_> = found.iter().map(|path| path.join("::")).collect();
    let expected = [
        "crate::app::State",
        "crate::payments::self",
        "crate::payments::store",
    ];
    assert_eq!(found, expected);
}
