//! The form of a product. It also edits the product's low-stock threshold, which has a separate
//! endpoint in the API.

use axum::response::Response;
use db::Tx;
use resource::{Field, Record as _};
use web::locale::Locale;

use crate::{
    State,
    access::{Model, Verb},
    catalogue::products::{self, ProductRecord, Products},
    idempotency::IdempotencyKey,
    page::{
        Frame,
        edit_conflict::FieldSnapshot,
        record_form::{FormLooks, RecordForm, RecordForms, create_by_api, created},
        value::FieldValue,
    },
    rest::{
        Refusal,
        fields::{FieldErrors, Members, Mode, Reader},
    },
    stock::{self, OPTIONAL_THRESHOLD},
    work::Work,
};

/// The product's fields in the form.
fn written() -> impl Iterator<Item = &'static Field> {
    let fields = ProductRecord::FIELDS.iter().copied();
    fields.filter(|field| !field.is_read_only)
}

/// The stored values of the form's fields.
fn snapshots(product: &ProductRecord, threshold: Option<i64>) -> Vec<FieldSnapshot> {
    let threshold = threshold.map_or(FieldValue::Empty, FieldValue::Number);
    let fields: Vec<_> = written().collect();
    let mut stored = FieldSnapshot::all(product, &fields);
    stored.push(FieldSnapshot::new(OPTIONAL_THRESHOLD, threshold));
    stored
}

impl RecordForms for Products {
    fn looks(self) -> FormLooks {
        FormLooks {
            adds_another: true,
            ..FormLooks::PLAIN
        }
    }

    /// Long texts come last.
    fn written(self) -> Vec<&'static Field> {
        let fields = |is_long| written().filter(move |field| field.is_long() == is_long);
        let threshold = [OPTIONAL_THRESHOLD];
        fields(false).chain(threshold).chain(fields(true)).collect()
    }

    fn initial(self, field: &Field) -> &'static str {
        if field == ProductRecord::quantity {
            "0"
        } else {
            ""
        }
    }

    fn hint(self, frame: &Frame, field: &Field, is_new: bool) -> String {
        if field == OPTIONAL_THRESHOLD {
            let shop = frame.locale.number(frame.state.config.low_stock_threshold);
            return match frame.locale {
                Locale::PtBr => format!("Em branco, usa o mínimo da loja ({shop})."),
                Locale::En => format!("If blank, the shop default ({shop}) applies."),
            };
        }
        let hint = match is_new {
            _ if field != ProductRecord::quantity => frame.say(field.help),
            true => frame.text("Estoque inicial.", "Starting stock."),
            false => frame.text(
                "Mudar aqui registra um ajuste no extrato.",
                "Changing it here records an adjustment in the ledger.",
            ),
        };
        hint.to_owned()
    }

    fn edit_title(self, frame: &Frame, record: &ProductRecord) -> String {
        format!("{} {}", frame.text("Editar", "Edit"), record.title)
    }

    async fn stored_problems(
        self,
        state: &State,
        own: Option<i64>,
        members: &Members,
    ) -> Result<FieldErrors, Refusal> {
        products::all_problems(state, own, members).await
    }

    async fn create(
        self,
        frame: &Frame,
        members: &Members,
        key: Option<IdempotencyKey>,
    ) -> Result<Option<ProductRecord>, Refusal> {
        create_by_api(self, frame, members, key).await
    }

    /// Writes the threshold of the new product, too.
    async fn created(
        self,
        frame: &Frame,
        record: Option<ProductRecord>,
        sent: &RecordForm,
    ) -> Result<Response, Refusal> {
        let mut reader = Reader::new(&sent.members, Mode::Whole);
        let threshold = reader.read::<Option<i64>>(stock::OPTIONAL_THRESHOLD);
        let may = frame.may(Verb::Change, Model::Product);
        let threshold = threshold.flatten();
        if let (Some(product), Some(_), true) = (&record, threshold, may) {
            stock::set_threshold(&frame.state, &frame.caller, product.id, threshold).await?;
        }
        created(self, frame, record, sent)
    }

    async fn snapshots(
        self,
        state: &State,
        record: &ProductRecord,
    ) -> Result<Vec<FieldSnapshot>, Refusal> {
        let threshold = stock::stock_state(state, record.id).await?.threshold;
        Ok(snapshots(record, threshold))
    }

    async fn lock(self, tx: &mut Tx, id: i64) -> Result<Option<Vec<FieldSnapshot>>, Refusal> {
        let Some(product) = products::find_locked(tx, id).await? else {
            return Ok(None);
        };
        let own = stock::own_threshold_locked(tx, id).await?;
        Ok(Some(snapshots(&product, own.map(|own| own.threshold))))
    }

    async fn write(
        self,
        work: &mut Work<'_>,
        id: i64,
        members: &Members,
    ) -> Result<Option<ProductRecord>, Refusal> {
        products::change_form(work, id, members).await
    }
}
