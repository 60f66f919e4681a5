//! Brands, categories and suppliers.

use db::Tx;

use crate::{
    State,
    accounts::{Caller, Model},
    admin::{
        about::{
            About, Administered, By, Cell, Column, Field, FieldKind, Inline, Limit, Record,
            Related, Rows, Target, Within, Words, Work, Written,
        },
        listing::Asked,
        models::rows_of,
    },
    catalogue::named::{self, Kind, NamedRecord},
    rest::{
        Refusal,
        fields::{FieldErrors, Members},
    },
};

pub(in crate::admin) struct Named {
    kind: Kind,
    about: About,
    /// What refers to its records: path and filter.
    referring: (&'static str, &'static str),
}

const COLUMNS: &[Column] = &[
    Column::sorted("name"),
    Column::sorted("description").edited(),
    Column::sorted("created_at"),
    Column::sorted("updated_at"),
];

const FIELDS: &[Field] = &[
    Field::required("name", FieldKind::Line),
    Field::optional("description", FieldKind::Lines),
];

const fn about(
    path: &'static str,
    model: Model,
    words: Words,
    inlines: &'static [Inline],
    site: &'static str,
) -> About {
    About {
        path,
        words,
        model,
        columns: COLUMNS,
        order: "1",
        search: Some(("nome", "name")),
        fields: FIELDS,
        inlines,
        site: Some(site),
        ..About::PLAIN
    }
}

pub(in crate::admin) static BRANDS: Named = Named {
    kind: Kind::Brand,
    about: about(
        "brands",
        Model::Brand,
        Words::feminine(("marca", "brand"), ("marcas", "brands")),
        &[],
        "/brands/",
    ),
    referring: ("products", "brand"),
};

pub(in crate::admin) static CATEGORIES: Named = Named {
    kind: Kind::Category,
    about: about(
        "categories",
        Model::Category,
        Words::feminine(("categoria", "category"), ("categorias", "categories")),
        &[],
        "/categories/",
    ),
    referring: ("products", "category"),
};

pub(in crate::admin) static SUPPLIERS: Named = Named {
    kind: Kind::Supplier,
    about: about(
        "suppliers",
        Model::Supplier,
        Words::masculine(("fornecedor", "supplier"), ("fornecedores", "suppliers")),
        // What a delivery brings is booked in one form; the newest can be taken back.
        &[Inline {
            path: "inflows",
            key: "supplier",
            columns: &["created_at", "product", "quantity", "description"],
            fields: &["product", "quantity", "description"],
            is_deleted: true,
            shown: 5,
            extra: 3,
            limit: Limit::AtOnce(20),
        }],
        "/suppliers/",
    ),
    referring: ("inflows", "supplier"),
};

impl Administered for Named {
    fn about(&self) -> &About {
        &self.about
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        Box::pin(async move {
            let parameters = asked.parameters(&self.about);
            let page = named::list(state, self.kind, &parameters).await?;
            Ok(rows_of(page, record))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move { Ok(named::read(state, self.kind, id).await?.map(record)) })
    }

    fn problems(&self, target: Target, members: &Members) -> FieldErrors {
        named::problems(members, target.mode())
    }

    fn is_written_in_parts(&self) -> bool {
        true
    }

    fn write_within<'a>(
        &'a self,
        tx: &'a mut Tx,
        by: &'a By,
        target: Target,
        members: &'a Members,
    ) -> Within<'a, Written> {
        Box::pin(async move {
            let (kind, mode, actor) = (self.kind, target.mode(), &by.actor);
            let written = match target.id() {
                None => Some(named::create_within(tx, kind, members, actor, by.now).await?),
                Some(id) => {
                    named::update_within(tx, (kind, id), members, mode, actor, by.now).await?
                }
            };
            let record = written.ok_or(Refusal::NotFound)?;
            Ok(Written::of(record.id, record.name))
        })
    }

    fn read_held<'a>(&'a self, tx: &'a mut Tx, id: i64) -> Within<'a, Option<Record>> {
        Box::pin(async move { Ok(named::held(tx, self.kind, id).await?.map(record)) })
    }

    fn delete<'a>(&'a self, state: &'a State, caller: &'a Caller, id: i64) -> Work<'a, bool> {
        Box::pin(named::delete(state, caller, self.kind, id))
    }

    fn related<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Vec<Related>> {
        Box::pin(async move {
            let referring = named::referring(state, self.kind, id).await?;
            let (path, filter) = self.referring;
            Ok(referring
                .iter()
                .map(|referring| Related {
                    path,
                    filter,
                    count: referring.count.unsigned_abs(),
                    is_protecting: true,
                })
                .collect())
        })
    }
}

fn record(record: NamedRecord) -> Record {
    Record::of(
        record.id,
        record.name.clone(),
        vec![
            ("id", Cell::Number(record.id)),
            ("name", Cell::Text(record.name)),
            ("description", Cell::text(record.description)),
            ("created_at", Cell::Time(record.created_at)),
            ("updated_at", Cell::Time(record.updated_at)),
        ],
    )
}
