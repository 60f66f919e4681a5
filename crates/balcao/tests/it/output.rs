//! What commands do when nobody can read their results.

use test_kit::process::{Start, printed};

#[test]
fn results_that_cannot_be_written_are_failures_and_a_closed_pipe_is_none() {
    let folder = tempfile::tempdir().unwrap();
    for command in [
        &["openapi", "checkout"][..],
        &["config", "document"],
        &["completions", "bash"],
        &["migrate"],
        &["inventory", "verify"],
        &["inventory", "report"],
    ] {
        let full = Start::new(command).data(folder.path()).unwritable();
        assert_eq!(full.status.code(), Some(1), "{command:?}");
        let said = printed(&full);
        assert!(said.contains("No space left"), "{command:?}: {said}");
        let unread = Start::new(command).data(folder.path()).unread();
        assert!(unread.status.success(), "{}", printed(&unread));
    }
}

#[test]
fn a_key_or_a_secret_that_nobody_could_read_is_told_with_its_remedy() {
    let endpoint = ["inventory", "endpoint", "add", "https://shop.example/"];
    for (command, remedy) in [
        (
            &["checkout", "key", "add", "lost"][..],
            "`balcao checkout key revoke balcao_",
        ),
        (&endpoint, "`balcao inventory endpoint rotate 1`"),
    ] {
        let start = || Start::new(command);
        for output in [start().unwritable(), start().unread()] {
            assert_eq!(output.status.code(), Some(1), "{command:?}");
            let said = printed(&output);
            assert!(said.contains(remedy), "{command:?}: {said}");
        }
    }
}
