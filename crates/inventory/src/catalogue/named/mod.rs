//! Brands, categories and suppliers: records with a name and a description. One implementation
//! serves all kinds, which differ in the table and in what refers to them.

mod model;
mod store;

pub use crate::access::{Kind, KindDescription};
pub use model::{NamedInput, NamedRecord};

use db::{Conn, Tx};
use http::Method;
use resource::{Field, Record as _, schema::example};

use crate::{
    State,
    access::Model,
    api::{
        openapi::Description,
        resource::{ApiResource, MUTABLE, Resource},
    },
    audit::{self, Action},
    catalogue,
    rest::{
        Refusal,
        fields::Draft,
        list::{OrderBy, QueryFilter, check_search},
        page::Page,
        query::Parameters,
    },
    work::Work,
};

const BY_NAME: OrderBy = OrderBy {
    field: NamedRecord::name.name,
    descending: false,
};

/// One page of the records of a kind.
pub async fn list(
    state: &State,
    kind: Kind,
    parameters: &Parameters,
) -> Result<Page<NamedRecord>, Refusal> {
    let list = store::selection(kind, parameters);
    list.requested(state, parameters).await
}

/// The first of the records that [`list`] returns on all its pages, in the same order.
pub(crate) async fn first_matches(
    state: &State,
    kind: Kind,
    parameters: &Parameters,
    limit: i64,
) -> Result<Vec<NamedRecord>, Refusal> {
    let list = store::selection(kind, parameters);
    let read = async move |conn: &mut Conn| list.first(conn, limit).await;
    Ok(state.db.read(read).await?)
}

/// All records that the parameters select, in order.
pub(crate) async fn all(
    conn: &mut Conn,
    kind: Kind,
    parameters: &Parameters,
) -> Result<Vec<NamedRecord>, db::Error> {
    let list = store::selection(kind, parameters);
    list.first(conn, i64::MAX).await
}

/// The first `limit` records whose names contain all words of a text.
pub(crate) async fn best(
    state: &State,
    kind: Kind,
    text: &str,
    limit: i64,
) -> Result<Vec<NamedRecord>, Refusal> {
    first_matches(state, kind, &Parameters::of("search", text), limit).await
}

/// One record.
pub async fn read(state: &State, kind: Kind, id: i64) -> Result<Option<NamedRecord>, Refusal> {
    let find = async move |conn: &mut Conn| list_of(kind).find(conn, id).await;
    Ok(state.db.read_inline::<_, db::Error, _>(find).await?)
}

impl Resource for Kind {
    type Record = NamedRecord;

    fn path(self) -> &'static str {
        self.about().path
    }

    fn model(self) -> Model {
        Model::Named(self)
    }

    fn methods(self) -> &'static [Method] {
        MUTABLE
    }

    fn fields(self) -> &'static [&'static Field] {
        NamedRecord::FIELDS
    }

    async fn read(self, state: &State, id: i64) -> Result<Option<NamedRecord>, Refusal> {
        read(state, self, id).await
    }
}

impl ApiResource for Kind {
    fn description(self) -> Description {
        Description {
            words: &self.about().words,
            bodies: "Named".to_owned(),
            filters: &[QueryFilter::SEARCH],
            order: BY_NAME,
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
        list(state, self, parameters).await
    }

    async fn create(
        self,
        work: &mut Work<'_>,
        draft: &Draft<NamedRecord>,
    ) -> Result<NamedRecord, Refusal> {
        let mut input = draft.valid()?;
        let created_at = input.created_at.unwrap_or(work.now);
        input.created_at = Some(created_at);
        input.updated_at = Some(input.updated_at.unwrap_or(created_at));
        let record = store::insert(work.tx, self, &input).await?;
        let (model, id, name) = (self.model(), record.id, &record.name);
        audit::record(work, Action::Added, model, id, name).await?;
        Ok(record)
    }

    async fn change(
        self,
        work: &mut Work<'_>,
        id: i64,
        draft: &Draft<NamedRecord>,
    ) -> Result<Option<NamedRecord>, Refusal> {
        let mut input = draft.valid()?;
        input.updated_at = Some(work.now);
        let before = find_locked(work.tx, self, id).await?;
        let after = store::update(work.tx, self, id, &input).await?;
        if let (Some(before), Some(after)) = (before, &after) {
            audit::changed(work, self.model(), id, &after.name, (&before, after)).await?;
        }
        Ok(after)
    }

    async fn delete(self, work: &mut Work<'_>, id: i64) -> Result<bool, Refusal> {
        catalogue::check_deletion(work.tx, self.model(), id).await?;
        let Some(name) = store::delete(work.tx, self, id).await? else {
            return Ok(false);
        };
        let model = self.model();
        audit::record(work, Action::Deleted, model, id, &name).await?;
        Ok(true)
    }
}

pub(crate) async fn count(conn: &mut Conn, kind: Kind) -> Result<u64, db::Error> {
    let all = store::selection(kind, &Parameters::default());
    all.count(conn, None).await
}

pub(crate) use store::list_of;

/// A record, with its row locked until the transaction ends.
pub(crate) async fn find_locked(
    tx: &mut Tx,
    kind: Kind,
    id: i64,
) -> Result<Option<NamedRecord>, db::Error> {
    store::lock(tx, kind, id).await?;
    list_of(kind).find(tx, id).await
}
