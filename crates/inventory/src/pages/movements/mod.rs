//! The pages of inflows and outflows, one implementation for both: the list and one movement. The
//! form is in `form`.

mod form;

use askama::Template;
use db::Conn;
use resource::{Field, ListedIn, Words, laid_out, listed};
use web::locale::Locale;

use crate::{
    State,
    access::{Model, Verb},
    catalogue::products,
    page::{
        Frame, PageResult,
        confirmation::Confirmation,
        fact::Fact,
        flash::{self, Flash, UNDONE_BEFORE},
        list_page::{Cell, Days, Filter, Link, ListPage, Row, RowAction},
        record_form,
        records::{self, ResourcePages, address, find},
        routes::{PageRouter, get, of},
    },
    rest::{
        RecordId, Refusal,
        query::{Parameters, encode},
    },
    stock::movements::{Movement, MovementEntry, MovementRecord, words::texts},
};

pub(crate) fn routes(movement: Movement) -> PageRouter {
    records::routes(movement)
        .merge(record_form::routes(movement))
        .route(
            &format!("/{}/{{id}}/", movement.path()),
            get(of(movement, detail)),
        )
}

/// The fields in the order of pages, the product first.
fn fields(movement: Movement) -> Vec<&'static Field> {
    let mut fields = listed(&laid_out(movement.fields()), ListedIn::Nowhere);
    fields.retain(|field| *field != MovementRecord::id);
    fields
}

impl ResourcePages for Movement {
    const ORDERING: &'static str = "-created_at";

    type File = Parameters;

    fn icon(self) -> &'static str {
        texts(self).icon
    }

    fn columns(self) -> Vec<&'static Field> {
        listed(&fields(self), ListedIn::Everywhere)
    }

    fn filters(self, locale: Locale) -> Vec<Filter> {
        Filter::of_fields(&fields(self), locale)
            .chain(Filter::days(Days::Utc, locale))
            .collect()
    }

    fn adorn(self, frame: &Frame, mut list: ListPage) -> ListPage {
        // Goods of a whole invoice are booked on another page.
        if self == Self::Inflow && frame.may(Verb::Add, self.model()) {
            list.beside.push(Link {
                icon: "receipt",
                text: frame.text("Receber mercadoria", "Receive goods"),
                address: "/receiving/".to_owned(),
            });
        }
        list
    }

    async fn rows(
        self,
        frame: &Frame,
        _list: &ListPage,
        records: &[MovementRecord],
    ) -> Result<Vec<Row>, Refusal> {
        let columns = self.columns();
        let may_delete = frame.may(Verb::Delete, self.model());
        let sign = match self {
            Self::Inflow => '+',
            Self::Outflow => '−',
        };
        let row = |record: &MovementRecord| {
            let action = action(self, frame, record, may_delete)
                .into_iter()
                .collect();
            Row::of(frame, record, &columns, &address(self, record.id), action).with(
                &columns,
                MovementRecord::quantity,
                |cell| match cell {
                    Cell::Number(units) => Cell::Number(format!("{sign}{units}")),
                    cell => cell,
                },
            )
        };
        Ok(records.iter().map(row).collect())
    }

    async fn file(self, _state: &State, parameters: Parameters) -> Result<Parameters, Refusal> {
        Ok(parameters)
    }

    async fn each(
        self,
        conn: &mut Conn,
        _state: &State,
        parameters: &Parameters,
        take: impl FnMut(&MovementRecord) -> Result<(), db::Error>,
    ) -> Result<(), Refusal> {
        crate::stock::movements::each(conn, self, parameters, take).await
    }

    async fn deletion(
        self,
        frame: &Frame,
        record: &MovementRecord,
    ) -> Result<Confirmation, Refusal> {
        let quantity = frame.locale.number(record.quantity);
        let name = format!("{quantity} × {}", record.product.title);
        let sentence = frame.say(texts(self).sentence);
        let texts = (name, sentence, address(self, record.id));
        let foreseen = crate::stock::movements::check_deletion(&frame.state, self, record).await;
        let ledger = frame.text("Ver o extrato do produto", "See the product's ledger");
        Ok(Confirmation {
            instead: vec![(
                ledger.to_owned(),
                format!("/products/{}/ledger/", record.product.id),
            )],
            ..Confirmation::of_deletion(frame, self.words(), texts, foreseen)?
        })
    }

    async fn deleted(self, frame: &Frame, record: &MovementRecord) -> Result<String, Refusal> {
        sentence(frame, texts(self).undone, record).await
    }

    fn deleted_before(self, frame: &Frame) -> Option<&'static str> {
        Some(frame.say(UNDONE_BEFORE))
    }
}

