//! Products as a resource: creating, changing and deleting them. The ledger records the quantities
//! that are written here.

use db::{Conn, Error, Tx};
use http::Method;
use resource::{Field, Input as _, Record as _, Value, schema::example};
use serde_json::json;

use super::{ARCHIVED, BY_TITLE, ProductInput, ProductRecord, model::serie_number_taken, store};
use crate::{
    State,
    access::Model,
    aggregates::{self, ProductSnapshot},
    api::{
        openapi::Description,
        resource::{ApiResource, MUTABLE, Resource},
    },
    audit::{self, Action},
    catalogue,
    rest::{
        Message, Refusal,
        fields::{Draft, FieldErrors, Members, Mode, Reader},
        list::{QueryFilter, check_search},
        page::Page,
        query::Parameters,
    },
    stock,
    work::{Work, lock_product},
};

/// The resource at `/api/v1/products/`.
#[derive(Debug, Clone, Copy)]
pub struct Products;

impl Resource for Products {
    type Record = ProductRecord;

    fn path(self) -> &'static str {
        "products"
    }

    fn model(self) -> Model {
        Model::Product
    }

    fn methods(self) -> &'static [Method] {
        MUTABLE
    }

    fn fields(self) -> &'static [&'static Field] {
        ProductRecord::FIELDS
    }

    async fn read(self, state: &State, id: i64) -> Result<Option<ProductRecord>, Refusal> {
        super::read(state, id).await
    }
}

impl ApiResource for Products {
    fn description(self) -> Description {
        let values = [
            ("title", json!("Arroz 5 kg")),
            ("category", json!({"id": 1, "name": "Grãos"})),
            ("brand", json!({"id": 1, "name": "Tio João"})),
            ("serie_number", json!("7891234567895")),
            ("cost_price", json!("18.90")),
            ("selling_price", json!("24.90")),
            ("quantity", json!(40)),
        ];
        Description {
            words: Model::Product.words(),
            bodies: "Product".to_owned(),
            filters: &[QueryFilter::SEARCH, ARCHIVED],
            order: BY_TITLE,
            deletion: " Refused while inflows or outflows refer to it; its ledger stays.",
            example: example(self.fields(), &values),
        }
    }

    async fn list(
        self,
        state: &State,
        parameters: &Parameters,
    ) -> Result<Page<ProductRecord>, Refusal> {
        check_search(parameters)?;
        super::list(state, parameters).await
    }

    /// The quantity becomes the opening entry of the ledger.
    async fn create(
        self,
        work: &mut Work<'_>,
        draft: &Draft<ProductRecord>,
    ) -> Result<ProductRecord, Refusal> {
        check(work.tx, None, draft).await?;
        let mut input = draft.input.clone();
        let created_at = input.created_at.unwrap_or(work.now);
        input.created_at = Some(created_at);
        let id = store::insert(work.tx, &input).await.map_err(explain)?;
        let snapshot = snapshot_after(ProductSnapshot::default(), &input);
        let updated_at = input.updated_at.unwrap_or(created_at);
        let quantity = input.quantity.unwrap_or_default();
        stock::open(work, id, snapshot, quantity, updated_at).await?;
        let record = store::find(work.tx, id).await?.ok_or(Refusal::NotFound)?;
        let (action, model, title) = (Action::Added, Model::Product, &record.title);
        audit::record(work, action, model, id, title).await?;
        Ok(record)
    }

    /// A different quantity becomes an adjustment in the ledger.
    async fn change(
        self,
        work: &mut Work<'_>,
        id: i64,
        draft: &Draft<ProductRecord>,
    ) -> Result<Option<ProductRecord>, Refusal> {
        check(work.tx, Some(id), draft).await?;
        let (input, now) = (&draft.input, work.now);
        // Locks the stock row first, as movements do, so that the two cannot deadlock.
        let Some(before) = find_locked(work.tx, id).await? else {
            return Ok(None);
        };
        store::update_stock(work.tx, id, input, now).await?;
        store::update(work.tx, id, input).await.map_err(explain)?;
        let old = ProductSnapshot {
            category: before.category.id,
            brand: before.brand.id,
            cost_price: before.cost_price,
            selling_price: before.selling_price,
        };
        let new = snapshot_after(old, input);
        if old != new {
            aggregates::record_change(work.tx, id, before.quantity, (old, new)).await?;
        }
        if let Some(quantity) = input.quantity {
            stock::adjust(work, id, quantity, None).await?;
        }
        let after = store::find(work.tx, id).await?;
        if let Some(after) = &after {
            audit::changed(work, Model::Product, id, &after.title, (&before, after)).await?;
        }
        Ok(after)
    }

