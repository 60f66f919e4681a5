//! The list of orders and its export.

use resource::Both;
use web::locale::Locale;

use super::{
    super::{
        labels::{ORDER_STATUSES, TITLE, order_state, order_status},
        model::CheckoutOrder,
    },
    ORDERS,
    list::CheckoutList,
    order_address,
};
use crate::{
    access::{Model, Verb},
    page::{
        Frame,
        list_page::{Cell, Column, Days, Empty, Filter, Link, ListAddress, ListPage, Row},
        value::FieldValue,
    },
};

pub(super) struct Orders;

impl CheckoutList for Orders {
    type Record = CheckoutOrder;

    const PATH: &'static str = ORDERS;
    const SOURCE: &'static str = "/orders/";
    const FILE_NAME: &'static str = "orders";
    const COLUMNS: &'static [Both] = &[
        ("Código", "ID"),
        ("Número", "Number"),
        ("Situação", "Status"),
        ("Valor", "Amount"),
        ("Devolvido", "Refunded"),
        ("Descrição", "Description"),
        ("Criado em", "Created"),
        ("Válido até", "Valid until"),
        ("Pago em", "Paid"),
    ];

    fn filters(locale: Locale) -> Vec<Filter> {
        let number = locale.text("Número do pedido", "Order number");
        let statuses =
            ORDER_STATUSES.map(|(code, status)| (code, locale.say(order_status(status).text)));
        let status = locale.text("Situação", "Status");
        let others = [
            Filter::search(number),
            Filter::choice("status", status, statuses),
        ];
        let days = Filter::days(Days::SaoPaulo, locale);
        others.into_iter().chain(days).collect()
    }

    fn page(frame: &Frame, address: ListAddress) -> ListPage {
        let may_add = frame.may(Verb::Add, Model::Order);
        let new = frame.text("Novo link de pagamento", "New payment link");
        let columns = vec![
            Column::text(frame.text("Pedido", "Order")),
            Column::text(frame.text("Número", "Number")),
            Column::text(frame.text("Situação", "Status")),
            Column::number(frame.text("Valor", "Amount")),
            Column::text(frame.text("Criado em", "Created")),
        ];
        let sentence = frame.text(
            "Nenhum pedido ainda. Crie um link e envie-o a quem vai pagar.",
            "No orders yet. Create a link and send it to the buyer.",
        );
        let (title, empty) = (frame.say(TITLE).to_owned(), Empty::new("card", sentence));
        ListPage {
            create: may_add.then(|| (new.to_owned(), format!("{ORDERS}new/"))),
            beside: vec![Link {
                icon: "receipt",
                text: frame.text("Todos os pagamentos", "All payments"),
                address: super::PAYMENTS.to_owned(),
            }],
            ..ListPage::new(title, address, columns, empty)
        }
    }

    fn row(frame: &Frame, order: &CheckoutOrder) -> Row {
        let state = order_state(order);
        Row {
            cells: vec![
                Cell::Link(order_address(&order.id), order.description.clone()),
                Cell::Text(order.reference.clone().unwrap_or_else(|| "–".to_owned())),
                Cell::Badge(frame.say(state.text), state.tone, state.icon),
                Cell::Number(frame.locale.money(order.amount)),
                Cell::Text(frame.locale.date_time(order.created_at)),
            ],
            actions: Vec::new(),
        }
    }

    fn cells(order: &CheckoutOrder) -> Vec<FieldValue> {
        vec![
            FieldValue::Text(order.id.clone()),
            FieldValue::text(order.reference.clone()),
            FieldValue::Word(order_state(order).text),
            FieldValue::Money(order.amount),
            FieldValue::Money(order.refunded_amount),
            FieldValue::Text(order.description.clone()),
            FieldValue::Time(order.created_at),
            FieldValue::Time(order.expires_at),
            order.paid_at.map_or(FieldValue::Empty, FieldValue::Time),
        ]
    }
}
