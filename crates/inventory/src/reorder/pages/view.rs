//! Prepares the list, its export and the orders for templates.

use askama::Template;
use axum::response::Response;
use resource::Both;
use web::locale::Locale;

use super::{
    super::{BATCH_SIZE, NeedsPage, OrderSource, PrintedOrders, ReorderNeed, ThresholdChange},
    PARAMETERS, PATH, THRESHOLD,
};
use crate::{
    access::{Kind, Model, Verb},
    analysis::{self, model::round_down},
    page::{
        Form, Frame,
        list_page::{
            Cell, CellInput, Column, Empty, Heading, Link, ListAddress, ListPage, Row, RowAction,
        },
        value::FieldValue,
    },
    rest::query::{Parameters, encode},
};

/// The parameter that groups products, and its value.
pub(super) const GROUP: &str = "group";
pub(super) const BY_SUPPLIER: &str = "supplier";

/// The columns that the list and the export have.
const PRODUCT: Both = ("Produto", "Product");
const STOCK: Both = ("Estoque", "Stock");
const MINIMUM: Both = ("Mínimo", "Threshold");
const SOLD: Both = ("Saídas em 30 dias", "Sold in 30 days");
const SUPPLIER: Both = ("Último fornecedor", "Last supplier");
const ORDER: Both = ("Pedir", "Order");

/// The columns of the export.
pub(super) const COLUMNS: [Both; 11] = [
    ("ID do produto", "Product ID"),
    PRODUCT,
    ("Número de série", "Serial number"),
    STOCK,
    MINIMUM,
    ("Dura (dias)", "Lasts (days)"),
    SOLD,
    ("ID do fornecedor", "Supplier ID"),
    SUPPLIER,
    ORDER,
    ("Motivo", "Reason"),
];

/// A product's row in the export.
pub(super) fn cells(need: &ReorderNeed, locale: Locale) -> [FieldValue; 11] {
    let (stock, source) = (&need.low.stock, &need.source);
    let supplier = source.supplier.as_ref();
    let number = |number: Option<i64>| number.map_or(FieldValue::Empty, FieldValue::Number);
    [
        FieldValue::Number(stock.product.id),
        FieldValue::Text(stock.product.title.clone()),
        FieldValue::text(source.serie_number.clone()),
        FieldValue::Number(stock.quantity),
        FieldValue::Number(stock.threshold),
        number(need.low.cover.map(round_down)),
        FieldValue::Number(need.low.sold),
        number(supplier.map(|supplier| supplier.id)),
        FieldValue::text(supplier.map(|supplier| supplier.name.clone())),
        FieldValue::Number(need.figures.order_quantity()),
        FieldValue::Text(analysis::reason(locale, &need.figures)),
    ]
}

/// The URL of the list with its parameters.
pub(super) fn address(parameters: &Parameters) -> ListAddress {
    ListAddress::new(PATH, PARAMETERS, "", parameters)
}

/// The message after a product's threshold was changed.
pub(super) fn message(frame: &Frame, change: &ThresholdChange) -> String {
    let threshold = frame.locale.number(change.threshold);
    let label = frame.text("mínimo", "threshold");
    let recovered = if change.is_low {
        ""
    } else {
        frame.text(
            " O estoque não está mais abaixo dele.",
            " The stock is no longer below it.",
        )
    };
    format!("{}: {label} {threshold}.{recovered}", change.title)
}

/// The list, rendered for one user.
pub(super) struct ListView<'a> {
    pub(super) frame: &'a Frame,
    pub(super) address: ListAddress,
    /// A product whose submitted threshold was invalid, with its form.
    pub(super) refused: Option<(i64, Form)>,
    pub(super) is_grouped: bool,
}