    /// The ledger remains. It ends at 0, so that a file can bring the product back under its id.
    async fn delete(self, work: &mut Work<'_>, id: i64) -> Result<bool, Refusal> {
        catalogue::check_deletion(work.tx, Model::Product, id).await?;
        stock::close(work, id).await?;
        let Some(title) = store::delete(work.tx, id).await? else {
            return Ok(false);
        };
        let (action, model) = (Action::Deleted, Model::Product);
        audit::record(work, action, model, id, &title).await?;
        Ok(true)
    }
}

/// The fields that the aggregates depend on, after an input is written.
fn snapshot_after(before: ProductSnapshot, input: &ProductInput) -> ProductSnapshot {
    ProductSnapshot {
        category: input
            .category
            .as_ref()
            .map_or(before.category, |new| new.id),
        brand: input.brand.as_ref().map_or(before.brand, |new| new.id),
        cost_price: input.cost_price.unwrap_or(before.cost_price),
        selling_price: input.selling_price.unwrap_or(before.selling_price),
    }
}

/// Changes a product and its own threshold. `None` if there is no such product.
pub(crate) async fn change_form(
    work: &mut Work<'_>,
    id: i64,
    members: &Members,
) -> Result<Option<ProductRecord>, Refusal> {
    let draft = Draft::read(members, Mode::Partial);
    let mut reader = Reader::new(members, Mode::Partial);
    let threshold = reader.read(stock::OPTIONAL_THRESHOLD);
    reader.finish().into_result()?;
    let own = stock::stock_state_locked(work.tx, id).await?;
    let changed = Products.change(work, id, &draft).await?;
    if let Some(threshold) = threshold
        && changed.is_some()
        && threshold != own.and_then(|own| own.threshold)
    {
        stock::write_threshold(work, id, threshold).await?;
    }
    Ok(changed)
}

/// A product, with its stock row locked until the transaction ends.
pub(crate) async fn find_locked(tx: &mut Tx, id: i64) -> Result<Option<ProductRecord>, Error> {
    lock_product(tx, id).await?;
    store::find(tx, id).await
}

/// Checks a row of an import before anything is written. Returns its serie number. `is_created`
/// tells whether the record in a reference field will be created with the product, `is_taken`
/// whether an earlier row has the serie number.
pub(crate) async fn check_import(
    conn: &mut Conn,
    mut draft: Draft<ProductRecord>,
    is_created: impl Fn(&str) -> bool,
    is_taken: impl Fn(&str) -> bool,
) -> Result<Option<String>, Refusal> {
    draft.errors = draft.errors.without(is_created);
    let serie_number = serie_number(&draft);
    if serie_number.as_deref().is_some_and(is_taken) {
        let field = ProductRecord::serie_number.name;
        draft.errors.add(field, serie_number_taken());
    }
    check(conn, None, &draft).await?;
    Ok(serie_number)
}

pub(crate) fn serie_number(draft: &Draft<ProductRecord>) -> Option<String> {
    draft.input.serie_number.clone().flatten()
}

/// Fails if a field is invalid, including the checks that need the database.
async fn check(
    conn: &mut Conn,
    own: Option<i64>,
    draft: &Draft<ProductRecord>,
) -> Result<(), Refusal> {
    let errors = inspect(conn, own, draft).await?;
    Ok(errors.in_order(ProductRecord::FIELDS).into_result()?)
}

/// The validation errors, including those from the database. `own` is the changed product.
pub(super) async fn inspect(
    conn: &mut Conn,
    own: Option<i64>,
    draft: &Draft<ProductRecord>,
) -> Result<FieldErrors, Refusal> {
    let mut errors = draft.errors.clone();
    for (field, value) in draft.input.values() {
        if let (Some(target), Value::Reference { id, name, .. }) = (field.target, value)
            && !store::exists(conn, target.path, id).await?
        {
            errors.add(field.name, Message::unknown_record(name));
        }
    }
    if let Some(Some(serie_number)) = &draft.input.serie_number
        && store::id_of_serie_number(conn, serie_number)
            .await?
            .is_some_and(|other| Some(other) != own)
    {
        errors.add(ProductRecord::serie_number.name, serie_number_taken());
    }
    Ok(errors)
}

/// Turns a unique violation of the serie number into a validation error. Another product may have
/// got the number since the check, or a running import may have reserved it.
fn explain(error: Error) -> Refusal {
    let constraints = ["products_serie_number_key", "import_serie_numbers_pkey"];
    if constraints.into_iter().any(|name| error.is_unique(name)) {
        let field = ProductRecord::serie_number.name;
        return FieldErrors::of(field, serie_number_taken()).into();
    }
    error.into()
}
