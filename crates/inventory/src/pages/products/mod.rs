//! The pages of products. The list is here; its search is in `search`, the product's page in
//! `detail`, its form in `form`.

mod archive;
mod detail;
mod form;
mod search;

pub(crate) use search::jump;

use std::collections::BTreeMap;

use db::Conn;
use resource::{Field, Record as _};
use web::locale::Locale;

use crate::{
    State,
    access::{Model, Verb},
    catalogue::{
        products::{
            ProductRecord, Products,
            lookup::{self, SerieNumberMatches},
        },
        refuse_when_referenced,
    },
    page::{
        Frame,
        confirmation::Confirmation,
        list_page::{Cell, Filter, Link, ListAddress, ListPage, Row, RowAction},
        record_form,
        records::{self, ResourcePages},
        routes::{PageRouter, get, of_one, post_from},
    },
    rest::{
        Refusal,
        page::Page,
        query::{Parameters, encode},
    },
    stock::{self, Policy, StockState, movements::Movement},
};

pub(crate) fn routes() -> PageRouter {
    records::routes(Products)
        .merge(record_form::routes(Products))
        .route("/products/{id}/", get(detail::show))
        .route("/products/{id}/ledger/", get(detail::ledger))
        .route(
            "/products/{id}/archive/",
            post_from("../", of_one(true, archive::set)),
        )
        .route(
            "/products/{id}/unarchive/",
            post_from("../", of_one(false, archive::set)),
        )
}

fn address(id: i64) -> String {
    records::address(Products, id)
}

/// The parameter that selects archived products, or all.
const ARCHIVED: &str = "archived";
/// The value of [`ARCHIVED`] for all products, as the dashboard counts them.
const ALL: &str = "all";

/// The first products of a list.
///
/// # Errors
///
/// Invalid filters.
pub(crate) async fn first(
    state: &State,
    parameters: &Parameters,
    limit: i64,
) -> Result<Vec<ProductRecord>, Refusal> {
    lookup::first(state, &without_archived(parameters.clone()), limit).await
}

/// By default the list shows only products that are not archived.
fn without_archived(mut parameters: Parameters) -> Parameters {
    match parameters.get(ARCHIVED) {
        None => parameters.set(ARCHIVED, "false"),
        Some(ALL) => parameters.set(ARCHIVED, ""),
        Some(_) => {}
    }
    parameters
}

impl ResourcePages for Products {
    const ORDERING: &'static str = ProductRecord::title.name;

    type File = (Parameters, Option<SerieNumberMatches>);

    fn icon(self) -> &'static str {
        "box"
    }

    fn filters(self, locale: Locale) -> Vec<Filter> {
        let search = locale.text("Nome, marca ou código", "Name, brand or code");
        let shown = [
            ("", locale.text("Produtos ativos", "Active products")),
            ("true", locale.text("Arquivados", "Archived")),
            (ALL, locale.text("Todos", "All")),
        ];
        let archived = Filter::choice(ARCHIVED, locale.text("Mostrar", "Show"), shown);
        std::iter::once(Filter::search(search))
            .chain(Filter::of_fields(ProductRecord::FIELDS, locale))
            .chain([archived])
            .collect()
    }

    fn adorn(self, frame: &Frame, list: ListPage) -> ListPage {
        ListPage {
            is_create_dialog: false,
            further: further(frame, &list.address),
            ..list
        }
    }

    async fn jump(self, frame: &Frame, parameters: &Parameters) -> Result<Option<String>, Refusal> {
        search::jump(frame, parameters).await
    }

    async fn find(
        self,
        frame: &Frame,
        list: &mut ListPage,
        parameters: &Parameters,
    ) -> Result<Page<ProductRecord>, Refusal> {
        let parameters = without_archived(parameters.clone());
        search::found(frame, list, &parameters).await
    }

    async fn rows(
        self,
        frame: &Frame,
        list: &ListPage,
        records: &[ProductRecord],
    ) -> Result<Vec<Row>, Refusal> {
        let ids: Vec<i64> = records.iter().map(|product| product.id).collect();
        let rows = ProductRows {
            states: stock::stock_states(&frame.state, &ids).await?,
            policy: Policy::from(&frame.state.config),
            columns: self.columns(),
            here: list.address.whole(),
            frame,
        };
        Ok(records.iter().map(|product| rows.row(product)).collect())
    }

    async fn file(self, state: &State, parameters: Parameters) -> Result<Self::File, Refusal> {
        let parameters = without_archived(parameters);
        let (parameters, _) = lookup::interpret(state, &parameters).await?;
        let matches = SerieNumberMatches::find(state, &parameters).await?;
        Ok((parameters, matches))
    }

    async fn each(
        self,
        conn: &mut Conn,
        state: &State,
        (parameters, matches): &Self::File,
        take: impl FnMut(&ProductRecord) -> Result<(), db::Error>,
    ) -> Result<(), Refusal> {
        match matches {
            Some(matches) => matches.each(conn, take).await,
            None => crate::catalogue::products::each(conn, state, parameters, take).await,
        }
    }

    async fn deletion(
        self,
        frame: &Frame,
        record: &ProductRecord,
    ) -> Result<Confirmation, Refusal> {
        let referring =
            crate::catalogue::references_to(&frame.state, Model::Product, record.id).await?;
        let movements = Movement::ALL.into_iter().zip(&referring);
        let movements = movements.filter(|(_, records)| records.count > 0);
        let mut instead: Vec<_> = movements
            .map(|(movement, _)| {
                let words = movement.words();
                (
                    words.of_this(Model::Product.words(), frame.locale),
                    format!("/{}/?product={}", movement.path(), record.id),
                )
            })
            .collect();
        let stock = stock::stock_state(&frame.state, record.id).await?;
        if !stock.is_archived() && frame.may(Verb::Change, Model::Product) {
            let archive = frame.text("Arquivar na página do produto", "Archive on its page");
            instead.push((archive.to_owned(), address(record.id)));
        }
        let sentence = frame.text(
            "Isto não pode ser desfeito. O extrato do estoque e o histórico ficam guardados.",
            "This cannot be undone. Its stock ledger and its history are kept.",
        );
        let (words, texts) = (
            Model::Product.words(),
            (record.title.clone(), sentence, address(record.id)),
        );
        let foreseen = refuse_when_referenced(words, &referring);
        Ok(Confirmation {
            instead,
            ..Confirmation::of_deletion(frame, words, texts, foreseen)?
        })
    }
}

