//! The form of a product, new or existing. Its own low-stock threshold is on it too, although the API has an address of its own for that.

use askama::Template;
use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use http::request::Parts;
use resource::{Field, Record as _};

use web::locale::Locale;

use super::{address, pickers};
use crate::{
    State,
    access::{Model, Verb},
    api::writes,
    catalogue::products::{self, Edit, ProductRecord, Products},
    page::{
        Form, Frame, PageState, Post,
        edit_conflict::{self, FieldSnapshot, FormEdit},
        flash::{self, Flash},
        picked_next,
        picker::Picked,
        records::{Answer, Shared},
        see_other,
        value::FieldValue,
    },
    rest::{
        RecordId, Refusal,
        fields::{Draft, Mode, Reader, Setting},
        query::Parameters,
    },
    stock::{self, OPTIONAL_THRESHOLD},
};

/// What the form writes beside the fields of a product.
const THRESHOLD: &str = OPTIONAL_THRESHOLD.name;

/// The fields of a product that the form writes.
fn written() -> impl Iterator<Item = &'static Field> {
    let fields = ProductRecord::FIELDS.iter().copied();
    fields.filter(|field| !field.is_read_only)
}

/// All fields in the order of the form: long texts stand at its end.
fn fields() -> Vec<&'static Field> {
    let fields = |is_long| written().filter(move |field| field.is_long() == is_long);
    let threshold = [OPTIONAL_THRESHOLD];
    fields(false).chain(threshold).chain(fields(true)).collect()
}

/// Their names.
fn order() -> Vec<&'static str> {
    fields().into_iter().map(|field| field.name).collect()
}

/// What the form shows.
struct ProductForm {
    form: Form,
    picked: Vec<Picked>,
}

#[derive(Template)]
#[template(path = "catalogue/product_form.html")]
struct ProductFormPage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    picked: &'a [Picked],
    described: Vec<&'static Field>,
    /// The product that is changed; none for a new one.
    product: Option<&'a str>,
    /// The shop's threshold, which holds where a product has none of its own.
    shop: i64,
    next: &'a str,
}

impl ProductFormPage<'_> {
    fn picker(&self, field: &Field) -> Option<&Picked> {
        self.picked.iter().find(|picked| picked.name == field.name)
    }

    fn hint(&self, field: &Field) -> String {
        let frame = self.frame;
        let hint = match &self.product {
            _ if field == OPTIONAL_THRESHOLD => return self.threshold_hint(),
            _ if field != ProductRecord::quantity => frame.say(field.help),
            None => frame.text("Estoque inicial.", "Starting stock."),
            Some(_) => frame.text(
                "Mudar aqui registra um ajuste no extrato.",
                "Changing it here records an adjustment in the ledger.",
            ),
        };
        hint.to_owned()
    }

    fn threshold_hint(&self) -> String {
        let shop = self.frame.locale.number(self.shop);
        match self.frame.locale {
            Locale::PtBr => format!("Em branco, usa o mínimo da loja ({shop})."),
            Locale::En => format!("If blank, the shop default ({shop}) applies."),
        }
    }
}

fn page<'a>(
    frame: &'a Frame,
    state: &State,
    shown: &'a ProductForm,
    product: Option<&'a ProductRecord>,
    next: &'a str,
) -> ProductFormPage<'a> {
    ProductFormPage {
        frame,
        form: &shown.form,
        picked: &shown.picked,
        described: fields(),
        product: product.map(|product| product.title.as_str()),
        shop: state.config.low_stock_threshold,
        next,
    }
}

/// `GET /products/new/`, with values that the address may bring.
pub(super) async fn new(Extracted(state): Shared, frame: Frame, request: Request) -> Answer {
    frame.require(Verb::Add, Model::Product)?;
    let asked = Parameters::of_address(request.uri());
    let mut form = Form::new().with(ProductRecord::quantity.name, "0");
    for field in [ProductRecord::title, ProductRecord::serie_number] {
        form.set(field.name, asked.get(field.name).unwrap_or_default());
    }
    let mut picked = Vec::new();
    for picker in pickers(&frame) {
        let id = asked.get(picker.name);
        picked.push(picker.choose_known(&state.state, id).await?);
    }
    let shown = ProductForm { form, picked };
    let next = asked.get("next").unwrap_or_default();
    Ok(frame.show(page(&frame, &state.state, &shown, None, next)))
}

