//! `docs/security.md` names tests beside what it claims: `crate::name`. Here is checked that they
//! exist, and that no claim is without one where all have one.

use std::fs;

use super::all_tests;
use crate::tidy::root;

/// The parts in which each item of a list, or row of a table, is a claim.
const PARTS: [&str; 3] = ["What is never logged", "Threats", "OWASP ASVS 5.0"];

/// The claims of the document by their parts. An item may have several lines.
fn claims(document: &str) -> Vec<(&str, String)> {
    let mut claims: Vec<(&str, String)> = Vec::new();
    let (mut part, mut is_within) = ("", false);
    for line in document.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            part = heading;
        }
        let is_item = line.starts_with("- ") || line.split_once(". ").is_some_and(is_number);
        let is_row = line.starts_with('V') && line.contains(" | ");
        if is_item || is_row {
            claims.push((part, line.to_owned()));
            is_within = is_item;
        } else if let Some((_, claim)) = claims.last_mut()
            && is_within
            && line.starts_with("  ")
        {
            claim.push_str(line);
        } else {
            is_within = false;
        }
    }
    claims
}

fn is_number((number, _): (&str, &str)) -> bool {
    number.parse::<u8>().is_ok()
}

/// The tests that a text names.
fn named(text: &str) -> Vec<&str> {
    let code = text.split('`').skip(1).step_by(2);
    code.filter(|name| name.contains("::")).collect()
}

#[test]
fn what_is_claimed_of_security_is_held_by_tests_that_exist() {
    let document = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let tests = all_tests();
    for name in named(&document) {
        assert!(tests.contains(name), "there is no test {name}");
    }
    let claims = claims(&document);
    for part in PARTS {
        let mut of_part = claims.iter().filter(|(of, _)| *of == part).peekable();
        assert!(of_part.peek().is_some(), "no claims in {part}");
        for (_, claim) in of_part {
            assert!(!named(claim).is_empty(), "{part}: no test holds: {claim}");
        }
    }
}
