//! Sizes, openings and leftovers of files.

use super::{File, files, none, root};

/// Words that mark something unfinished or switched off. Written in pieces, so that this file is
/// not found.
const LEFTOVERS: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
    concat!("#[ig", "nore"),
    concat!("```ig", "nore"),
];

#[test]
fn files_are_short_enough_to_be_read_at_once() {
    let own: Vec<(File, usize)> = files()
        .into_iter()
        .filter(|file| {
            ["rs", "js", "css", "html", "sql"]
                .iter()
                .any(|extension| file.has_extension(extension))
        })
        .map(|file| {
            let lines = file.text.lines().count();
            (file, lines)
        })
        .collect();
    // A schema is read table by table, and one file of it shows what refers to what.
    let wrong: Vec<_> = own
        .iter()
        .filter(|(file, lines)| *lines > 500 && !file.has_extension("sql"))
        .map(|(file, lines)| format!("{}: {lines} lines", file.path))
        .collect();
    none(
        &wrong,
        "No file is longer than 500 lines; what outgrows its file becomes a folder of that name:",
    );
    let rust: Vec<_> = own.iter().filter(|(file, _)| file.is_rust()).collect();
    let long: Vec<_> = rust
        .iter()
        .filter(|(_, lines)| *lines > 350)
        .map(|(file, lines)| format!("{}: {lines} lines", file.path))
        .collect();
    assert!(
        long.len() * 10 <= rust.len(),
        "Nine of ten files have at most 350 lines; {} of {} have more:\n{}",
        long.len(),
        rust.len(),
        long.join("\n")
    );
}

#[test]
fn every_crate_and_module_folder_says_what_lives_there() {
    let wrong: Vec<_> = files()
        .into_iter()
        .filter(|file| ["lib.rs", "main.rs", "mod.rs"].contains(&file.name()))
        .filter(|file| {
            let opening = file.text.lines().take_while(|line| line.starts_with("//!"));
            let words: usize = opening
                .map(|line| line.split_whitespace().count() - 1)
                .sum();
            words < 8
        })
        .map(|file| file.path)
        .collect();
    none(
        &wrong,
        "lib.rs, main.rs and mod.rs open with lines of //! that say what lives there and what does not:",
    );
}

#[test]
fn modules_with_parts_are_folders_with_a_mod_file() {
    let files = files();
    let wrong: Vec<_> = files
        .iter()
        .filter_map(|file| file.path.strip_suffix(".rs"))
        .filter(|stem| {
            let folder = format!("{stem}/");
            files
                .iter()
                .any(|other| other.is_rust() && other.path.starts_with(&folder))
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "These stand beside a folder of their name; move them into it as mod.rs: {wrong:?}"
    );
}

#[test]
fn nothing_is_left_unfinished_or_switched_off() {
    let mut wrong = Vec::new();
    for file in files() {
        for (index, line) in file.text.lines().enumerate() {
            for leftover in LEFTOVERS {
                let Some((before, after)) = line.split_once(leftover) else {
                    continue;
                };
                let touches = |letter: char| letter.is_alphanumeric() || letter == '_';
                let is_word = leftover.chars().all(char::is_uppercase);
                if !(is_word && (before.ends_with(touches) || after.starts_with(touches))) {
                    wrong.push(format!("{}:{}: {leftover}", file.path, index + 1));
                }
            }
        }
    }
    none(&wrong, "Nothing is left unfinished or ignored:");
}

/// A path on one person's disk is useless to others, and private.
#[test]
fn no_file_names_the_place_where_this_repository_happens_to_lie() {
    let place = format!("{}/", root().display());
    let wrong: Vec<_> = files()
        .into_iter()
        .filter(|file| file.text.contains(&place))
        .map(|file| file.path)
        .collect();
    none(&wrong, &format!("No file names {place}:"));
}

#[test]
fn shell_scripts_parse() {
    let mut wrong = Vec::new();
    for file in files() {
        let opening = file.text.lines().next().unwrap_or_default();
        if opening.starts_with("#!") && opening.ends_with("sh") || file.has_extension("sh") {
            let checked = std::process::Command::new("bash")
                .arg("-n")
                .arg(root().join(&file.path))
                .output()
                .expect("bash");
            if !checked.status.success() {
                wrong.push(String::from_utf8_lossy(&checked.stderr).into_owned());
            }
        }
    }
    none(&wrong, "bash -n complains:");
}