/// A form that was sent, with its fields read.
struct SubmittedProduct {
    post: Post,
    picked: Vec<Picked>,
    threshold: Setting<Option<i64>>,
}

async fn understand(
    state: &State,
    frame: &Frame,
    parts: &Parts,
    body: axum::body::Body,
) -> Result<SubmittedProduct, Refusal> {
    let locale = frame.locale;
    let mut post = Post::read(state, parts, body).await?;
    post.read_fields(&fields(), locale);
    let mut picked = Vec::new();
    for picker in pickers(frame) {
        picked.push(post.pick(state, picker, locale).await?);
    }
    let mut reader = Reader::new(&post.members, Mode::Whole);
    let threshold = reader.optional_integer(THRESHOLD, 0, i64::MAX);
    post.form.absorb(&reader.finish(), locale);
    Ok(SubmittedProduct {
        post,
        picked,
        threshold,
    })
}

impl SubmittedProduct {
    /// What is written: not what the form leaves as it is stored.
    fn written(&self, changes: &FormEdit) -> Edit {
        let mut edit = Edit {
            members: self.post.members.clone(),
            threshold: self.threshold.clone(),
        };
        for field in changes.unchanged() {
            edit.members.remove(field);
            if field == THRESHOLD {
                edit.threshold = Setting::Kept;
            }
        }
        edit
    }

    /// Prepares the form to be shown again beside the product as it is stored. Pickers that could not be read stay.
    async fn refresh(
        &mut self,
        state: &State,
        frame: &Frame,
        changes: &FormEdit,
        stored: &[FieldSnapshot],
    ) -> Result<(), Refusal> {
        let form = &mut self.post.form;
        for picked in &self.picked {
            form.set(picked.name, picked.id.as_str());
        }
        changes.refresh(form, stored, frame.locale);
        for picked in &mut self.picked {
            let id = form.value(picked.name);
            if *id != picked.id {
                *picked = picked.clone().choose(state, id).await?;
            }
        }
        Ok(())
    }

    /// Adds the service's errors of the other fields, so that all are shown at once.
    async fn again(
        mut self,
        frame: &Frame,
        state: &State,
        product: Option<&ProductRecord>,
    ) -> Result<Response, Refusal> {
        let own = product.map(|product| product.id);
        let errors = products::all_problems(state, own, &self.post.members).await?;
        self.post.form.absorb(&errors, frame.locale);
        let next = self.post.text("next");
        let mut shown = ProductForm {
            form: self.post.form,
            picked: self.picked,
        };
        shown.form.sort(&order());
        Ok(frame.show_again(page(frame, state, &shown, product, &next)))
    }
}

/// `POST /products/new/`
pub(super) async fn create(Extracted(page): Shared, frame: Frame, request: Request) -> Answer {
    frame.require(Verb::Add, Model::Product)?;
    let (parts, body) = request.into_parts();
    let mut sent = understand(&page.state, &frame, &parts, body).await?;
    if sent.post.form.is_refused() {
        return Ok(sent.again(&frame, &page.state, None).await?);
    }
    let key = sent.post.idempotency_key(&frame, "products");
    let draft = Draft::read(&sent.post.members, Mode::Whole);
    let created = writes::create_of_form(&page.state, &frame.caller, Products, draft, key).await;
    let product = match created.and_then(|product| product.ok_or(Refusal::NotFound)) {
        Ok(product) => product,
        Err(refusal) => {
            sent.post.form.take(refusal, frame.locale)?;
            return Ok(sent.again(&frame, &page.state, None).await?);
        }
    };
    keep_threshold(&page, &frame, &product, sent.threshold).await?;
    let next = if sent.post.text("again").is_empty() {
        picked_next(&sent.post.text("next"), "product", product.id)
            .unwrap_or_else(|| address(product.id))
    } else {
        "/products/new/".to_owned()
    };
    let text = format!(
        "{}: {}.",
        frame.text("Produto criado", "Product added"),
        product.title
    );
    Ok(flash::leave(see_other(&next), Flash::success(text)))
}

