//! The export of a list as a CSV file: the columns of the list, for the records that its search and
//! filters select.

use axum::extract::Path;

use super::{AdminResult, read_all};
use crate::{
    access::Verb,
    admin::{listing::ListParameters, site::AdminFrame},
    page::{flash, list_page, redirect},
    rest::query::Parameters,
};

/// The most records of a file. The exports of the everyday pages have no limit.
const MOST_EXPORTED: u64 = 10_000;

/// `GET /admin/{model}/export/`
pub(super) async fn export(
    site: AdminFrame,
    Path(path): Path<String>,
    parameters: Parameters,
) -> AdminResult {
    let model = site.model(&path)?;
    let about = &model.about;
    site.demand(about, Verb::View)?;
    let Ok(query) = ListParameters::parse(about, &parameters) else {
        return Ok(redirect(&format!("{}?e=1", about.address())));
    };
    list_page::limit_exports(&site).await?;
    let Some(records) = read_all(&site, model, &query, MOST_EXPORTED).await? else {
        let list = redirect(&query.address());
        return Ok(flash::warning(
            list,
            site.text(
                "Há registros demais para um arquivo: no máximo 10.000. Filtre a lista primeiro.",
                "There are too many records for one file: at most 10,000. Filter the list first.",
            ),
        ));
    };
    let columns = about.columns.iter().map(|column| column.name);
    let heads: Vec<_> = columns.clone().map(|name| site.field(name)).collect();
    let rows = records.iter().map(|record| {
        let columns = columns.clone();
        columns.map(|name| record.fact(name).clone()).collect()
    });
    Ok(list_page::file_of_rows(&site, about.path, &heads, rows))
}