impl ListView<'_> {
    pub(super) fn show(&self, needs: &NeedsPage, shop: i64) -> Response {
        let frame = self.frame;
        let title = frame.text("Estoque baixo", "Low stock").to_owned();
        let empty = Empty::new(
            "check",
            frame.text(
                "Nenhum produto com estoque baixo.",
                "No products are low on stock.",
            ),
        );
        let mut list = ListPage {
            lead: self.lead(shop),
            note: self.note(needs.low),
            ..ListPage::new(title, self.address.clone(), self.columns(), empty)
        };
        list.fill(&needs.page, |need| self.row(need));
        if self.is_grouped {
            list.headings = headings(frame, &needs.page.results);
        }
        if !list.rows.is_empty() {
            list.beside = self.links();
        }
        list.show(frame)
    }

    fn lead(&self, shop: i64) -> String {
        let lead = self.frame.text(
            "O que acaba primeiro, no ritmo dos últimos 30 dias. Produtos sem mínimo próprio usam o da loja:",
            "What runs out first, at the pace of the last 30 days. Products without their own threshold use the shop's:",
        );
        format!("{lead} {}.", self.frame.locale.number(shop))
    }

    /// The note that not all products are in order of urgency, if there are more than one batch.
    fn note(&self, low: u64) -> String {
        if low <= BATCH_SIZE {
            return String::new();
        }
        let locale = self.frame.locale;
        let (first, low) = (locale.number(BATCH_SIZE), locale.number(low));
        match (locale, self.is_grouped) {
            (Locale::PtBr, true) => {
                format!(
                    "Dos {low} produtos com estoque baixo, aqui estão os {first} de menor estoque."
                )
            }
            (Locale::En, true) => {
                format!(
                    "Of the {low} low-stock products, these are the {first} with the fewest units."
                )
            }
            (Locale::PtBr, false) => {
                format!(
                    "São {low} produtos. Os {first} de menor estoque vêm primeiro, em ordem de urgência."
                )
            }
            (Locale::En, false) => format!(
                "There are {low} products. The {first} with the fewest units come first, by urgency."
            ),
        }
    }

    fn columns(&self) -> Vec<Column> {
        let frame = self.frame;
        let mut columns = vec![
            Column::text(frame.say(PRODUCT)),
            Column::number(frame.say(STOCK)),
            Column::number(frame.say(MINIMUM)),
            Column::number(frame.text("Dura", "Lasts")),
            Column::number(frame.say(SOLD)),
        ];
        if !self.is_grouped {
            columns.push(Column::text(frame.say(SUPPLIER)));
        }
        columns.push(Column::text(frame.say(ORDER)));
        columns
    }

    fn row(&self, need: &ReorderNeed) -> Row {
        let (frame, low) = (self.frame, &need.low);
        let product = &low.stock.product;
        let mut cells = vec![
            Cell::Link(format!("/products/{}/", product.id), product.title.clone()),
            Cell::Stock(frame.locale.number(low.stock.quantity), true),
            self.threshold(need),
            Cell::Number(low.lasts(frame.locale)),
            Cell::Number(frame.locale.number(low.sold)),
        ];
        if !self.is_grouped {
            cells.push(match &need.source.supplier {
                Some(supplier) if frame.may(Verb::View, Kind::Supplier.model()) => Cell::Link(
                    format!("/suppliers/{}/", supplier.id),
                    supplier.name.clone(),
                ),
                Some(supplier) => Cell::Text(supplier.name.clone()),
                None => Cell::Text("–".to_owned()),
            });
        }
        cells.push(Cell::Noted(
            frame.locale.number(need.figures.order_quantity()),
            analysis::reason(frame.locale, &need.figures),
        ));
        let actions = self.actions(product.id, &product.title);
        Row { cells, actions }
    }

    fn threshold(&self, need: &ReorderNeed) -> Cell {
        let (frame, stock) = (self.frame, &need.low.stock);
        let number = frame.locale.number(stock.threshold);
        if !frame.may(Verb::Change, Model::Product) {
            return Cell::Number(number);
        }
        let id = stock.product.id;
        let refused = self.refused.as_ref().filter(|(refused, _)| *refused == id);
        let (value, message) = refused.map_or((number.as_str(), ""), |(_, form)| {
            (form.value(THRESHOLD), form.error(THRESHOLD))
        });
        let label = frame.say(MINIMUM);
        Cell::Input(CellInput {
            name: THRESHOLD.to_owned(),
            id: format!("{THRESHOLD}-{id}"),
            label: format!("{label}: {}", stock.product.title),
            value: value.to_owned(),
            keyboard: "numeric",
            message: message.to_owned(),
            address: Some(self.address.beside(&format!("{id}/{THRESHOLD}/"), &[])),
            conflict: None,
        })
    }

    fn actions(&self, product: i64, title: &str) -> Vec<RowAction> {
        let frame = self.frame;
        let mut next = String::new();
        encode(&self.address.whole(), &mut next);
        let action = |icon, text: &str, address, is_dialog| RowAction {
            icon,
            text: format!("{text}: {title}"),
            address,
            is_dialog,
        };
        let mut actions = Vec::new();
        if frame.may(Verb::Add, Model::Inflow) {
            let address = format!("/inflows/new/?product={product}&next={next}");
            let text = frame.text("Entrada", "Book in");
            actions.push(action("inflow", text, address, true));
        }
        if frame.may(Verb::Change, Model::Product) {
            let address = format!("/products/{product}/edit/");
            actions.push(action("edit", frame.text("Editar", "Edit"), address, false));
        }
        actions
    }

    /// The links to the other view of the list and to the orders.
    fn links(&self) -> Vec<Link> {
        let frame = self.frame;
        let (text, group) = if self.is_grouped {
            (frame.text("Ver em uma só lista", "Show as one list"), "")
        } else {
            (
                frame.text("Agrupar por fornecedor", "Group by supplier"),
                BY_SUPPLIER,
            )
        };
        vec![
            Link {
                icon: "truck",
                text,
                address: self.address.with(&[(GROUP, group), ("page", "")]),
            },
            Link {
                icon: "print",
                text: frame.text("Imprimir pedidos", "Print orders"),
                address: ORDERS.to_owned(),
            },
        ]
    }
}

