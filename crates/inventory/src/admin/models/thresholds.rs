//! The own low-stock thresholds of products. The id is the id of the product. Without its own
//! threshold, a product has the threshold of the shop.

use async_trait::async_trait;
use db::Tx;
use resource::Record as _;

use crate::{
    State,
    access::{Caller, Model},
    admin::{
        about::{
            AdminModel, AdminWrites, AllowedVerbs, Application, ModelDescription, ModelRecord,
            RecordPage, SavedRecord, Words, Write, WriteTarget,
        },
        listing::ListParameters,
        models::rows_of,
    },
    rest::{
        Message, Refusal,
        fields::{FieldErrors, Mode, Reader, Reference},
    },
    stock::{self, OwnThreshold},
    work::Work,
};

pub(in crate::admin) struct Thresholds;

#[async_trait]
impl AdminModel for Thresholds {
    fn describe(&self) -> ModelDescription {
        ModelDescription {
            application: Application::Stock,
            words: Words::masculine(
                ("estoque mínimo", "low-stock threshold"),
                ("estoques mínimos", "low-stock thresholds"),
            ),
            allowed: AllowedVerbs::AsPart,
            order: "1",
            search: Some(OwnThreshold::product.label),
            ..ModelDescription::of("thresholds", Model::Product, OwnThreshold::FIELDS)
        }
    }

    async fn list(&self, state: &State, query: &ListParameters) -> Result<RecordPage, Refusal> {
        let page = stock::thresholds(state, &query.parameters()).await?;
        Ok(rows_of(page, |own| record(&own)))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Ok(stock::own_threshold(state, id).await?.as_ref().map(record))
    }
}

#[async_trait(?Send)]
impl AdminWrites for Thresholds {
    async fn write(&self, work: &mut Work<'_>, write: &Write<'_>) -> Result<SavedRecord, Refusal> {
        let mut reader = Reader::new(write.members, Mode::Whole);
        let product = match write.target.id() {
            Some(id) => Some(id),
            None => reader
                .read(OwnThreshold::product)
                .map(|sent: Reference| sent.id),
        };
        let threshold = reader.read(OwnThreshold::threshold);
        let (Some(product), Some(_)) = (product, threshold) else {
            return Err(reader.finish().into());
        };
        let unknown = FieldErrors::of("product", Message::unknown_record(&product.to_string()));
        match stock::write_threshold(work, product, threshold).await {
            Err(Refusal::NotFound) if write.target == WriteTarget::New => Err(unknown.into()),
            set => Ok((product, set?).into()),
        }
    }

    async fn find_locked(&self, tx: &mut Tx, id: i64) -> Result<Option<ModelRecord>, Refusal> {
        Ok(stock::own_threshold_locked(tx, id)
            .await?
            .as_ref()
            .map(record))
    }

    async fn delete(&self, work: &mut Work<'_>, _by: &Caller, id: i64) -> Result<bool, Refusal> {
        match stock::write_threshold(work, id, None).await {
            Err(Refusal::NotFound) => Ok(false),
            set => set.map(|_| true),
        }
    }
}

fn record(own: &OwnThreshold) -> ModelRecord {
    ModelRecord {
        id: own.product.id,
        ..ModelRecord::described(own)
    }
}
