//! The fields of a product.

use db::{Money, Timestamp};
use resource::{Named, id, integer, price, reference, resource, text, time};

use crate::{
    catalogue::MAX_NAME,
    rest::{Message, fields::MAX_DESCRIPTION},
};

/// The maximum length of a serie number, in characters.
pub const MAX_SERIE_NUMBER: usize = 200;

resource! {
    /// A product as the API shows it. Quantity and time of the last change are columns of the stock
    /// row, `s`.
    pub struct ProductRecord, ProductInput {
        id: i64 = id(),
        title: String = text("Título", "Title", MAX_NAME).name().short("Produto", "Product").listed(),
        category: Named = reference("Categoria", "Category", "categories").listed().minor(),
        brand: Named = reference("Marca", "Brand", "brands").listed().minor(),
        description: Option<String> = text("Descrição", "Description", MAX_DESCRIPTION).long(),
        serie_number: Option<String> = text("Número de série", "Serial number", MAX_SERIE_NUMBER)
            .null_when_blank().scanned().listed().minor()
            .short("Nº de série", "Serial number")
            .form_label("Número de série ou código de barras", "Serial number or barcode")
            .help("Não se repete entre produtos. Pode ser o código de barras.", "No two products share one. It can be the barcode."),
        cost_price: Money = price("Preço de custo", "Cost price").edited_in_list().minor()
            .short("Custo", "Cost")
            .section("Preços e estoque", "Prices and stock"),
        selling_price: Money = price("Preço de venda", "Selling price").edited_in_list()
            .between("min_price", "max_price")
            .short("Preço", "Price"),
        quantity: i64 = integer("Quantidade", "Quantity", 0, i64::MAX).read_from("s.quantity").listed()
            .short("Estoque", "Stock")
            .form_label("Quantidade em estoque", "Quantity in stock")
            .help("Uma quantidade diferente vira um ajuste no extrato do estoque.", "A different quantity becomes an adjustment in the stock ledger."),
        created_at: Timestamp = time("Criado em", "Created at").short("Criação", "Added"),
        updated_at: Timestamp = time("Alterado em", "Updated at").read_from("s.updated_at").listed_for_staff()
            .short("Última alteração", "Last change"),
    }
}

pub(super) fn serie_number_taken() -> Message {
    Message::fixed(
        "Já existe um produto com este número de série.",
        "Product with this Serie number already exists.",
    )
    .in_api("product with this serie number already exists.")
}