/// The link to count the listed products, for users who may adjust stock.
fn further(frame: &Frame, address: &ListAddress) -> Option<Link> {
    let filters = address.with(&[("ordering", ""), ("page_size", ""), ("page", "")]);
    let filters = filters.trim_start_matches("/products/");
    frame.may(Verb::Change, Model::Product).then(|| Link {
        icon: "count",
        text: frame.text("Contar estoque", "Count stock"),
        address: format!("/counts/new/{filters}"),
    })
}

/// The common data of the rows of one page.
struct ProductRows<'a> {
    frame: &'a Frame,
    states: BTreeMap<i64, StockState>,
    policy: Policy,
    columns: Vec<&'static Field>,
    /// The address of the list, to which forms opened from a row return.
    here: String,
}

impl ProductRows<'_> {
    fn row(&self, product: &ProductRecord) -> Row {
        let state = self.states.get(&product.id).copied().unwrap_or_default();
        let threshold = self.policy.threshold_of(state.threshold);
        let is_low = state.archived_at.is_none() && stock::is_low(product.quantity, threshold);
        let (columns, actions) = (
            &self.columns,
            self.actions(product, state.archived_at.is_some()),
        );
        Row::of(self.frame, product, columns, &address(product.id), actions).with(
            columns,
            ProductRecord::quantity,
            |cell| match cell {
                Cell::Number(number) => Cell::Stock(number, is_low),
                cell => cell,
            },
        )
    }

    fn actions(&self, product: &ProductRecord, is_archived: bool) -> Vec<RowAction> {
        let frame = self.frame;
        let mut next = String::new();
        encode(&self.here, &mut next);
        let book = |path: &str| format!("/{path}/new/?product={}&next={next}", product.id);
        let own = |path: &str| format!("{}{path}", address(product.id));
        let may_change = frame.may(Verb::Change, Model::Product);
        let may_book = |model| !is_archived && frame.may(Verb::Add, model);
        let all = [
            (
                may_book(Model::Inflow),
                "inflow",
                frame.text("Entrada", "Book in"),
                book("inflows"),
                true,
            ),
            (
                may_book(Model::Outflow),
                "outflow",
                frame.text("Saída", "Book out"),
                book("outflows"),
                true,
            ),
            (
                may_change,
                "count",
                frame.text("Ajustar estoque", "Adjust stock"),
                own(&format!("adjust/?next={next}")),
                true,
            ),
            (
                may_change,
                "edit",
                frame.text("Editar", "Edit"),
                own("edit/"),
                false,
            ),
        ];
        let allowed = all.into_iter().filter(|(may, ..)| *may);
        let action = |(_, icon, text, address, is_dialog)| RowAction {
            icon,
            text: format!("{text}: {}", product.title),
            address,
            is_dialog,
        };
        allowed.map(action).collect()
    }
}
