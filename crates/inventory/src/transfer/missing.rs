//! Names of categories and brands that do not exist yet. On request, an import creates them. They
//! are collected while a file is checked, and each is created in the transaction of the first row
//! that needs it. `staging` creates and deletes them.

use std::collections::BTreeMap;

use db::Conn;
use web::locale::Locale;

use super::{ImportError, cell::raw_text, column::ReferenceKey};
use crate::{
    access::{Caller, Permission, Verb},
    catalogue::{
        named::{Kind, NamedRecord},
        products,
    },
    names,
    rest::{
        Message,
        fields::{Draft, Members, Mode},
    },
    search,
};

/// The kinds of records that an import can create by name.
pub(crate) const KINDS: [Kind; 2] = [Kind::Category, Kind::Brand];
/// The most new names per file. A file with more probably has something else in the column.
pub(super) const MAX: usize = 500;

/// A category or a brand that an import creates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewName {
    /// Category or brand.
    pub kind: Kind,
    /// The name.
    pub name: String,
    /// The line of the first row that needs it.
    pub line: u64,
}

/// The new names of a row, by the field that refers to them.
pub(super) type RowNames = BTreeMap<String, String>;

pub(super) enum Meaning {
    /// The id of an existing record, as text.
    Id(String),
    /// The name of a record that the import creates.
    New(String),
    /// The name cannot be imported, for this reason.
    Wrong(Message),
}

/// The kinds of records that a user's import may create.
pub(crate) fn permitted(caller: &Caller) -> Vec<Kind> {
    let may = |kind: &Kind| caller.may(Permission::new(Verb::Add, kind.model()));
    KINDS.into_iter().filter(may).collect()
}

/// The kind of record that a field refers to.
pub(super) fn kind_of(field: &str) -> Option<Kind> {
    KINDS.into_iter().find(|kind| kind.name() == field)
}

/// The members of the request that creates a record with this name.
pub(super) fn members(name: &str) -> Result<Members, db::Error> {
    Ok(Members::from([("name".to_owned(), raw_text(name)?)]))
}

/// The meaning of the name in a cell. `creates` are the kinds that the import may create.
pub(super) async fn resolve(
    conn: &mut Conn,
    creates: Option<&[Kind]>,
    field: &'static str,
    by: ReferenceKey,
    name: &str,
) -> Result<Meaning, ImportError> {
    if name.contains('\0') {
        return Ok(Meaning::Wrong(Message::NULL_CHARACTERS));
    }
    let excerpt: String = name.chars().take(100).collect();
    Ok(match *ids_of(conn, by, name).await? {
        [id] => Meaning::Id(id.to_string()),
        [] => meaning_of_new(creates, field, name, &excerpt)?,
        _ => Meaning::Wrong(Message::new(
            format!(
                "Há mais de um “{excerpt}”: use o id na coluna {}.",
                names::field_in_a_sentence(Locale::PtBr, field)
            ),
            format!("There are several of “{excerpt}”: use the id in the column {field}."),
        )),
    })
}

/// The ids of the records that a name means, at most two.
pub(super) async fn ids_of(
    conn: &mut Conn,
    by: ReferenceKey,
    name: &str,
) -> Result<Vec<i64>, db::Error> {
    match by {
        ReferenceKey::Name(kind) => search::ids_of_name(conn, kind.path(), "name", name).await,
        ReferenceKey::Title => search::ids_of_name(conn, "products", "title", name).await,
        ReferenceKey::SerieNumber => {
            let id = products::id_of_serie_number(conn, name).await?;
            Ok(id.into_iter().collect())
        }
    }
}

/// The meaning of a name that no record has.
fn meaning_of_new(
    creates: Option<&[Kind]>,
    field: &'static str,
    name: &str,
    excerpt: &str,
) -> Result<Meaning, db::Error> {
    let (portuguese, english) = (
        format!(
            "Não há {} “{excerpt}”",
            names::field_in_a_sentence(Locale::PtBr, field)
        ),
        format!("There is no {field} “{excerpt}”"),
    );
    let (Some(creates), Some(kind)) = (creates, kind_of(field)) else {
        let message = Message::new(format!("{portuguese}."), format!("{english}."));
        return Ok(Meaning::Wrong(message));
    };
    if !creates.contains(&kind) {
        let [in_portuguese, in_english] = [Locale::PtBr, Locale::En].map(|locale| {
            let name = kind.about().words.one(locale);
            format!("{} {name}", locale.say(Verb::Add.words()))
        });
        return Ok(Meaning::Wrong(Message::new(
            format!("{portuguese}, e para criar falta a você a permissão “{in_portuguese}”."),
            format!("{english}, and you lack the permission “{in_english}” to create it."),
        )));
    }
    let errors = Draft::<NamedRecord>::read(&members(name)?, Mode::Whole).errors;
    Ok(match errors.first() {
        Some((_, message)) => Meaning::Wrong(message.clone()),
        None => Meaning::New(name.to_owned()),
    })
}

/// The message for a row whose new names exceed the limit.
pub(super) fn too_many() -> Message {
    Message::new(
        format!(
            "O arquivo tem mais de {MAX} categorias e marcas novas: confira a coluna ou crie-as antes."
        ),
        format!(
            "The file has more than {MAX} new categories and brands: check the column, or create them first."
        ),
    )
}
