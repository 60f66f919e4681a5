//! Inflows and outflows as resources of the API.

use http::Method;
use resource::Field;
use web::locale::Locale;

use super::{DAYS, Movement, MovementRecord, NEWEST_FIRST, at_once};
use crate::{
    State,
    access::Model,
    rest::{
        Refusal,
        fields::Draft,
        openapi::Description,
        query::Parameters,
        resource::{IMMUTABLE, Page, Resource},
    },
    work::{Author, Work},
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

    fn is_repeatable(self) -> bool {
        true
    }

    async fn create(
        self,
        work: &mut Work<'_>,
        draft: &Draft<MovementRecord>,
    ) -> Result<MovementRecord, Refusal> {
        super::create(work, self, draft).await
    }

    async fn create_batched(
        self,
        state: &State,
        author: &Author,
        draft: &Draft<MovementRecord>,
    ) -> Result<Option<MovementRecord>, Refusal> {
        at_once::create(state, author, self, draft).await
    }

    async fn delete(self, work: &mut Work<'_>, id: i64) -> Result<bool, Refusal> {
        super::delete(work, self, id).await
    }
}
