//! Products as a resource of the API.

use http::Method;
use resource::{Field, Record as _};

use super::ProductRecord;
use crate::{
    State,
    accounts::{Caller, Model},
    rest::{
        Refusal,
        fields::Mode,
        list::check_search,
        query::Parameters,
        resource::{Created, MUTABLE, Page, Resource, Submission},
    },
};

/// The resource at `/api/v1/products/`.
#[derive(Debug, Clone, Copy)]
pub struct Products;

impl Resource for Products {
    type Record = ProductRecord;

    fn path(self) -> &'static str {
        "products"
    }

    fn model(self) -> Model {
        Model::Product
    }

    fn methods(self) -> &'static [Method] {
        MUTABLE
    }

    fn fields(self) -> &'static [&'static Field] {
        ProductRecord::FIELDS
    }

    async fn list(
        self,
        state: &State,
        parameters: &Parameters,
    ) -> Result<Page<ProductRecord>, Refusal> {
        check_search(parameters)?;
        super::list(state, parameters).await
    }

    async fn read(self, state: &State, id: i64) -> Result<Option<ProductRecord>, Refusal> {
        super::read(state, id).await
    }

    async fn create(
        self,
        state: &State,
        submission: Submission,
    ) -> Result<Created<ProductRecord>, Refusal> {
        super::create(state, &submission.caller, &submission.members)
            .await
            .map(Created::New)
    }

    async fn update(
        self,
        state: &State,
        id: i64,
        submission: Submission,
        mode: Mode,
    ) -> Result<Option<ProductRecord>, Refusal> {
        super::update(state, &submission.caller, id, &submission.members, mode).await
    }

    async fn delete(self, state: &State, caller: Caller, id: i64) -> Result<bool, Refusal> {
        super::delete(state, &caller, id).await
    }
}
