//! Begins a count. Its products are those that a filter of the product list selects, or those that
//! a supplier delivers.

use askama::Template;
use axum::response::Response;

use super::{ABOUT, number, to_draft};
use crate::{
    catalogue::products::Products,
    page::{
        Form, FormSubmission, Frame, PageResult, flash, list_page::ListRequest, picker::Picker,
        posts, records::ResourcePages as _,
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

/// The selection of the products to count.
struct CountRequest {
    list: ListRequest,
    supplier: Picker,
}

impl CountRequest {
    async fn read(frame: &Frame, mut parameters: Parameters) -> Result<Self, Refusal> {
        let picker = Picker::supplier(frame);
        let mut form = Form::new();
        let supplier = posts::filter_record(frame, picker, &mut parameters, &mut form).await?;
        let filters = Products.filters(frame.locale);
        let mut list = filters.read(frame, parameters).await?;
        let problem = form.error("supplier");
        if !problem.is_empty() {
            list.form.complain("supplier", problem);
        }
        Ok(Self { list, supplier })
    }

    /// The selection in words; empty for all products.
    fn in_words(&self, frame: &Frame) -> Vec<String> {
        let mut words = self.list.in_words(frame);
        if !self.supplier.id.is_empty() {
            words.push(format!("{}: {}", self.supplier.label, self.supplier.text));
        }
        words
    }

    /// The draft's label and its products. One product more than the limit is returned if there are
    /// too many.
    async fn products(&self, frame: &Frame) -> Result<(String, Vec<Titled>), Refusal> {
        let limit = number(DocumentKind::Count.max_lines()) + 1;
        let words = self.in_words(frame).join(" · ");
        let label = if words.is_empty() {
            frame.text("Todos os produtos", "All products").to_owned()
        } else {
            words.chars().take(MAX_LABEL).collect()
        };
        if let Ok(supplier) = self.supplier.id.parse() {
            return Ok((label, of_supplier(&frame.state, supplier, limit).await?));
        }
        let found =
            crate::pages::products::first(&frame.state, &self.list.parameters, limit).await?;
        let titled = found.into_iter().map(|product| Titled {
            id: product.id,
            title: product.title,
        });
        Ok((label, titled.collect()))
    }

    fn page<'a>(&'a self, frame: &'a Frame) -> StartPage<'a> {
        let words = self.in_words(frame).join(" · ");
        StartPage {
            frame,
            form: &self.list.form,
            pickers: self.list.picked.iter().chain([&self.supplier]).collect(),
            others: self.list.others(),
            is_chosen: !words.is_empty() && !self.list.form.is_refused(),
            words,
            most: frame.locale.number(DocumentKind::Count.max_lines()),
            last_inflows: frame.locale.number(LAST_INFLOWS),
        }
    }

    fn again(mut self, frame: &Frame) -> Response {
        self.list.form.sort(FIELDS);
        frame.show_again(self.page(frame))
    }
}

/// The most characters of a draft's label.
const MAX_LABEL: usize = 200;

/// `GET /counts/new/`, with the filters of the product list, or with a supplier.
pub(super) async fn open(frame: Frame, parameters: Parameters) -> PageResult {
    ABOUT.admit(&frame)?;
    let count_request = CountRequest::read(&frame, parameters).await?;
    Ok(frame.show(count_request.page(&frame)))
}

/// `POST /counts/new/`
pub(super) async fn begin(frame: Frame, post: FormSubmission) -> PageResult {
    ABOUT.admit(&frame)?;
    let key = post.idempotency_key(&frame, "counts");
    let mut parameters = Parameters::default();
    let names = Products.filters(frame.locale).names().into_iter();
    for name in names.chain(["supplier"]) {
        for suffix in Picker::SUFFIXES {
            let name = format!("{name}{suffix}");
            parameters.set(&name, post.text(&name));
        }
    }
    let mut count_request = CountRequest::read(&frame, parameters).await?;
    if !count_request.supplier.id.is_empty() && !count_request.list.in_words(&frame).is_empty() {
        let text = frame.text(
            "Escolha só o fornecedor, ou só os outros campos.",
            "Choose the supplier alone, or the other fields alone.",
        );
        count_request.list.form.complain("supplier", text);
    }
    if count_request.list.form.is_refused() {
        return Ok(count_request.again(&frame));
    }
    let result = match count_request.products(&frame).await {
        Ok(products) => start(&frame.state, &frame.caller, products, key).await,
        Err(refusal) => Err(refusal),
    };
    match result {
        Ok(saved) => {
            let text = frame.text("Contagem iniciada.", "Count started.");
            Ok(flash::success(to_draft(saved.id), text))
        }
        Err(refusal) => {
            count_request.list.form.take(refusal, frame.locale)?;
            Ok(count_request.again(&frame))
        }
    }
}
