//! Products.

use async_trait::async_trait;
use db::{Timestamp, Tx};
use resource::Record as _;

use crate::{
    State,
    access::{Caller, Model},
    admin::{
        about::{
            ActionRequest, AdminModel, AdminWrites, Both, Inline, Limit, ModelAction,
            ModelDescription, ModelFilter, ModelRecord, RecordPage, SavedRecord, Write,
        },
        listing::ListParameters,
        models::rows_of,
    },
    api::resource::ApiResource as _,
    catalogue::{
        self, ReferenceCount,
        products::{self, ProductRecord},
    },
    rest::Refusal,
    stock::archive,
    work::Work,
};

pub(in crate::admin) struct Products;

const ARCHIVED: [(&str, Both); 2] = [("false", ("Não", "No")), ("true", ("Sim", "Yes"))];

#[async_trait]
impl AdminModel for Products {
    fn describe(&self) -> ModelDescription {
        ModelDescription {
            order: "1",
            search: Some(("título", "title")),
            has_dates: true,
            inlines: vec![
                Inline {
                    path: "thresholds",
                    key: "product",
                    columns: &["threshold"],
                    fields: &["threshold"],
                    is_deleted: true,
                    shown: 1,
                    extra: 1,
                    limit: Limit::InAll(1),
                },
                Inline::read(
                    "ledger",
                    "product",
                    &["created_at", "kind", "change", "balance_after", "user"],
                ),
            ],
            saves_as_new: true,
            site: Some("/products/"),
            actions: vec![
                ModelAction {
                    name: "archive",
                    text: (
                        "Arquivar os produtos selecionados",
                        "Archive selected products",
                    ),
                    done: (("Produtos arquivados: ", "Products archived: "), (".", ".")),
                },
                ModelAction {
                    name: "unarchive",
                    text: (
                        "Desarquivar os produtos selecionados",
                        "Unarchive selected products",
                    ),
                    done: (
                        ("Produtos desarquivados: ", "Products unarchived: "),
                        (".", "."),
                    ),
                },
            ],
            ..ModelDescription::of("products", Model::Product, ProductRecord::FIELDS)
                .filtered_by(ModelFilter::choices("archived", &ARCHIVED))
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let (parameters, created) = (query.parameters(), query.dates.moments());
        let page = products::list_created(state, &parameters, created).await?;
        Ok(rows_of(page, |product| ModelRecord::described(&product)))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        let product = products::read(state, id).await?;
        Ok(product.map(|product| ModelRecord::described(&product)))
    }

    async fn references_to(&self, state: &State, id: i64) -> Result<Vec<ReferenceCount>, Refusal> {
        catalogue::references_to(state, Model::Product, id).await
    }

    async fn act(&self, request: ActionRequest<'_>) -> Result<bool, Refusal> {
        let is_archived = request.action == "archive";
        match archive::set(request.state, request.caller, request.id, is_archived).await {
            Err(Refusal::NotFound) => Ok(false),
            set => Ok(set?.1),
        }
    }

    async fn span(&self, state: &State) -> Result<Option<(Timestamp, Timestamp)>, Refusal> {
        products::LIST.span(state).await
    }
}

#[async_trait(?Send)]
impl AdminWrites for Products {
    async fn write(&self, work: &mut Work<'_>, write: &Write<'_>) -> Result<SavedRecord, Refusal> {
        let record = super::write(products::Products, work, write).await?;
        Ok((record.id, record.title).into())
    }

    async fn find_locked(&self, tx: &mut Tx, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        let product = products::find_locked(tx, id).await?;
        Ok(product.map(|product| ModelRecord::described(&product)))
    }

    async fn delete(&self, work: &mut Work<'_>, _by: &Caller, id: i64) -> Result<bool, Refusal> {
        products::Products.delete(work, id).await
    }
}
