//! The documents: their sizes, and that every link within the repository leads somewhere.

use std::collections::BTreeSet;
use std::fs;

use super::{files, none, root};

#[test]
fn the_first_documents_are_short() {
    for (name, most) in [("README.md", 150), ("ARCHITECTURE.md", 200)] {
        let text =
            fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let lines = text.lines().count();
        assert!(
            lines <= most,
            "{name} has {lines} lines; at most {most}, details belong into docs/"
        );
    }
}

#[test]
fn links_between_documents_resolve() {
    let mut wrong = Vec::new();
    for file in files().iter().filter(|file| file.has_extension("md")) {
        let folder = root().join(&file.path).parent().unwrap().to_owned();
        for link in links(&file.text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if path.is_empty() {
                root().join(&file.path)
            } else {
                folder.join(path)
            };
            if !target.exists() {
                wrong.push(format!("{}: {link}", file.path));
            } else if !anchor.is_empty() {
                let text = fs::read_to_string(&target).unwrap_or_default();
                if !anchors(&text).contains(anchor) {
                    wrong.push(format!("{}: {link}: no such heading", file.path));
                }
            }
        }
    }
    none(&wrong, "These links lead nowhere:");
}

/// Targets of `[text](target)` outside of code.
fn links(markdown: &str) -> Vec<String> {
    let mut links = Vec::new();
    for line in outside_code(markdown) {
        for piece in line.split("](").skip(1) {
            if let Some((target, _)) = piece.split_once(')') {
                let target = target.split_whitespace().next().unwrap_or_default();
                links.push(target.trim_matches(['<', '>']).to_owned());
            }
        }
    }
    links
}

/// The anchors that a forge makes of the headings: lower case, words joined by hyphens, signs left
/// out.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    for line in outside_code(markdown).filter(|line| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let anchor: String = heading
            .chars()
            .filter(|letter| letter.is_alphanumeric() || [' ', '-', '_'].contains(letter))
            .map(|letter| if letter == ' ' { '-' } else { letter })
            .collect();
        let repeated = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone())
            .chain(repeated)
            .find(|name| !anchors.contains(name));
        anchors.extend(free);
    }
    anchors
}

fn outside_code(markdown: &str) -> impl Iterator<Item = &str> {
    let mut in_code = false;
    markdown.lines().filter(move |line| {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            return false;
        }
        !in_code
    })
}

#[test]
fn anchors_are_made_as_forges_make_them() {
    let anchors = anchors(
        "# A buyer pays\n## `GET /health`, and more\n## A buyer pays\n```\n# no heading\n```",
    );
    let expected = ["a-buyer-pays", "a-buyer-pays-1", "get-health-and-more"];
    assert_eq!(anchors, expected.map(str::to_owned).into());
}
