//! `docs/conformance.md` names the tests that prove each row of the specifications' tables. These
//! tests count the rows and check that the named tests exist. A name that two crates have is
//! written with its crate: `crate::name`.

mod security;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::tidy::root;

/// The rows of one part of the document: each row's name, and the tests named beside it.
fn rows<'a>(document: &'a str, part: &str) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut rows = Vec::new();
    let mut is_within = false;
    for line in document.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            is_within = text == part;
        }
        if let Some((row, tests)) = line.split_once('|').filter(|_| is_within)
            && !["Row", "---"].contains(&row)
        {
            rows.push((row, tests.split('`').skip(1).step_by(2).collect()));
        }
    }
    rows
}

/// All tests, as `crate::name`.
fn all_tests() -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap();
        collect_tests(
            &folder.file_name().to_string_lossy(),
            &folder.path(),
            &mut tests,
        );
    }
    tests
}

/// The tests in the sources below a folder of a crate.
fn collect_tests(package: &str, folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_tests(package, &path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            let names = tests_of(&source).into_iter();
            found.extend(names.map(|name| format!("{package}::{name}")));
        }
    }
}

/// Functions with an attribute of a test, and names given to the macros that run a test on both
/// engines; the names of these macros end alike.
fn tests_of(source: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim_start) {
        is_test |= line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        if let Some(function) = line
            .strip_prefix("fn ")
            .or_else(|| line.strip_prefix("async fn "))
        {
            names.extend(function.split('(').next().filter(|_| is_test));
            is_test = false;
        }
    }
    let on_both = source.split("on_both_engines!(").skip(1);
    names.extend(on_both.filter_map(|rest| rest.trim_start().split(',').next()));
    names
}

/// Fails unless a part has as many rows as its specification, and each row names tests that exist.
#[track_caller]
fn check(part: &str, count: usize) {
    let document = fs::read_to_string(root().join("docs/conformance.md")).unwrap();
    let (rows, tests) = (rows(&document, part), all_tests());
    assert_eq!(rows.len(), count, "rows of {part}");
    for (row, names) in rows {
        assert!(!names.is_empty(), "{part}, {row}: no test");
        for name in names {
            let is_named = |test: &&String| {
                *test == name || test.split_once("::").is_some_and(|(_, bare)| bare == name)
            };
            let found: Vec<_> = tests.iter().filter(is_named).collect();
            assert!(
                found.len() == 1,
                "{part}, {row}: {name} must be one test, not {found:?}"
            );
        }
    }
}

#[test]
fn every_row_of_the_checkout_specification_is_held_by_tests_that_exist() {
    check("The checkout service", 106);
}

#[test]
fn every_row_of_the_extension_by_orders_is_held_by_tests_that_exist() {
    check("Orders", 70);
}

#[test]
fn every_row_of_the_inventory_specification_is_held_by_tests_that_exist() {
    check("The inventory service", 101);
}
