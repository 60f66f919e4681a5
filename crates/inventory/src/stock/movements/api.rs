//! Inflows and outflows as resources of the API.

use http::Method;
use resource::Field;
use web::locale::Locale;

use super::{DAYS, Movement, MovementRecord, NEWEST_FIRST};
use crate::{
    State,
    access::{Caller, Model},
    rest::{
        Refusal,
        fields::Mode,
        openapi::Description,
        query::Parameters,
        resource::{Created, IMMUTABLE, Page, Resource, Submission},
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

    fn fields(self) -> &'static [&'static Field] {
        Self::fields(self)
    }

    fn description(self) -> Description {
        let deletion = match self {
            Self::Inflow => {
                " Lowers the product's quantity again; refused when the goods have left already. \
                 The ledger keeps both rows."
            }
            Self::Outflow => " Raises the product's quantity again. The ledger keeps both rows.",
        };
        Description {
            words: self.words(),
            bodies: self.words().name(Locale::En),
            filters: DAYS,
            order: NEWEST_FIRST,
            deletion,
            is_repeatable: true,
            example: self.example(),
        }
    }

    async fn list(
        self,
        state: &State,
        parameters: &Parameters,
    ) -> Result<Page<MovementRecord>, Refusal> {
        super::list(state, self, parameters).await
    }

    async fn read(self, state: &State, id: i64) -> Result<Option<MovementRecord>, Refusal> {
        super::read(state, self, id).await
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
