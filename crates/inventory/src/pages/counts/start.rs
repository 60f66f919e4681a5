//! Begins a count. Its products are those that a filter of the product list selects, or those that
//! a supplier delivers.

use askama::Template;
use axum::response::Response;

use super::{ABOUT, number, to_draft};
use crate::{
    catalogue::products::Products,
    page::{
        Form, FormSubmission, Frame, PageResult, flash,
        list_page::{Filter, ListRequest},
        picker::Picker,
        records::ResourcePages as _,
    },
    rest::{Refusal, json::Titled, query::Parameters},
    stock::{
        counts::{LAST_INFLOWS, of_supplier, start},
        documents::DocumentKind,
    },
};

/// The fields, in the order of the form.
const FIELDS: &[&str] = &["category", "brand", "supplier", "search"];

#[derive(Template)]
#[template(path = "stock/count_start.html")]
struct StartPage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    pickers: Vec<&'a Picker>,
    /// Filters of the product list that this form has no field for.
    others: Vec<(&'static str, String)>,
    /// The selected products, in words; empty for all products.
    words: String,
    is_chosen: bool,
    most: String,
    /// The number of a supplier's latest inflows whose products are counted.
    last_inflows: String,
}

/// The filters that select the products to count: those of the product list, and a supplier.
fn filters(frame: &Frame) -> Vec<Filter> {
    let mut filters = Products.filters(frame.locale);
    filters.push(Filter::record(Picker::supplier(frame)));
    filters
}

/// The draft's label and its products. One product more than the limit is returned if there are too
/// many.
async fn products(
    frame: &Frame,
    selection: &ListRequest,
) -> Result<(String, Vec<Titled>), Refusal> {
    let limit = number(DocumentKind::Count.max_lines()) + 1;
    let words = selection.in_words(frame.locale).join(" · ");
    let label = if words.is_empty() {
        frame.text("Todos os produtos", "All products").to_owned()
    } else {
        words.chars().take(MAX_LABEL).collect()
    };
    if let Some(Ok(supplier)) = supplier(selection).map(str::parse) {
        return Ok((label, of_supplier(&frame.state, supplier, limit).await?));
    }
    let found = crate::pages::products::first(&frame.state, &selection.parameters, limit).await?;
    let titled = found.into_iter().map(|product| Titled {
        id: product.id,
        title: product.title,
    });
    Ok((label, titled.collect()))
}

/// The id of the chosen supplier.
fn supplier(selection: &ListRequest) -> Option<&str> {
    selection.parameters.get("supplier")
}

fn page<'a>(frame: &'a Frame, selection: &'a ListRequest) -> StartPage<'a> {
    let words = selection.in_words(frame.locale).join(" · ");
    StartPage {
        frame,
        form: &selection.form,
        pickers: selection.pickers().collect(),
        others: selection.others(),
        is_chosen: !words.is_empty() && !selection.form.is_refused(),
        words,
        most: frame.locale.number(DocumentKind::Count.max_lines()),
        last_inflows: frame.locale.number(LAST_INFLOWS),
    }
}

fn again(frame: &Frame, mut selection: ListRequest) -> Response {
    selection.form.sort(FIELDS);
    frame.show_again(page(frame, &selection))
}

/// The most characters of a draft's label.
const MAX_LABEL: usize = 200;

/// `GET /counts/new/`, with the filters of the product list, or with a supplier.
pub(super) async fn open(frame: Frame, parameters: Parameters) -> PageResult {
    ABOUT.admit(&frame)?;
    let selection = ListRequest::read(&frame, filters(&frame), parameters).await?;
    Ok(frame.show(page(&frame, &selection)))
}

/// `POST /counts/new/`
pub(super) async fn begin(frame: Frame, post: FormSubmission) -> PageResult {
    ABOUT.admit(&frame)?;
    let key = post.idempotency_key(&frame, "counts");
    let filters = filters(&frame);
    let mut parameters = Parameters::default();
    for filter in &filters {
        for suffix in Picker::SUFFIXES {
            let name = format!("{}{suffix}", filter.name);
            parameters.set(&name, post.text(&name));
        }
    }
    let mut selection = ListRequest::read(&frame, filters, parameters).await?;
    if supplier(&selection).is_some() && selection.in_words(frame.locale).len() > 1 {
        let text = frame.text(
            "Escolha só o fornecedor, ou só os outros campos.",
            "Choose the supplier alone, or the other fields alone.",
        );
        selection.form.complain("supplier", text);
    }
    if selection.form.is_refused() {
        return Ok(again(&frame, selection));
    }
    let result = match products(&frame, &selection).await {
        Ok(products) => start(&frame.state, &frame.caller, products, key).await,
        Err(refusal) => Err(refusal),
    };
    match result {
        Ok(saved) => {
            let text = frame.text("Contagem iniciada.", "Count started.");
            Ok(flash::success(to_draft(saved.id), text))
        }
        Err(refusal) => {
            selection.form.take(refusal, frame.locale)?;
            Ok(again(&frame, selection))
        }
    }
}