/// The action of a movement's row: delete it or, without that permission, correct the product's
/// stock.
fn action(
    movement: Movement,
    frame: &Frame,
    record: &MovementRecord,
    may_delete: bool,
) -> Option<RowAction> {
    let (text, address) = if may_delete {
        let address = format!("{}delete/", address(movement, record.id));
        (frame.text("Excluir", "Delete"), address)
    } else {
        let text = frame.text("Corrigir o estoque", "Correct the stock");
        (text, correction(movement, frame, record)?)
    };
    Some(RowAction {
        icon: "undo",
        text: format!("{text}: {}", record.product.title),
        address,
        is_dialog: !may_delete,
    })
}

#[derive(Template)]
#[template(path = "stock/movement.html")]
struct MovementPage<'a> {
    frame: &'a Frame,
    words: &'a Words,
    record: &'a MovementRecord,
    booking: Option<MovementEntry>,
    /// The paid order that the outflow came from: its address and name.
    order: Option<(String, String)>,
    may_delete: bool,
    /// The address of a correction, for users who may not delete the movement.
    correction: Option<String>,
    facts: Vec<Fact>,
}

impl MovementPage<'_> {
    /// The cost or the revenue of all units.
    fn value(&self, entry: &MovementEntry) -> Option<String> {
        let value = entry.price.checked_mul(self.record.quantity)?;
        Some(self.frame.locale.money(value))
    }
}

async fn detail(movement: Movement, frame: Frame, id: RecordId) -> PageResult {
    frame.require(Verb::View, movement.model())?;
    let record = find(movement, &frame.state, id).await?;
    Ok(frame.show(MovementPage {
        frame: &frame,
        words: movement.words(),
        booking: crate::stock::movements::booking(&frame.state, movement, record.id).await?,
        order: match movement {
            Movement::Inflow => None,
            Movement::Outflow => super::orders::origin(&frame, record.id).await?,
        },
        may_delete: frame.may(Verb::Delete, movement.model()),
        correction: correction(movement, &frame, &record),
        facts: Fact::all(&frame, &record, &fields(movement)),
        record: &record,
    }))
}

/// The message after a movement was booked or undone, with the new stock.
async fn sentence(
    frame: &Frame,
    label: (&'static str, &'static str),
    record: &MovementRecord,
) -> Result<String, Refusal> {
    let locale = frame.locale;
    let product = products::read(&frame.state, record.product.id).await?;
    let balance = product.map_or(0, |product| product.quantity);
    Ok(format!(
        "{}: {} × {}. {} {}.",
        frame.say(label),
        locale.number(record.quantity),
        flash::named(&record.product.title),
        frame.text("Novo saldo:", "New balance:"),
        locale.number(balance)
    ))
}

/// Adds Undo, which deletes the movement. Without that permission, adds a link to correct the
/// stock.
fn undo(movement: Movement, frame: &Frame, record: &MovementRecord, flash: Flash) -> Flash {
    if frame.may(Verb::Delete, movement.model()) {
        return flash.undo(format!("{}delete/", address(movement, record.id)));
    }
    match correction(movement, frame, record) {
        Some(address) => flash.correct(address),
        None => flash,
    }
}

/// The address of the adjustment form, filled in to reverse the movement. `None` without the
/// permission.
fn correction(movement: Movement, frame: &Frame, record: &MovementRecord) -> Option<String> {
    if !frame.may(Verb::Change, Model::Product) {
        return None;
    }
    let of = match movement {
        Movement::Inflow => frame.text("Correção da entrada", "Correction of inflow"),
        Movement::Outflow => frame.text("Correção da saída", "Correction of outflow"),
    };
    let mut note = String::new();
    encode(&format!("{of} #{}", record.id), &mut note);
    Some(format!(
        "/products/{}/adjust/?by={}&reason=other&note={note}",
        record.product.id,
        -movement.change(record.quantity)
    ))
}