/// Writes the threshold of a new product.
async fn keep_threshold(
    page: &PageState,
    frame: &Frame,
    product: &ProductRecord,
    threshold: Setting<Option<i64>>,
) -> Result<(), Refusal> {
    let may = frame.may(Verb::Change, Model::Product);
    match threshold {
        Setting::Set(Some(threshold)) if may => {
            let threshold = Some(threshold);
            stock::threshold_set(&page.state, &frame.caller, product.id, threshold).await
        }
        _ => Ok(()),
    }
}

async fn find(
    state: &State,
    RecordId(id): RecordId,
) -> Result<(ProductRecord, Option<i64>), Refusal> {
    let id = id.ok_or(Refusal::NotFound)?;
    let product = products::read(state, id).await?.ok_or(Refusal::NotFound)?;
    let threshold = stock::threshold_read(state, id).await?.flatten();
    Ok((product, threshold))
}

/// `GET /products/<id>/edit/`
pub(super) async fn edit(
    Extracted(state): Shared,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> Answer {
    frame.require(Verb::Change, Model::Product)?;
    let asked = Parameters::of_address(request.uri());
    let (product, threshold) = find(&state.state, id).await?;
    let mut form = Form::new();
    edit_conflict::open(&mut form, &snapshots(&product, threshold), frame.locale);
    let mut picked = Vec::new();
    for (field, value) in product.values() {
        if let Some(picker) = Picked::of(&frame, field) {
            let own = value.typed();
            let id = asked.get(field.name).or(Some(&own));
            picked.push(picker.choose_known(&state.state, id).await?);
        }
    }
    let shown = ProductForm { form, picked };
    let next = asked.get("next").unwrap_or_default();
    Ok(frame.show(page(&frame, &state.state, &shown, Some(&product), next)))
}

/// The fields of the form as they are stored.
fn snapshots(product: &ProductRecord, threshold: Option<i64>) -> Vec<FieldSnapshot> {
    let threshold = threshold.map_or(FieldValue::Empty, FieldValue::Number);
    let threshold = FieldSnapshot::new(OPTIONAL_THRESHOLD, threshold);
    let fields: Vec<_> = written().collect();
    let mut stored = FieldSnapshot::all(product, &fields);
    stored.push(threshold);
    stored
}

/// `POST /products/<id>/edit/`
pub(super) async fn update(
    Extracted(page): Shared,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> Answer {
    frame.require(Verb::Change, Model::Product)?;
    let (product, threshold) = find(&page.state, id).await?;
    let (parts, body) = request.into_parts();
    let mut sent = understand(&page.state, &frame, &parts, body).await?;
    let (whole, locale) = (
        products::problems(&sent.post.members, Mode::Whole),
        frame.locale,
    );
    let changes = FormEdit::of(&sent.post.form, &sent.post.members, fields());
    if sent.post.form.is_refused() || !whole.is_empty() {
        let stored = snapshots(&product, threshold);
        sent.refresh(&page.state, &frame, &changes, &stored).await?;
        return Ok(sent.again(&frame, &page.state, Some(&product)).await?);
    }
    let (edit, compared) = (sent.written(&changes), changes.clone());
    let refused = move |product: &ProductRecord, threshold| {
        compared.conflicts(&snapshots(product, threshold), locale)
    };
    match products::edit(&page.state, &frame.caller, product.id, edit, refused).await {
        Ok(Some(product)) => {
            let next = frame.back(&sent.post.text("next"));
            let text = format!(
                "{}: {}.",
                frame.text("Produto alterado", "Product changed"),
                product.title
            );
            Ok(flash::leave(see_other(&next), Flash::success(text)))
        }
        Ok(None) => Err(Refusal::NotFound.into()),
        Err(refusal) => {
            sent.post.form.take(refusal, locale)?;
            let (product, threshold) = find(&page.state, RecordId(Some(product.id))).await?;
            let stored = snapshots(&product, threshold);
            sent.refresh(&page.state, &frame, &changes, &stored).await?;
            Ok(sent.again(&frame, &page.state, Some(&product)).await?)
        }
    }
}
