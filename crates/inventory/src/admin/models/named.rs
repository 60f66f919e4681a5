//! Brands, categories and suppliers: all of it follows from their descriptions.

use std::sync::LazyLock;

use async_trait::async_trait;
use db::Tx;
use resource::Record as _;

use crate::{
    State,
    access::Caller,
    admin::{
        about::{
            About, AdminModel, AdminWrites, By, Inline, Limit, Record, Related, Rows, Target,
            Written,
        },
        listing::Asked,
        models::rows_of,
    },
    catalogue::named::{self, Kind, NamedRecord},
    rest::{
        Refusal,
        fields::{Draft, FieldErrors, Members},
        resource::Resource as _,
    },
    work,
};

pub(in crate::admin) struct Named {
    kind: Kind,
    about: About,
}

/// The kinds.
pub(in crate::admin) static NAMED: LazyLock<Vec<Named>> =
    LazyLock::new(|| Kind::ALL.into_iter().map(Named::of).collect());

/// What a delivery brings is booked in one form; the newest can be taken back.
const INFLOWS: &[Inline] = &[Inline {
    path: "inflows",
    key: "supplier",
    columns: &["created_at", "product", "quantity", "description"],
    fields: &["product", "quantity", "description"],
    is_deleted: true,
    shown: 5,
    extra: 3,
    limit: Limit::AtOnce(20),
}];

impl Named {
    fn of(kind: Kind) -> Self {
        let about = About {
            path: kind.path(),
            words: kind.about().words,
            model: kind.model(),
            order: "1",
            search: Some(NamedRecord::name.label),
            inlines: if kind == Kind::Supplier { INFLOWS } else { &[] },
            site: Some(format!("/{}/", kind.path()).leak()),
            ..About::of(NamedRecord::FIELDS)
        };
        Self { kind, about }
    }
}

#[async_trait]
impl AdminModel for Named {
    fn about(&self) -> &About {
        &self.about
    }

    async fn list(&self, state: &State, asked: &Asked) -> Result<Rows, Refusal> {
        let parameters = asked.parameters(&self.about);
        let page = named::list(state, self.kind, &parameters).await?;
        Ok(rows_of(page, |record| Record::described(&record)))
    }

    async fn read(&self, state: &State, id: i64) -> Result<Option<Record>, Refusal> {
        Ok(named::read(state, self.kind, id)
            .await?
            .map(|record| Record::described(&record)))
    }

    fn problems(&self, target: Target, members: &Members) -> FieldErrors {
        named::problems(members, target.mode())
    }

    fn is_written_in_parts(&self) -> bool {
        true
    }

    async fn delete(&self, state: &State, caller: &Caller, id: i64) -> Result<bool, Refusal> {
        work::delete(state, caller, self.kind, id).await
    }

    async fn related(&self, state: &State, id: i64) -> Result<Vec<Related>, Refusal> {
        let Some(referrer) = &self.kind.about().referrer else {
            return Ok(Vec::new());
        };
        let references = named::references_to(state, self.kind, id).await?;
        Ok(references
            .iter()
            .map(|reference| Related {
                path: referrer.path,
                filter: self.kind.name(),
                count: reference.count.unsigned_abs(),
                is_protecting: true,
            })
            .collect())
    }
}

#[async_trait(?Send)]
impl AdminWrites for Named {
    async fn write_within(
        &self,
        tx: &mut Tx,
        by: &By,
        target: Target,
        members: &Members,
    ) -> Result<Written, Refusal> {
        let (work, draft) = (&mut by.author.work(tx), Draft::read(members, target.mode()));
        let written = match target.id() {
            None => Some(self.kind.create(work, &draft).await?),
            Some(id) => self.kind.change(work, id, &draft).await?,
        };
        let record = written.ok_or(Refusal::NotFound)?;
        Ok(Written::of(record.id, record.name))
    }

    async fn read_held(&self, tx: &mut Tx, id: i64) -> Result<Option<Record>, Refusal> {
        Ok(named::find_locked(tx, self.kind, id)
            .await?
            .map(|record| Record::described(&record)))
    }
}
