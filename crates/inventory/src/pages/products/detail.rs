//! The page of one product: its data, the chart of its stock, its history and its ledger.

use askama::Template;
use resource::{Field, Kind, Record as _, laid_out};

use super::address;
use crate::{
    access::{Model, Verb},
    catalogue::products::{ProductRecord, Products},
    page::{
        Form, Frame, PageResult,
        fact::Fact,
        history::{self, ChangeView, SYSTEM},
        list_page::{Cell, Column, Empty, Filter, FilterControl, ListAddress, ListPage, Row},
        part::{PagePart, part},
        records::find,
        trend::Trend,
    },
    pages::analysis::AnalysisPanel,
    rest::{
        RecordId, Refusal, json::time_text, list::PageNumber, page::PageRequest, query::Parameters,
    },
    stock::{self, Explanation, LedgerRow, Policy, ledger},
};

/// The number of ledger entries in the chart.
const CURVE: u64 = 60;
/// The number of ledger entries in the table.
const LISTED: usize = 8;

/// An entry of the ledger as pages show it.
struct LedgerLine {
    time: String,
    machine_time: String,
    what: String,
    /// The address of the movement, unless it was deleted.
    movement: Option<String>,
    change: String,
    is_gain: bool,
    balance: String,
    who: String,
}

/// The product's stock over time.
struct LedgerPart {
    /// The entries, newest first.
    entries: Vec<LedgerLine>,
    trend: Option<Trend>,
}

impl LedgerPart {
    async fn read(frame: &Frame, product: i64) -> Result<Self, Refusal> {
        let page_request = PageRequest {
            page: PageNumber::Number(1),
            size: CURVE,
        };
        let rows = stock::ledger_list(&frame.state, product, None, page_request)
            .await?
            .results;
        // A product that was deleted and imported again has entries before its opening.
        let opening = rows
            .iter()
            .position(|row| row.kind == ledger::EntryKind::Opening);
        let since_opening = opening.map_or(rows.len(), |opening| opening + 1);
        let mut points: Vec<_> = rows
            .iter()
            .take(since_opening)
            .map(|row| (row.created_at, row.balance_after))
            .collect();
        // Of the balances of one moment only the newest lasted.
        points.dedup_by_key(|(at, _)| *at);
        points.reverse();
        let listed = rows.iter().take(LISTED);
        Ok(Self {
            entries: listed.map(|row| entry(frame, row)).collect(),
            trend: Trend::of(&points, frame.locale),
        })
    }
}

#[derive(Template)]
#[template(path = "catalogue/product.html")]
struct ProductPage<'a> {
    frame: &'a Frame,
    product: &'a ProductRecord,
    threshold: i64,
    is_low: bool,
    /// When the product was archived, formatted.
    archived_at: Option<String>,
    ledger: PagePart<LedgerPart>,
    facts: Vec<Fact>,
    changes: PagePart<Vec<ChangeView>>,
    analysis: PagePart<AnalysisPanel>,
    may: ProductActions,
}

/// The actions that the user may take on a product.
#[expect(
    clippy::struct_excessive_bools,
    reason = "one button each, and the template names them"
)]
struct ProductActions {
    book_in: bool,
    book_out: bool,
    change: bool,
    delete: bool,
}

impl ProductPage<'_> {
    /// Whether there is a chart, which needs its script.
    fn has_trend(&self) -> bool {
        self.ledger
            .as_ref()
            .is_ok_and(|ledger| ledger.trend.is_some())
    }
}

impl ProductActions {
    fn of(frame: &Frame, is_archived: bool) -> Self {
        Self {
            book_in: !is_archived && frame.may(Verb::Add, Model::Inflow),
            book_out: !is_archived && frame.may(Verb::Add, Model::Outflow),
            change: frame.may(Verb::Change, Model::Product),
            delete: frame.may(Verb::Delete, Model::Product),
        }
    }
}

/// `GET /products/<id>/`. With `after`, the user waits for an analysis with a larger id.
pub(super) async fn show(frame: Frame, id: RecordId, parameters: Parameters) -> PageResult {
    frame.require(Verb::View, Model::Product)?;
    let (state, locale) = (&frame.state, frame.locale);
    let product = find(Products, state, id).await?;
    let stocked = stock::stock_state(state, product.id).await?;
    let threshold = Policy::from(&state.config).threshold_of(stocked.threshold);
    let archived_at = stocked.archived_at;
    let is_archived = archived_at.is_some();
    let changes = history::changes(&frame, Model::Product, product.id).await?;
    let after = parameters.get("after").and_then(|id| id.parse().ok());
    let is_low = !is_archived && stock::is_low(product.quantity, threshold);
    let analysis = AnalysisPanel::of(&frame, &product, after);
    Ok(frame.show(ProductPage {
        frame: &frame,
        product: &product,
        threshold,
        is_low,
        archived_at: archived_at.map(|at| locale.date_time(at)),
        ledger: part("ledger", LedgerPart::read(&frame, product.id)).await?,
        facts: facts(&frame, &product),
        changes,
        analysis: part("analysis", analysis).await?,
        may: ProductActions::of(&frame, is_archived),
    }))
}

