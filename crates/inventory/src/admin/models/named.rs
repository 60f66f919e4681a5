//! Brands, categories and suppliers.

use crate::{
    State,
    accounts::{Caller, Model, Permission, Verb},
    admin::{
        about::{
            About, Administered, Application, Cell, Column, Field, FieldKind, Record, Related, Row,
            Rows, Words, Work, Written,
        },
        listing::Asked,
        models::rows_of,
    },
    catalogue::named::{self, Kind, NamedRecord},
    rest::fields::{Members, Mode},
};

pub(in crate::admin) struct Named {
    kind: Kind,
    about: About,
    /// What refers to its records: path and filter.
    referring: (&'static str, &'static str),
}

const COLUMNS: &[Column] = &[
    Column::sorted("name"),
    Column::sorted("description"),
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
    permission: fn(Verb) -> Option<Permission>,
    site: &'static str,
) -> About {
    About {
        path,
        application: Application::Catalogue,
        words,
        model,
        permission,
        columns: COLUMNS,
        order: "1",
        search: Some(("nome", "name")),
        filters: &[],
        has_dates: false,
        fields: FIELDS,
        in_two_steps: false,
        actions: &[],
        site: Some(site),
    }
}

pub(in crate::admin) static BRANDS: Named = Named {
    kind: Kind::Brand,
    about: about(
        "brands",
        Model::Brand,
        Words {
            singular: ("marca", "brand"),
            plural: ("marcas", "brands"),
            is_feminine: true,
        },
        |verb| Some(Permission::new(verb, Model::Brand)),
        "/brands/",
    ),
    referring: ("products", "brand"),
};

pub(in crate::admin) static CATEGORIES: Named = Named {
    kind: Kind::Category,
    about: about(
        "categories",
        Model::Category,
        Words {
            singular: ("categoria", "category"),
            plural: ("categorias", "categories"),
            is_feminine: true,
        },
        |verb| Some(Permission::new(verb, Model::Category)),
        "/categories/",
    ),
    referring: ("products", "category"),
};

pub(in crate::admin) static SUPPLIERS: Named = Named {
    kind: Kind::Supplier,
    about: about(
        "suppliers",
        Model::Supplier,
        Words {
            singular: ("fornecedor", "supplier"),
            plural: ("fornecedores", "suppliers"),
            is_feminine: false,
        },
        |verb| Some(Permission::new(verb, Model::Supplier)),
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
            Ok(rows_of(page, row))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move { Ok(named::read(state, self.kind, id).await?.map(record)) })
    }

    fn write<'a>(
        &'a self,
        state: &'a State,
        caller: &'a Caller,
        id: Option<i64>,
        members: Members,
    ) -> Work<'a, Written> {
        Box::pin(async move {
            let written = match id {
                None => Some(named::create(state, caller, self.kind, &members).await?),
                Some(id) => {
                    named::update(state, caller, self.kind, id, &members, Mode::Whole).await?
                }
            };
            let record = written.ok_or(crate::rest::Refusal::NotFound)?;
            Ok(Written::of(record.id, record.name))
        })
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

fn row(record: NamedRecord) -> Row {
    Row {
        id: record.id,
        text: record.name.clone(),
        cells: vec![
            Cell::Text(record.name),
            Cell::text(record.description),
            Cell::Time(record.created_at),
            Cell::Time(record.updated_at),
        ],
        tags: Vec::new(),
    }
}

fn record(record: NamedRecord) -> Record {
    Record {
        id: record.id,
        text: record.name.clone(),
        values: vec![
            ("name", record.name.clone()),
            (
                "description",
                record.description.clone().unwrap_or_default(),
            ),
        ],
        facts: vec![
            ("id", Cell::Number(record.id)),
            ("name", Cell::Text(record.name)),
            ("description", Cell::text(record.description)),
            ("created_at", Cell::Time(record.created_at)),
            ("updated_at", Cell::Time(record.updated_at)),
        ],
    }
}
