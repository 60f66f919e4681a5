//! A file of products is imported in a browser: it has two errors, the corrected file is chosen on
//! the page of the errors, and it is imported with a new category and brand, and undone.

use std::fs;

use test_kit::browser::{Reader, Scheme};

use super::{english, opened};

const HEADER: &str = "title;category;brand;cost_price;selling_price;quantity\n";
const SEND: &str = "main form button[type=submit]";

async fn choose_correct_import_and_undo(reader: Reader) {
    // The accessibility checker is a script.
    let has_scripts = reader.scripts;
    let (_demo, browser, inventory) = opened(reader, "admin").await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("teas.csv");
    let rows = "Camomila;Chás da serra;Folha;4,00;dez;3\n;Chás da serra;Folha;4,00;9,00;3\n";
    fs::write(&file, format!("{HEADER}{rows}")).unwrap();
    browser.goto(&format!("{inventory}/import/")).await;
    browser.type_text("#file", file.to_str().unwrap()).await;
    browser.click("main [name=create_names]").await;
    browser.click(SEND).await;
    browser
        .wait_text("#problems", "The file needs corrections")
        .await;
    browser
        .wait_text("#problems", "Problems in the file: 2")
        .await;
    browser.wait_text("main table", "Selling price").await;
    browser.wait_text("main table", "Title").await;
    assert!(!browser.is_too_wide().await);
    if has_scripts {
        browser.check_accessibility().await;
    }

    let rows =
        "Camomila;Chás da serra;Folha;4,00;10,00;3\nErva-doce;Chás da serra;Folha;4,00;9,00;3\n";
    fs::write(&file, format!("{HEADER}{rows}")).unwrap();
    browser.type_text("#file", file.to_str().unwrap()).await;
    browser.click(SEND).await;
    browser
        .wait_text("main .notice", "Records to be added: 2")
        .await;
    browser.wait_text("main table", "Chás da serra").await;
    assert!(!browser.is_too_wide().await);
    if has_scripts {
        browser.prefer(Scheme::Dark).await;
        browser.check_accessibility().await;
    }
    browser.click(SEND).await;
    browser.wait_text("#toasts", "Imported: 2 records.").await;
    let categories = format!("{inventory}/categories/?search=serra");
    browser.goto(&categories).await;
    browser.wait_text("main tbody", "Chás da serra").await;
    browser.goto(&format!("{inventory}/import/1/")).await;
    browser.click("main summary").await;
    browser.click("main .button-danger").await;
    browser.wait_text("#toasts", "The import was undone.").await;
    browser.goto(&categories).await;
    browser.wait_text("main .empty", "Nothing found").await;
    let host = inventory.trim_start_matches("http://");
    browser.check_clean(&[host]).await;
}

#[tokio::test]
async fn a_corrected_file_is_imported_with_what_was_missing_and_undone_at_a_desk() {
    choose_correct_import_and_undo(english((1280, 900))).await;
}

#[tokio::test]
async fn a_corrected_file_is_imported_with_what_was_missing_and_undone_on_a_phone_without_scripts()
{
    // The window is as high as the page, since nothing can scroll it without scripts.
    let reader = english((360, 2400)).without_scripts();
    choose_correct_import_and_undo(reader).await;
}
