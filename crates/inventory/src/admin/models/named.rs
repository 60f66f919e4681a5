//! Brands, categories and suppliers.

use async_trait::async_trait;
use db::Tx;
use resource::Record as _;

use crate::{
    State,
    access::Caller,
    admin::{
        about::{
            AdminModel, AdminWrites, Inline, Limit, ModelDescription, ModelRecord, RecordPage,
            SavedRecord, Write,
        },
        listing::ListParameters,
        models::rows_of,
    },
    api::resource::ApiResource as _,
    catalogue::{
        self, ReferenceCount,
        named::{self, Kind, NamedRecord},
    },
    rest::Refusal,
    work::Work,
};

pub(in crate::admin) struct Named(pub(in crate::admin) Kind);

/// The form of a supplier books several inflows of one delivery. The newest inflows can be deleted.
const INFLOWS: Inline = Inline {
    path: "inflows",
    key: "supplier",
    columns: &["created_at", "product", "quantity", "description"],
    fields: &["product", "quantity", "description"],
    is_deleted: true,
    shown: 5,
    extra: 3,
    limit: Limit::AtOnce(20),
};

#[async_trait]
impl AdminModel for Named {
    fn describe(&self) -> ModelDescription {
        let (path, is_supplier) = (self.0.path(), self.0 == Kind::Supplier);
        ModelDescription {
            order: "1",
            search: Some(NamedRecord::name.label),
            inlines: is_supplier.then_some(INFLOWS).into_iter().collect(),
            site: Some(format!("/{path}/").leak()),
            ..ModelDescription::of(path, self.0.model(), NamedRecord::FIELDS)
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let page = named::list(state, self.0, &query.parameters()).await?;
        Ok(rows_of(page, |record| ModelRecord::described(&record)))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Ok(named::read(state, self.0, id)
            .await?
            .map(|record| ModelRecord::described(&record)))
    }

    async fn references_to(&self, state: &State, id: i64) -> Result<Vec<ReferenceCount>, Refusal> {
        catalogue::references_to(state, self.0.model(), id).await
    }
}

#[async_trait(?Send)]
impl AdminWrites for Named {
    async fn write(&self, work: &mut Work<'_>, write: &Write<'_>) -> Result<SavedRecord, Refusal> {
        let record = super::write(self.0, work, write).await?;
        Ok((record.id, record.name).into())
    }

    async fn find_locked(&self, tx: &mut Tx, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Ok(named::find_locked(tx, self.0, id)
            .await?
            .map(|record| ModelRecord::described(&record)))
    }

    async fn delete(&self, work: &mut Work<'_>, _by: &Caller, id: i64) -> Result<bool, Refusal> {
        self.0.delete(work, id).await
    }
}
