//! Backup and restore, with the service at work.

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use test_kit::database::{Database, Engine};
use test_kit::process::{Balcao, Start, printed};
use tokio::task::{JoinSet, block_in_place};

use crate::support::{Provider, card, pay, pay_until_final, payments, pix};

fn run(data: &Path, words: &[&str]) -> Output {
    block_in_place(|| Start::new(words.iter().copied()).data(data).output())
}

async fn ids(checkout: &Balcao) -> Vec<Value> {
    payments(checkout)
        .await
        .into_iter()
        .map(|payment| payment["id"].clone())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_under_load_restores_to_what_was_paid_before_it() {
    let provider = Provider::start().await;
    let checkout = provider.checkout().ready().await;
    let url = checkout.url("checkout").await;
    let before = pay_until_final(&url, "before", &card("APRO")).await;
    let mut load = JoinSet::new();
    for worker in 0..4 {
        let url = url.clone();
        load.spawn(async move {
            for number in 0.. {
                // The load ends with the service.
                if pay(&url, &format!("load-{worker}-{number}"), &pix())
                    .await
                    .is_err()
                {
                    return;
                }
            }
        });
    }
    let place = tempfile::tempdir().unwrap();
    let archive = place.path().join("shop.tar");
    let made = run(checkout.data(), &["backup", archive.to_str().unwrap()]);
    assert!(made.status.success(), "{}", printed(&made));
    let after = pay_until_final(&url, "after", &card("APRO")).await;
    drop(checkout);
    load.join_all().await;

    let fresh = place.path().join("restored");
    let restored = run(&fresh, &["restore", archive.to_str().unwrap()]);
    let printed = printed(&restored);
    assert!(
        restored.status.success() && printed.contains("restore: 100 %"),
        "{printed}"
    );
    let again = provider.checkout().data(&fresh).ready().await;
    let url = again.url("checkout").await;
    let replayed = pay(&url, "before", &card("APRO")).await.unwrap();
    assert_eq!(replayed.headers()["Idempotent-Replayed"], "true");
    assert_eq!(replayed.json::<Value>().await.unwrap(), before);
    assert!(
        !ids(&again).await.contains(&after["id"]),
        "what was paid after the backup is not in it"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn restore_touches_neither_a_running_service_nor_data_without_force() {
    let provider = Provider::start().await;
    let mut checkout = provider.checkout().ready().await;
    let url = checkout.url("checkout").await;
    let first = pay_until_final(&url, "first", &pix()).await;
    let place = tempfile::tempdir().unwrap();
    let archive = place.path().join("shop.tar");
    let archive = archive.to_str().unwrap();
    assert!(run(checkout.data(), &["backup", archive]).status.success());
    let second = pay_until_final(&url, "second", &pix()).await;

    let running = run(checkout.data(), &["restore", "--force", archive]);
    assert_eq!(running.status.code(), Some(1));
    assert!(
        printed(&running).contains("a service runs on"),
        "{}",
        printed(&running)
    );

    checkout.stop().await;
    let there = run(checkout.data(), &["restore", archive]);
    assert_eq!(there.status.code(), Some(1));
    assert!(
        printed(&there).contains("--force replaces it"),
        "{}",
        printed(&there)
    );

    let forced = run(checkout.data(), &["restore", "--force", archive]);
    assert!(forced.status.success(), "{}", printed(&forced));
    let again = provider.checkout().data(checkout.data()).ready().await;
    let kept = ids(&again).await;
    assert!(kept.contains(&first["id"]) && !kept.contains(&second["id"]));
    let aside = std::fs::read_dir(checkout.data()).unwrap().filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with("checkout.sqlite.before-restore-")
    });
    assert_eq!(aside.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_backup_changes_nothing() {
    let provider = Provider::start().await;
    let mut checkout = provider.checkout().ready().await;
    pay_until_final(&checkout.url("checkout").await, "first", &pix()).await;
    let place = tempfile::tempdir().unwrap();
    let archive = place.path().join("shop.tar");
    assert!(
        run(checkout.data(), &["backup", archive.to_str().unwrap()])
            .status
            .success()
    );
    checkout.stop().await;
    let bytes = std::fs::read(&archive).unwrap();
    std::fs::write(&archive, &bytes[..bytes.len() / 2]).unwrap();
    let before = std::fs::read(checkout.data().join("checkout.sqlite")).unwrap();
    let refused = run(
        checkout.data(),
        &["restore", "--force", archive.to_str().unwrap()],
    );
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        printed(&refused).contains("cannot be restored"),
        "{}",
        printed(&refused)
    );
    assert_eq!(
        std::fs::read(checkout.data().join("checkout.sqlite")).unwrap(),
        before
    );
}

#[test]
fn backups_at_once_leave_a_whole_archive_and_touch_nothing_of_others() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let backups = place.path().join("backups");
    let run = |words: &[&str]| Start::new(words).data(&data).output();
    assert!(run(&["migrate"]).status.success());
    let note = backups.join("shop.tar.copies").join("note.txt");
    std::fs::create_dir_all(note.parent().unwrap()).unwrap();
    std::fs::write(&note, "precious").unwrap();
    std::fs::write(backups.join("shop.tar.partial"), "precious").unwrap();
    let archive = backups.join("shop.tar");
    let backup = ["backup", archive.to_str().unwrap()];
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..3).map(|_| scope.spawn(|| run(&backup))).collect();
        for backup in running {
            let done = backup.join().unwrap();
            assert!(done.status.success(), "{}", printed(&done));
        }
    });
    assert_eq!(std::fs::read_to_string(note).unwrap(), "precious");
    assert_eq!(std::fs::read_dir(&backups).unwrap().count(), 3);
    let restored = Start::new(["restore", archive.to_str().unwrap()]).output();
    assert!(restored.status.success(), "{}", printed(&restored));
}

