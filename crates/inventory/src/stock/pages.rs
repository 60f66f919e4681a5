//! The page of low products, lowest first, with links to restock them.

use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};

use super::{LowStock, adjustments, low_stock_list, movements, orders, receiving};
use crate::{
    accounts::{Model, Verb},
    page::{
        Frame, PageState,
        index::{self, Action, Address, Cell, Column, Empty, Index, Row},
        routes::{PageRouter, get},
    },
    rest::{
        Refusal,
        query::{Parameters, encode},
        resource::Wanted,
    },
};

type Answer = Result<Response, web::Error>;

/// The pages about stock: movements, receiving and adjusting, and what runs low.
pub(crate) fn routes() -> PageRouter {
    PageRouter::new()
        .merge(movements::pages::routes(movements::Movement::Inflow))
        .merge(movements::pages::routes(movements::Movement::Outflow))
        .merge(orders::pages::routes())
        .merge(receiving::pages::routes())
        .merge(adjustments::pages::routes())
        .route("/low-stock/", get(list))
        .route("/low-stock/export/", get(export))
}

async fn list(Extracted(page): Extracted<PageState>, frame: Frame, request: Request) -> Answer {
    frame.require(Verb::View, Model::Product)?;
    let parameters = Parameters::parse(request.uri().query().unwrap_or_default());
    let wanted = Wanted::parse(&page.state, &parameters).map_err(Refusal::from)?;
    let found = low_stock_list(&page.state, wanted).await?;
    let may = [
        frame.may(Verb::Add, Model::Inflow),
        frame.may(Verb::Change, Model::Product),
    ];
    let mut index = empty_index(&frame, &page, &parameters);
    let here = index.address.whole();
    index.fill(&found, |low| row(&frame, low, may, &here));
    Ok(index.show(&frame))
}

fn empty_index(frame: &Frame, page: &PageState, parameters: &Parameters) -> Index {
    let shop = frame.locale.number(page.state.config.low_stock_threshold);
    let lead = frame.text(
        "Produtos abaixo do estoque mínimo. Os que não têm mínimo próprio usam o da loja:",
        "Products below their threshold. Products without their own threshold use the shop's:",
    );
    let columns = vec![
        Column::text(frame.text("Produto", "Product"), ""),
        Column::number(frame.text("Estoque", "Stock"), ""),
        Column::number(frame.text("Mínimo", "Threshold"), ""),
    ];
    let title = frame.text("Estoque baixo", "Low stock").to_owned();
    let address = Address::new("/low-stock/", &[], "", parameters);
    let empty = frame.text("Nada está em falta.", "Nothing runs low.");
    Index {
        lead: format!("{lead} {shop}."),
        ..Index::new(title, address, columns, Empty::new("check", empty))
    }
}

fn row(frame: &Frame, low: &LowStock, may: [bool; 2], here: &str) -> Row {
    let product = &low.product;
    let mut next = String::new();
    encode(here, &mut next);
    let action = |icon, text: &str, address, is_dialog| Action {
        icon,
        text: format!("{text}: {}", product.title),
        address,
        is_dialog,
    };
    let book_in = format!("/inflows/new/?product={}&next={next}", product.id);
    let edit = format!("/products/{}/edit/", product.id);
    let actions = [
        action("inflow", frame.text("Entrada", "Book in"), book_in, true),
        action("edit", frame.text("Editar", "Edit"), edit, false),
    ];
    Row {
        cells: vec![
            Cell::Link(format!("/products/{}/", product.id), product.title.clone()),
            Cell::Stock(frame.locale.number(low.quantity), true),
            Cell::Number(frame.locale.number(low.threshold)),
        ],
        actions: actions
            .into_iter()
            .zip(may)
            .filter_map(|(action, may)| may.then_some(action))
            .collect(),
    }
}

async fn export(Extracted(page): Extracted<PageState>, frame: Frame) -> Answer {
    frame.require(Verb::View, Model::Product)?;
    let columns = ["product", "product_title", "quantity", "threshold"];
    let shop = page.state.config.low_stock_threshold;
    let read = async move |conn: &mut db::Conn, sheet: &index::Sheet| {
        for low in super::low_stock(conn, shop).await? {
            sheet.row(&[
                low.product.id.to_string(),
                index::Cells::text(&low.product.title),
                low.quantity.to_string(),
                low.threshold.to_string(),
            ])?;
        }
        Ok(())
    };
    Ok(index::export(&page.state, &frame, "low-stock", &columns, read).await?)
}
