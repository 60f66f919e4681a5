//! Brands, categories and suppliers as resources of the API.

use http::Method;
use resource::{Field, Record as _, schema::example};

use super::{Kind, NamedRecord};
use crate::{
    State,
    access::{Caller, Model},
    rest::{
        Refusal,
        fields::Mode,
        list::{QueryFilter, check_search},
        openapi::Description,
        query::Parameters,
        resource::{Created, MUTABLE, Page, Resource, Submission},
    },
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
            is_repeatable: false,
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
        state: &State,
        submission: Submission,
    ) -> Result<Created<NamedRecord>, Refusal> {
        super::create(state, &submission.caller, self, &submission.members)
            .await
            .map(Created::New)
    }

    async fn update(
        self,
        state: &State,
        id: i64,
        submission: Submission,
        mode: Mode,
    ) -> Result<Option<NamedRecord>, Refusal> {
        super::update(
            state,
            &submission.caller,
            self,
            id,
            &submission.members,
            mode,
        )
        .await
    }

    async fn delete(self, state: &State, caller: Caller, id: i64) -> Result<bool, Refusal> {
        super::delete(state, &caller, self, id).await
    }
}
