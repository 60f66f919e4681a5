//! Brands, categories and suppliers as resources of the API.

use http::Method;
use resource::{Field, Record as _, schema::example};

use super::{Kind, NamedRecord};
use crate::{
    State,
    access::Model,
    rest::{
        Refusal,
        fields::Draft,
        list::{QueryFilter, check_search},
        openapi::Description,
        query::Parameters,
        resource::{MUTABLE, Page, Resource},
    },
    work::Work,
};

impl Resource for Kind {
    type Record = NamedRecord;

    fn path(self) -> &'static str {
        self.about().path
    }

    fn model(self) -> Model {
        self.about().model
    }

    fn methods(self) -> &'static [Method] {
        MUTABLE
    }

    fn fields(self) -> &'static [&'static Field] {
        NamedRecord::FIELDS
    }

    fn description(self) -> Description {
        Description {
            words: &self.about().words,
            bodies: "Named".to_owned(),
            filters: &[QueryFilter::SEARCH],
            order: super::BY_NAME,
            deletion: " Refused while other records refer to it.",
            example: example(self.fields(), &[("name", self.about().example.into())]),
        }
    }

    async fn list(
        self,
        state: &State,
        parameters: &Parameters,
    ) -> Result<Page<NamedRecord>, Refusal> {
        check_search(parameters)?;
        super::list(state, self, parameters).await
    }

    async fn read(self, state: &State, id: i64) -> Result<Option<NamedRecord>, Refusal> {
        super::read(state, self, id).await
    }

    async fn create(
        self,
        work: &mut Work<'_>,
        draft: &Draft<NamedRecord>,
    ) -> Result<NamedRecord, Refusal> {
        super::create(work, self, draft).await
    }

    async fn change(
        self,
        work: &mut Work<'_>,
        id: i64,
        draft: &Draft<NamedRecord>,
    ) -> Result<Option<NamedRecord>, Refusal> {
        super::change(work, self, id, draft).await
    }

    async fn delete(self, work: &mut Work<'_>, id: i64) -> Result<bool, Refusal> {
        super::delete(work, self, id).await
    }
}
