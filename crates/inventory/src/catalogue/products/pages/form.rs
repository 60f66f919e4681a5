//! The form of a product, new or existing. Its own low-stock threshold is on it too, although the API has an address of its own for that.

use askama::Template;
use axum::extract::{Request, State as Extracted};
use http::request::Parts;

use web::locale::Locale;

use super::{Answer, Page, address, pickers};
use crate::{
    State,
    accounts::{Model, Verb, pages::posted},
    catalogue::products::{self, Edit, ProductRecord},
    page::{
        Form, Frame, PageState, Post,
        flash::{self, Flash},
        meanwhile::{self, Opened, Standing, one_line},
        numbers, picked_next,
        picker::Picked,
        see_other,
    },
    rest::{
        Refusal,
        fields::{Mode, Reader, Setting},
        json::Named,
        query::Parameters,
        resource::RecordId,
    },
    stock,
};

const PRICES: &[&str] = &["cost_price", "selling_price"];
const COUNTS: &[&str] = &["quantity", "threshold"];
/// The fields in the order of the form.
const FIELDS: &[&str] = &[
    "title",
    "category",
    "brand",
    "serie_number",
    "cost_price",
    "selling_price",
    "quantity",
    "threshold",
    "description",
];

/// What the form shows.
struct Shown {
    form: Form,
    category: Picked,
    brand: Picked,
}

#[derive(Template)]
#[template(path = "catalogue/product_form.html")]
struct FormPage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    category: &'a Picked,
    brand: &'a Picked,
    /// The product that is changed; none for a new one.
    product: Option<&'a str>,
    /// The shop's threshold, which holds where a product has none of its own.
    shop: i64,
    /// Where a category and a brand are added on the way; empty for those who may not.
    add_category: String,
    add_brand: String,
    next: &'a str,
}

impl FormPage<'_> {
    fn quantity_hint(&self) -> &'static str {
        if self.product.is_none() {
            return self.frame.text("Estoque inicial.", "Starting stock.");
        }
        self.frame.text(
            "Mudar aqui registra um ajuste no extrato.",
            "Changing it here writes an adjustment into the ledger.",
        )
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
    shown: &'a Shown,
    product: Option<&'a str>,
    next: &'a str,
) -> FormPage<'a> {
    FormPage {
        frame,
        form: &shown.form,
        category: &shown.category,
        brand: &shown.brand,
        product,
        shop: state.config.low_stock_threshold,
        add_category: shown.category.add_address(frame),
        add_brand: shown.brand.add_address(frame),
        next,
    }
}

/// `GET /products/new/`, with values that the address may bring.
pub(super) async fn new(Extracted(state): Page, frame: Frame, request: Request) -> Answer {
    frame.require(Verb::Add, Model::Product)?;
    let asked = Parameters::of_address(request.uri());
    let mut form = Form::new().with("quantity", "0");
    for field in ["title", "serie_number"] {
        form.set(field, asked.get(field).unwrap_or_default());
    }
    let (category, brand) = pickers(&frame);
    let shown = Shown {
        form,
        category: category
            .choose_known(&state.state, asked.get("category"))
            .await?,
        brand: brand.choose_known(&state.state, asked.get("brand")).await?,
    };
    let next = asked.get("next").unwrap_or_default();
    Ok(frame.show(page(&frame, &state.state, &shown, None, next)))
}

/// What was posted, understood.
struct Understood {
    post: Post,
    category: Picked,
    brand: Picked,
    threshold: Setting<Option<i64>>,
}

async fn understand(
    state: &State,
    frame: &Frame,
    parts: &Parts,
    body: axum::body::Body,
) -> Result<Understood, Refusal> {
    let locale = frame.locale;
    let mut post = Post::read(state, parts, body).await?;
    post.amounts(PRICES, locale);
    post.counts(COUNTS, locale);
    let (category, brand) = pickers(frame);
    let category = post.pick(state, category, locale).await?;
    let brand = post.pick(state, brand, locale).await?;
    post.blank_is_none(&["description", "serie_number", "threshold"]);
    let mut reader = Reader::new(&post.members, Mode::Whole);
    let threshold = reader.optional_integer("threshold", 0, i64::MAX);
    post.form.absorb(&reader.finish(), locale);
    Ok(Understood {
        post,
        category,
        brand,
        threshold,
    })
}

impl Understood {
    /// What the form showed when it was opened, beside what was sent.
    fn opened(&self) -> Opened {
        let sent = FIELDS.iter().map(|field| {
            let sent = posted::text(&self.post.members, field);
            (*field, sent.unwrap_or_default())
        });
        Opened::of(&self.post.form, sent)
    }

    /// What is written: not what was left as it was shown.
    fn edit(&self, opened: &Opened) -> Edit {
        let mut edit = Edit {
            members: self.post.members.clone(),
            threshold: self.threshold.clone(),
        };
        for field in opened.left() {
            edit.members.remove(field);
            if field == "threshold" {
                edit.threshold = Setting::Kept;
            }
        }
        edit
    }

