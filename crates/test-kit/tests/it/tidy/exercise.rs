//! The exercise of docs/contributing.md: the patch that adds a field to products still fits the
//! sources.

use std::fs;
use std::process::Command;

use super::root;

/// Files that a field may take.
const MOST_FILES: usize = 6;

#[test]
fn the_patch_of_the_exercise_applies() {
    let document = fs::read_to_string(root().join("docs/contributing.md")).unwrap();
    let (_, rest) = document.split_once("```diff\n").expect("a patch");
    let (patch, _) = rest.split_once("```").expect("the patch's end");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("patch");
    fs::write(&file, patch).unwrap();
    let git = Command::new("git")
        .current_dir(root())
        .args(["apply", "--check", "--numstat"])
        .arg(&file)
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&git.stderr);
    assert!(git.status.success(), "{complaint}");
    let files = String::from_utf8_lossy(&git.stdout).lines().count();
    assert!((1..=MOST_FILES).contains(&files), "{files} files");
}