const ORDERS: &str = "/low-stock/orders/";

fn supplier(frame: &Frame, source: &OrderSource) -> String {
    match &source.supplier {
        Some(supplier) => supplier.name.clone(),
        None => frame
            .text("Sem fornecedor ainda", "No supplier yet")
            .to_owned(),
    }
}

/// Splits products that are in the order of their suppliers, with the source of each group.
fn supplier_groups(needs: &[ReorderNeed]) -> impl Iterator<Item = (&OrderSource, &[ReorderNeed])> {
    let groups = needs.chunk_by(|one, next| one.source.supplier_id() == next.source.supplier_id());
    groups.filter_map(|group| Some((&group.first()?.source, group)))
}

/// A heading above the first product of each supplier.
fn headings(frame: &Frame, needs: &[ReorderNeed]) -> Vec<Heading> {
    let mut place = 0;
    let heading = |(source, group): (&OrderSource, &[ReorderNeed])| {
        let first = place;
        place += group.len();
        Heading {
            place: first,
            text: supplier(frame, source),
            link: (
                frame
                    .text("Imprimir o pedido", "Print the order")
                    .to_owned(),
                format!("{ORDERS}?supplier={}", source.supplier_id()),
            ),
        }
    };
    supplier_groups(needs).map(heading).collect()
}

/// The page `GET /low-stock/orders/`.
#[derive(Template)]
#[template(path = "reorder/orders.html")]
pub(super) struct OrdersPage<'a> {
    frame: &'a Frame,
    orders: Vec<SupplierOrder<'a>>,
    today: String,
    /// Whether the request was for one supplier.
    is_of_one: bool,
    /// The number of low products that are not printed, if any.
    left_out: Option<String>,
}

struct SupplierOrder<'a> {
    id: i64,
    supplier: String,
    needs: &'a [ReorderNeed],
}

impl<'a> OrdersPage<'a> {
    pub(super) fn new(
        frame: &'a Frame,
        found: &'a PrintedOrders,
        today: String,
        is_of_one: bool,
    ) -> Self {
        let order = |(source, needs): (&OrderSource, &'a [ReorderNeed])| SupplierOrder {
            id: source.supplier_id(),
            supplier: supplier(frame, source),
            needs,
        };
        Self {
            frame,
            orders: supplier_groups(&found.needs).map(order).collect(),
            today,
            is_of_one,
            left_out: (found.left_out > 0).then(|| frame.locale.number(found.left_out)),
        }
    }
}
