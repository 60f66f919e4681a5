//! The exercise of docs/contributing.md: the patch that adds a field to products still fits the
//! sources.

use std::fs;

use super::root;

/// Files that a field may take.
const MOST_FILES: usize = 6;

/// A place in a file that the patch changes.
struct Hunk<'a> {
    path: &'a str,
    head: &'a str,
    lines: Vec<&'a str>,
}

fn hunks(patch: &str) -> Vec<Hunk<'_>> {
    let (mut file, mut hunks) = ("", Vec::<Hunk<'_>>::new());
    for line in patch.lines() {
        if let Some(name) = line.strip_prefix("--- a/") {
            file = name;
        } else if line.starts_with("@@ ") {
            hunks.push(Hunk {
                path: file,
                head: line,
                lines: Vec::new(),
            });
        } else if !line.starts_with("+++ b/") {
            hunks.last_mut().expect("a hunk").lines.push(line);
        }
    }
    hunks
}

impl Hunk<'_> {
    /// The lines on one side of it: what it takes (`-`), or what it leaves (`+`).
    fn side(&self, sign: char) -> Vec<&str> {
        let lines = self.lines.iter();
        let lines = lines.map(|line| if line.is_empty() { " " } else { line });
        lines
            .filter_map(|line| line.strip_prefix([' ', sign]))
            .collect()
    }

    /// Whether its head counts its lines, which `git apply` asks for.
    fn is_counted(&self) -> bool {
        let counts: Vec<_> = ['-', '+']
            .map(|sign| format!(",{} ", self.side(sign).len()))
            .into();
        let (old, new) = self.head.split_once(" +").unwrap_or_default();
        format!("{old} ").ends_with(&counts[0]) && new.contains(&counts[1])
    }
}

#[test]
fn the_patch_of_the_exercise_applies() {
    let document = fs::read_to_string(root().join("docs/contributing.md")).unwrap();
    let (_, rest) = document.split_once("```diff\n").expect("a patch");
    let (patch, _) = rest.split_once("```").expect("the patch's end");
    let hunks = hunks(patch);
    let mut paths: Vec<_> = hunks.iter().map(|hunk| hunk.path).collect();
    paths.dedup();
    assert!((1..=MOST_FILES).contains(&paths.len()), "{paths:?}");
    for hunk in &hunks {
        let text = fs::read_to_string(root().join(hunk.path)).unwrap();
        let (lines, old): (Vec<_>, _) = (text.lines().collect(), hunk.side('-'));
        let place = format!("{}: {}", hunk.path, hunk.head);
        assert!(hunk.is_counted(), "{place}: wrong counts");
        assert!(
            lines.windows(old.len()).any(|window| window == old),
            "{place}: docs/contributing.md shows lines that the file has no more:\n{}",
            old.join("\n")
        );
    }
}
