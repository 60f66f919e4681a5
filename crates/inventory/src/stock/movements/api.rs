//! Inflows and outflows as resources of the API.

use http::Method;

use super::{Movement, MovementRecord};
use crate::{
    State,
    accounts::{Caller, Model},
    rest::{
        Refusal,
        fields::Mode,
        metadata::Field,
        query::Parameters,
        resource::{Created, IMMUTABLE, Page, Reading, Resource, Submission},
    },
};

impl Resource for Movement {
    type Record = MovementRecord;

    fn path(self) -> &'static str {
        Self::path(self)
    }

    fn model(self) -> Model {
        Self::model(self)
    }

    fn methods(self) -> &'static [Method] {
        IMMUTABLE
    }

    fn fields(self) -> &'static [Field] {
        self.described()
    }

    fn listing(
        self,
        state: &State,
        parameters: &Parameters,
    ) -> Result<Reading<Page<MovementRecord>>, Refusal> {
        super::listing(state, self, parameters)
    }

    fn reading(self, id: i64) -> Reading<Option<MovementRecord>> {
        super::reading(self, id)
    }

    async fn create(
        self,
        state: &State,
        submission: Submission,
    ) -> Result<Created<MovementRecord>, Refusal> {
        super::create(state, self, submission).await
    }

    async fn update(
        self,
        _state: &State,
        _id: i64,
        submission: Submission,
        _mode: Mode,
    ) -> Result<Option<MovementRecord>, Refusal> {
        // The gate refuses PUT and PATCH before this, since they are not among the methods.
        Err(Refusal::Method(submission.method, IMMUTABLE))
    }

    async fn delete(self, state: &State, caller: Caller, id: i64) -> Result<bool, Refusal> {
        super::delete(state, &caller, self, id).await
    }
}
