//! The order of rooms: in each crate the files and folders right below `src` import each other in
//! one direction. `lib.rs` and `main.rs` are the roof: a name that the roof exports belongs to the
//! room where it is defined.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Source;
use super::{File, files, none};

#[test]
fn no_room_imports_one_above_its_own() {
    let mut wrong = Vec::new();
    for (name, house) in houses() {
        wrong.extend(
            house
                .circle()
                .map(|files| format!("crates/{name}: {}", files.join(", "))),
        );
    }
    none(
        &wrong,
        "Rooms of a crate import each other in a circle. Move down what is shared, or pass in what calls upward:",
    );
}

/// The rooms of a crate, and which imports which.
#[derive(Default)]
struct House {
    rooms: BTreeSet<String>,
    /// The rooms of the names that the roof exports.
    exports: BTreeMap<String, String>,
    /// From one room to another: the first file that imports, and what.
    arrows: BTreeMap<(String, String), String>,
}

/// Every crate by its name.
fn houses() -> BTreeMap<String, House> {
    let mut houses: BTreeMap<String, House> = BTreeMap::new();
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
        let house = houses.entry(name.to_owned()).or_default();
        house.rooms.extend(module.first().cloned());
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
        if let Some(house) = houses.get_mut(name) {
            house.read_exports(&source.code);
        }
    }
    for (name, module, path, source) in &sources {
        if let Some(house) = houses.get_mut(name) {
            house.read_imports(module, path, &source.code);
        }
    }
    houses
}

/// The module of a file below `src`: none for the roof.
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

impl House {
    fn read_exports(&mut self, code: &str) {
        for (at, _) in code.match_indices("pub use ") {
            for path in paths(&code[at + "pub use ".len()..]) {
                if let (Some(room), Some(name)) = (path.first(), path.last()) {
                    self.exports.insert(name.clone(), room.clone());
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
                    let Some(room) = target.first().and_then(|first| self.room(first)) else {
                        continue;
                    };
                    if room != own {
                        let arrow = (own.clone(), room.clone());
                        let what = format!("{file} -> {room} ({})", target.join("::"));
                        self.arrows.entry(arrow).or_insert(what);
                    }
                }
            }
        }
    }

    fn room(&self, name: &str) -> Option<&String> {
        self.rooms.get(name).or_else(|| self.exports.get(name))
    }

    /// The files of a circle, if there is one.
    fn circle(&self) -> Option<Vec<String>> {
        let mut rooms: BTreeSet<&String> = self.rooms.iter().collect();
        // A room that imports none of the others is in no circle.
        loop {
            let imports = |room: &String| {
                let mut from_room = self.arrows.iter().filter(|((from, _), _)| from == room);
                from_room.any(|((_, to), _)| rooms.contains(to))
            };
            let rest: BTreeSet<_> = rooms.iter().copied().filter(|room| imports(room)).collect();
            if rest.len() == rooms.len() {
                break;
            }
            rooms = rest;
        }
        // Each that is left imports another that is left, so following the imports closes a circle.
        let mut visited: Vec<&String> = Vec::new();
        let mut files = Vec::new();
        let mut room = rooms.iter().copied().next()?;
        loop {
            if let Some(place) = visited.iter().position(|seen| *seen == room) {
                return Some(files.split_off(place));
            }
            visited.push(room);
            let mut from_room = self.arrows.iter().filter(|((from, _), _)| from == room);
            let ((_, to), what) = from_room.find(|((_, to), _)| rooms.contains(to))?;
            files.push(what.clone());
            room = to;
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