    /// Shows what was left as it stands now, and compares with that from now on.
    async fn renew(
        &mut self,
        state: &State,
        frame: &Frame,
        opened: &Opened,
        now: &[Standing],
    ) -> Result<(), Refusal> {
        let form = &mut self.post.form;
        form.set("category", self.category.id.as_str());
        form.set("brand", self.brand.id.as_str());
        opened.renew(form, now, frame.locale);
        let (category, brand) = pickers(frame);
        self.category = category.choose(state, form.value("category")).await?;
        self.brand = brand.choose(state, form.value("brand")).await?;
        Ok(())
    }

    /// Adds what the service would say of the other fields, so that every problem is told at once.
    fn again(
        mut self,
        frame: &Frame,
        state: &State,
        product: Option<&str>,
    ) -> axum::response::Response {
        let errors = products::problems(&self.post.members, Mode::Whole);
        self.post.form.absorb(&errors, frame.locale);
        let next = self.post.text("next");
        let mut shown = Shown {
            form: self.post.form,
            category: self.category,
            brand: self.brand,
        };
        shown.form.sort(FIELDS);
        frame.show_again(page(frame, state, &shown, product, &next))
    }
}

/// `POST /products/new/`
pub(super) async fn create(Extracted(page): Page, frame: Frame, request: Request) -> Answer {
    frame.require(Verb::Add, Model::Product)?;
    let (parts, body) = request.into_parts();
    let mut sent = understand(&page.state, &frame, &parts, body).await?;
    if sent.post.form.is_refused() {
        return Ok(sent.again(&frame, &page.state, None));
    }
    let key = sent.post.repeatable(&frame, "products");
    let members = &sent.post.members;
    let product = match products::create_once(&page.state, &frame.caller, members, key).await {
        Ok(product) => product,
        Err(refusal) => {
            sent.post.form.take(refusal, frame.locale)?;
            return Ok(sent.again(&frame, &page.state, None));
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
    Extracted(state): Page,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> Answer {
    frame.require(Verb::Change, Model::Product)?;
    let asked = Parameters::of_address(request.uri());
    let (product, threshold) = find(&state.state, id).await?;
    let mut form = Form::new();
    meanwhile::open(&mut form, &standings(&product, threshold, frame.locale));
    let (category, brand) = pickers(&frame);
    let own = |id: i64| id.to_string();
    let (own_category, own_brand) = (own(product.category.id), own(product.brand.id));
    let shown = Shown {
        form,
        category: category
            .choose_known(&state.state, asked.get("category").or(Some(&own_category)))
            .await?,
        brand: brand
            .choose_known(&state.state, asked.get("brand").or(Some(&own_brand)))
            .await?,
    };
    let next = asked.get("next").unwrap_or_default();
    Ok(frame.show(page(
        &frame,
        &state.state,
        &shown,
        Some(&product.title),
        next,
    )))
}

/// The fields of the form as they stand.
fn standings(product: &ProductRecord, threshold: Option<i64>, locale: Locale) -> Vec<Standing> {
    let price = |field, price| Standing {
        typed: numbers::amount_text(price, locale),
        told: locale.money(price),
        ..Standing::plain(field, price.to_string())
    };
    let record = |field, record: &Named| Standing {
        told: record.name.clone(),
        ..Standing::plain(field, record.id.to_string())
    };
    let count = |field, count: Option<i64>| Standing {
        told: count.map_or_else(String::new, |count| locale.number(count)),
        ..Standing::plain(
            field,
            count.map_or_else(String::new, |count| count.to_string()),
        )
    };
    let serie_number = product.serie_number.as_deref().unwrap_or_default();
    let description = product.description.as_deref().unwrap_or_default();
    vec![
        Standing::plain("title", one_line(&product.title)),
        record("category", &product.category),
        record("brand", &product.brand),
        Standing::plain("serie_number", one_line(serie_number)),
        price("cost_price", product.cost_price),
        price("selling_price", product.selling_price),
        count("quantity", Some(product.quantity)),
        count("threshold", threshold),
        Standing::plain("description", description),
    ]
}

/// `POST /products/<id>/edit/`
pub(super) async fn update(
    Extracted(page): Page,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> Answer {
    frame.require(Verb::Change, Model::Product)?;
    let (product, _) = find(&page.state, id).await?;
    let (parts, body) = request.into_parts();
    let mut sent = understand(&page.state, &frame, &parts, body).await?;
    let whole = products::problems(&sent.post.members, Mode::Whole);
    if sent.post.form.is_refused() || !whole.is_empty() {
        return Ok(sent.again(&frame, &page.state, Some(&product.title)));
    }
    let (opened, locale) = (sent.opened(), frame.locale);
    let (edit, shown) = (sent.edit(&opened), opened.clone());
    let refused = move |product: &ProductRecord, threshold| {
        shown.meanwhile(&standings(product, threshold, locale), locale)
    };
    match products::edit(&page.state, &frame.caller, product.id, edit, refused).await {
        Ok(Some(product)) => {
            let next = picked_next(&sent.post.text("next"), "", product.id)
                .unwrap_or_else(|| address(product.id));
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
            let now = standings(&product, threshold, locale);
            sent.renew(&page.state, &frame, &opened, &now).await?;
            Ok(sent.again(&frame, &page.state, Some(&product.title)))
        }
    }
}