#[test]
fn a_backup_makes_no_folder_above_its_own() {
    let place = tempfile::tempdir().unwrap();
    let missing = place.path().join("unmounted");
    let archive = missing.join("shop.tar");
    let run = |words: &[&str]| Start::new(words).data(place.path()).output();
    assert!(run(&["migrate"]).status.success());
    let refused = run(&["backup", archive.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(!missing.exists());
}

#[test]
fn a_backup_without_the_database_of_a_key_does_not_replace_a_good_one() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let archive = place.path().join("shop.tar");
    let run = |words: &[&str]| Start::new(words).data(&data).output();
    assert!(run(&["migrate"]).status.success());
    std::fs::write(
        data.join("checkout.key"),
        "a key of 32 characters or longer",
    )
    .unwrap();
    let backup = ["backup", archive.to_str().unwrap()];
    assert!(run(&backup).status.success());
    let before = std::fs::read(&archive).unwrap();
    std::fs::remove_file(data.join("checkout.sqlite")).unwrap();
    let refused = run(&backup);
    assert_eq!(refused.status.code(), Some(1));
    assert!(printed(&refused).contains("checkout.sqlite is missing"));
    assert_eq!(std::fs::read(&archive).unwrap(), before);
}

#[test]
fn a_database_on_postgresql_is_left_to_pg_dump_and_the_other_is_backed_up_and_restored() {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let archive = place.path().join("shop.tar");
    assert!(
        Start::new(["migrate"])
            .data(&data)
            .output()
            .status
            .success()
    );
    let run = |data: &Path, words: &[&str], on_postgres: &[&str]| {
        let address = "postgres://shop:hush@db.example/shop";
        on_postgres
            .iter()
            .fold(
                Start::new(words.iter().copied()).data(data),
                |start, name| start.env(name, address),
            )
            .output()
    };
    let checkout = "BALCAO_CHECKOUT_DATABASE_URL";
    let backup = ["backup", archive.to_str().unwrap()];
    let both = run(&data, &backup, &[checkout, "BALCAO_INVENTORY_DATABASE_URL"]);
    assert_eq!(both.status.code(), Some(1));
    let said = printed(&both);
    assert!(said.contains("pg_dump") && !said.contains("hush"), "{said}");
    let one = run(&data, &backup, &[checkout]);
    let said = printed(&one);
    assert!(one.status.success() && said.contains("pg_dump"), "{said}");
    let fresh = place.path().join("restored");
    let restored = run(&fresh, &["restore", archive.to_str().unwrap()], &[checkout]);
    let said = printed(&restored);
    assert!(
        restored.status.success() && said.contains("pg_restore"),
        "{said}"
    );
    assert!(fresh.join("inventory.sqlite").exists() && !fresh.join("checkout.sqlite").exists());
}

#[test]
fn no_output_replaces_a_device_a_pipe_a_link_or_our_own_data() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name);
    let run = |words: &[&str]| Start::new(words).data(place.path()).output();
    assert!(run(&["migrate"]).status.success());
    let before = std::fs::read(path("inventory.sqlite")).unwrap();
    std::os::unix::fs::symlink("inventory.sqlite", path("link")).unwrap();
    for own in [
        "inventory.sqlite",
        "checkout.sqlite-wal",
        "checkout.sqlite-journal",
        "checkout.sqlite.lock",
        "inventory.key",
        "link",
    ] {
        let own = path(own);
        let own = own.to_str().unwrap();
        for words in [
            ["backup", own].as_slice(),
            &["inventory", "export", "brands", own],
            &["inventory", "report", own],
        ] {
            let refused = run(words);
            let said = printed(&refused);
            assert_eq!(refused.status.code(), Some(1), "{words:?}: {said}");
            assert!(said.contains("belongs to balcao's own data"), "{said}");
        }
    }
    assert_eq!(std::fs::read(path("inventory.sqlite")).unwrap(), before);

    let pipe = path("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let pipe = pipe.to_str().unwrap();
    let refused = run(&["backup", pipe]);
    assert!(
        printed(&refused).contains("is no file"),
        "{}",
        printed(&refused)
    );
    std::thread::scope(|scope| {
        let read = scope.spawn(|| std::fs::read_to_string(pipe).unwrap());
        assert!(
            run(&["inventory", "export", "brands", pipe])
                .status
                .success()
        );
        assert!(read.join().unwrap().contains("name"));
    });

    std::fs::write(path("target"), "").unwrap();
    std::os::unix::fs::symlink("target", path("to-target")).unwrap();
    let to_target = path("to-target");
    let to_target = to_target.to_str().unwrap();
    for words in [
        ["backup", to_target].as_slice(),
        &["inventory", "export", "brands", to_target],
    ] {
        std::fs::write(path("target"), "").unwrap();
        assert!(run(words).status.success());
        assert!(std::fs::metadata(path("target")).unwrap().len() > 0);
        assert!(path("to-target").is_symlink());
        // A link may come before its target.
        std::fs::remove_file(path("target")).unwrap();
        assert!(run(words).status.success());
        assert!(path("target").is_file() && path("to-target").is_symlink());
    }
}

