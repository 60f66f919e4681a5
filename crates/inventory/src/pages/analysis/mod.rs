//! `/analyses/`: the list of analyses, one analysis with its provenance, and a product's page,
//! where an analysis is requested, its progress is shown and the supply terms are edited. The panel
//! on the catalogue's product page is in `panel`. Results are plain text, which templates escape.

mod panel;
mod view;

use askama::Template;
use resource::{Field, Kind, Record as _};

use crate::{
    access::{Model, Verb},
    analysis::{AnalysedProduct, AnalysisSummary, RestockTerms},
    page::{
        Form, FormSubmission, Frame, PageResult, flash,
        routes::{PageRouter, get, post_from},
        see_other,
    },
    rest::{
        RecordId, Refusal,
        page::{Page, PageRequest},
        query::Parameters,
    },
    stock,
};
pub(crate) use panel::AnalysisPanel;
use view::Progress;
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

/// `GET /analyses/`
#[derive(Template)]
#[template(path = "analysis/list.html")]
struct AnalysisListPage<'a> {
    frame: &'a Frame,
    page: Page<AnalysisSummary>,
    /// The text about products that wait for an analysis; `None` if none does.
    waiting: Option<String>,
    /// The number of products with low stock.
    low: i64,
    may_ask: bool,
}

async fn list(frame: Frame, parameters: Parameters) -> PageResult {
    let page_request = PageRequest::parse(&frame.state, &parameters)?;
    let page = crate::analysis::list(&frame.state, None, page_request).await?;
    let waiting = crate::analysis::waiting(&frame.state).await?;
    let low = if page.results.is_empty() {
        stock::low_count(&frame.state).await?
    } else {
        0
    };
    Ok(frame.show(AnalysisListPage {
        frame: &frame,
        page,
        waiting: (waiting > 0).then(|| view::queue_text(frame.locale, waiting)),
        low,
        may_ask: frame.may(Verb::Add, Model::Analysis),
    }))
}

/// `GET /analyses/<id>/`
#[derive(Template)]
#[template(path = "analysis/analysis.html")]
struct AnalysisPage<'a> {
    frame: &'a Frame,
    summary: &'a AnalysisSummary,
    /// The language of the text, which may differ from the user's.
    language: &'static str,
    /// The recommendation and its reasons.
    advice: Vec<Piece>,
    /// The assumptions of the recommendation.
    assumptions: Vec<Piece>,
    facts: Vec<(&'static str, String)>,
    /// The product. `None` if it was deleted.
    product: Option<AnalysedProduct>,
    may_ask: bool,
}

async fn read(frame: Frame, id: RecordId) -> PageResult {
    let found = crate::analysis::read(&frame.state, id.known()?).await?;
    let analysis = found.ok_or(Refusal::NotFound)?;
    let product = match analysis.summary.product {
        Some(product) => crate::analysis::product(&frame.state, product).await?,
        None => None,
    };
    let summary = &analysis.summary;
    let (advice, assumptions) = view::split_assumptions(&summary.result);
    Ok(frame.show(AnalysisPage {
        frame: &frame,
        summary,
        language: summary.language(frame.state.config.language).tag(),
        advice,
        assumptions,
        facts: view::facts(&frame, &analysis.provenance),
        may_ask: product.is_some() && frame.may(Verb::Add, Model::Analysis),
        product,
    }))
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

/// `GET /analyses/product/<id>/`
#[derive(Template)]
#[template(path = "analysis/product.html")]
struct ProductAnalysesPage<'a> {
    frame: &'a Frame,
    product: AnalysedProduct,
    quantity: String,
    progress: Progress,
    /// The user waits for an analysis with a larger id.
    after: i64,
    page: Page<AnalysisSummary>,
    form: &'a Form,
    /// The shop's default terms, one for each field.
    defaults: [String; 5],
    may_ask: bool,
    may_change: bool,
}

impl ProductAnalysesPage<'_> {
    fn attributes(&self, field: &Field) -> &'static str {
        match field.kind {
            _ if !self.may_change => "type=\"text\" readonly",
            Kind::Decimal => {
                "type=\"text\" inputmode=\"decimal\" autocomplete=\"off\" maxlength=\"10\""
            }
            _ => "type=\"text\" inputmode=\"numeric\" autocomplete=\"off\" maxlength=\"10\"",
        }
    }

    /// The hint that names the default for an empty field.
    fn hint(&self, place: usize) -> String {
        let default = self.defaults.get(place).map_or("", String::as_str);
        let otherwise = self.frame.text(
            "Em branco, usa o padrão da loja:",
            "If blank, the shop default applies:",
        );
        format!("{otherwise} {default}.")
    }
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
    show_product(&frame, id, &form, after).await
}

async fn show_product(frame: &Frame, id: i64, form: &Form, after: Option<i64>) -> PageResult {
    let state = &frame.state;
    let product = crate::analysis::product(state, id).await?;
    let product = product.ok_or(Refusal::NotFound)?;
    let status = crate::analysis::status(state, id).await?;
    let page_request = PageRequest::parse(state, &Parameters::parse(""))?;
    let template = ProductAnalysesPage {
        frame,
        quantity: frame.locale.number(product.quantity),
        product,
        progress: Progress::of(frame, status.phase),
        after: after.or(status.newest).unwrap_or(0),
        page: crate::analysis::list(state, Some(id), page_request).await?,
        form,
        defaults: view::defaults(frame.locale, &state.config.analysis.terms),
        may_ask: frame.may(Verb::Add, Model::Analysis),
        may_change: frame.may(Verb::Change, Model::Product),
    };
    Ok(frame.show_form(form.is_refused(), template))
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
            show_product(&frame, id, &post.form, None).await
        }
    }
}