/// The values below the product's figures: the shop's texts, then the times and the id.
fn facts(frame: &Frame, product: &ProductRecord) -> Vec<Fact> {
    const ABOVE: [&Field; 6] = [
        ProductRecord::title,
        ProductRecord::category,
        ProductRecord::brand,
        ProductRecord::cost_price,
        ProductRecord::selling_price,
        ProductRecord::quantity,
    ];
    let mut fields = laid_out(ProductRecord::FIELDS);
    fields.retain(|field| !ABOVE.contains(field));
    fields.sort_by_key(|field| match field.kind {
        Kind::Id => 2,
        Kind::Time => 1,
        _ => 0,
    });
    Fact::all(frame, product, &fields)
}

fn entry(frame: &Frame, row: &LedgerRow) -> LedgerLine {
    let locale = frame.locale;
    let what = frame.say(row.kind.words());
    let is_undone = matches!(
        row.kind,
        ledger::EntryKind::InflowReversed | ledger::EntryKind::OutflowReversed
    );
    let reference = row.reference.as_ref().filter(|_| !is_undone);
    LedgerLine {
        time: locale.date_time(row.created_at),
        machine_time: time_text(row.created_at),
        what: match row.reason {
            None => what.to_owned(),
            Some(reason) => {
                let explained = Explanation::text(reason, row.note.as_deref(), locale);
                format!("{what} · {explained}")
            }
        },
        movement: reference.map(|reference| format!("/{}s/{}/", reference.kind, reference.id)),
        change: locale.signed(row.change),
        is_gain: row.change > 0,
        balance: locale.number(row.balance_after),
        who: row
            .user
            .clone()
            .unwrap_or_else(|| frame.say(SYSTEM).to_owned()),
    }
}

/// `GET /products/<id>/ledger/`: all changes of the quantity, optionally up to a day.
pub(super) async fn ledger(frame: Frame, id: RecordId, parameters: Parameters) -> PageResult {
    frame.require(Verb::View, Model::Product)?;
    let product = find(Products, &frame.state, id).await?;
    let mut list = ledger_list(&frame, &product, &parameters);
    let as_of = match stock::read_as_of(&parameters) {
        Ok(as_of) => as_of,
        Err(errors) => {
            list.form.absorb(&errors, frame.locale);
            return Ok(list.show(&frame));
        }
    };
    let page_request = PageRequest::parse(&frame.state, &parameters)?;
    let found = stock::ledger_list(&frame.state, product.id, as_of, page_request).await?;
    list.fill(&found, |row| ledger_row(entry(&frame, row)));
    Ok(list.show(&frame))
}

fn ledger_row(entry: LedgerLine) -> Row {
    let what = match entry.movement {
        Some(address) => Cell::Link(address, entry.what),
        None => Cell::Text(entry.what),
    };
    Row {
        cells: vec![
            Cell::Text(entry.time),
            what,
            Cell::Number(entry.change),
            Cell::Number(entry.balance),
            Cell::Text(entry.who),
        ],
        actions: Vec::new(),
    }
}

fn ledger_list(frame: &Frame, product: &ProductRecord, parameters: &Parameters) -> ListPage {
    let path = format!("{}ledger/", address(product.id));
    let address = ListAddress::new(path, ["as_of"], "", parameters);
    let as_of = parameters.get("as_of").unwrap_or_default();
    let columns = vec![
        Column::text(frame.text("Quando", "When")),
        Column::text(frame.text("O quê", "What")),
        Column::number(frame.text("Mudança", "Change")),
        Column::number(frame.text("Saldo", "Balance")),
        Column::text(frame.text("Quem", "Who")),
    ];
    let title = frame.text("Extrato do estoque", "Stock ledger").to_owned();
    let empty = frame.text("Nada até esta data.", "Nothing up to this date.");
    let day = frame.text(
        "Saldo no fim do dia (UTC)",
        "As of the end of the day (UTC)",
    );
    ListPage {
        lead: product.title.clone(),
        is_exported: false,
        filters: vec![Filter {
            name: "as_of",
            label: day.to_owned(),
            control: FilterControl::Day("", ""),
        }],
        form: Form::new().with("as_of", as_of),
        ..ListPage::new(title, address, columns, Empty::new("clock", empty))
    }
}
