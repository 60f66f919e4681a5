//! `/analyses/`: the list of analyses, one analysis with its provenance, and a product's page,
//! where an analysis is requested, its progress is shown and the supply terms are edited. The panel
//! on the catalogue's product page is in `panel`. Results are plain text, which templates escape.

mod panel;
mod view;

use resource::Record as _;

use crate::{
    access::{Model, Verb},
    analysis::RestockTerms,
    page::{
        Form, FormSubmission, Frame, PageResult, flash,
        routes::{PageRouter, get, post_from},
        see_other,
    },
    rest::{RecordId, Refusal, page::PageRequest, query::Parameters},
    stock,
};
pub(crate) use panel::AnalysisPanel;
use view::{AnalysisListPage, AnalysisPage, ProductAnalysesPage};
pub(crate) use view::{Piece, outcome, pieces};

pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .route("/analyses/", get(list).post(request_analysis))
        .route("/analyses/{id}/", get(read))
        .route("/analyses/product/{id}/", get(product))
        .route(
            "/analyses/product/{id}/terms/",
            post_from("../", write_terms),
        )
}

async fn list(frame: Frame, parameters: Parameters) -> PageResult {
    let page_request = PageRequest::parse(&frame.state, &parameters)?;
    let analyses = crate::analysis::list(&frame.state, None, page_request).await?;
    let waiting = crate::analysis::waiting(&frame.state).await?;
    let low = if analyses.results.is_empty() {
        stock::low_count(&frame.state).await?
    } else {
        0
    };
    Ok(frame.show(AnalysisListPage::new(&frame, analyses, waiting, low)))
}

async fn read(frame: Frame, id: RecordId) -> PageResult {
    let found = crate::analysis::read(&frame.state, id.known()?).await?;
    let analysis = found.ok_or(Refusal::NotFound)?;
    let product = match analysis.summary.product {
        Some(product) => crate::analysis::product(&frame.state, product).await?,
        None => None,
    };
    Ok(frame.show(AnalysisPage::new(&frame, &analysis, product)))
}

/// Requests an analysis and redirects to the page that shows its progress.
async fn request_analysis(frame: Frame, post: FormSubmission) -> PageResult {
    frame.require(Verb::Add, Model::Analysis)?;
    let product = post.form.value("product").parse();
    let product: i64 = product.map_err(|_| Refusal::NotFound)?;
    let before = crate::analysis::analyse_now(&frame.state, &frame.caller, product).await?;
    let after = before.newest.unwrap_or(0);
    // The panel on the catalogue's product page shows the progress, too.
    let (path, place) = match post.form.value("from") {
        "product" => ("products", "#analysis"),
        _ => ("analyses/product", ""),
    };
    Ok(see_other(&format!(
        "/{path}/{product}/?after={after}{place}"
    )))
}

/// A product's analyses. With `after`, the user waits for an analysis with a larger id and is
/// redirected to it once it is stored.
async fn product(frame: Frame, id: RecordId, parameters: Parameters) -> PageResult {
    let id = id.known()?;
    let after: Option<i64> = parameters.get("after").and_then(|id| id.parse().ok());
    let status = crate::analysis::status(&frame.state, id).await?;
    if let (Some(after), Some(newest)) = (after, status.newest)
        && newest > after
    {
        return Ok(see_other(&format!("/analyses/{newest}/")));
    }
    let terms = crate::analysis::read_terms(&frame.state, id).await?;
    let form = view::form(&frame, &terms.ok_or(Refusal::NotFound)?);
    show_product(&frame, id, form, after).await
}

async fn show_product(frame: &Frame, id: i64, form: Form, after: Option<i64>) -> PageResult {
    let state = &frame.state;
    let product = crate::analysis::product(state, id).await?;
    let page_request = PageRequest::parse(state, &Parameters::parse(""))?;
    let template = ProductAnalysesPage::new(
        frame,
        product.ok_or(Refusal::NotFound)?,
        crate::analysis::status(state, id).await?,
        crate::analysis::list(state, Some(id), page_request).await?,
        form,
        after,
    );
    Ok(frame.show_form(template.is_refused(), template))
}

async fn write_terms(frame: Frame, id: RecordId, mut post: FormSubmission) -> PageResult {
    let id = id.known()?;
    frame.require(Verb::Change, Model::Product)?;
    post.read_fields(RestockTerms::FIELDS, frame.locale);
    match RestockTerms::read(&post.members) {
        Ok(terms) if !post.form.is_refused() => {
            crate::analysis::write_terms(&frame.state, &frame.caller, id, terms).await?;
            let text = frame.text("As premissas foram salvas.", "The assumptions were saved.");
            let back = see_other(&format!("/analyses/product/{id}/"));
            Ok(flash::success(back, text))
        }
        terms => {
            post.form
                .absorb(&terms.err().unwrap_or_default(), frame.locale);
            show_product(&frame, id, post.form, None).await
        }
    }
}