/// Commands that read. They must not make an empty database and find it in order.
const READING: [&[&str]; 7] = [
    &["inventory", "verify"],
    &["inventory", "import", "brands", "/dev/null", "--dry-run"],
    &["inventory", "export", "brands", "-"],
    &["inventory", "endpoint", "list"],
    &["checkout", "open"],
    &["checkout", "key", "list"],
    &["user", "list"],
];

#[test]
fn a_command_that_reads_makes_no_empty_database_in_a_wrong_folder() {
    let place = tempfile::tempdir().unwrap();
    for words in READING {
        let refused = Start::new(words).data(place.path()).output();
        let said = printed(&refused);
        assert_eq!(refused.status.code(), Some(1), "{words:?}: {said}");
        assert!(said.contains("sqlite does not exist"), "{words:?}: {said}");
    }
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_command_that_reads_makes_no_tables_in_an_empty_postgresql_database() {
    let database = Database::new(Engine::Postgres);
    let run = |words: &[&str]| {
        Start::new(words)
            .env("BALCAO_CHECKOUT_DATABASE_URL", database.address())
            .env("BALCAO_INVENTORY_DATABASE_URL", database.address())
            .output()
    };
    for words in READING {
        let refused = run(words);
        let said = printed(&refused);
        assert_eq!(refused.status.code(), Some(1), "{words:?}: {said}");
        assert!(
            said.contains("is it the right one? `balcao migrate`"),
            "{words:?}: {said}"
        );
    }
    let migrated = printed(&run(&["migrate"]));
    assert!(migrated.contains("checkout: 0001_checkout"), "{migrated}");
    assert!(migrated.contains("inventory: 0001_inventory"), "{migrated}");
    assert!(run(&["inventory", "verify"]).status.success());
}

#[test]
fn standard_output_is_no_place_for_a_backup_and_standard_input_none_to_restore() {
    let folder = tempfile::tempdir().unwrap();
    for command in ["backup", "restore"] {
        let output = Start::new([command, "-"]).data(folder.path()).output();
        assert_eq!(output.status.code(), Some(2));
        let said = printed(&output);
        assert!(said.contains("a backup is a file"), "{said}");
    }
}
