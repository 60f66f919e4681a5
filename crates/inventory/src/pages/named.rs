//! The pages of brands, categories and suppliers, one implementation for the three kinds.

use askama::Template;
use db::{Conn, Tx};
use resource::{Record as _, Words};
use web::locale::Locale;

use crate::{
    State,
    access::{Model, Verb},
    api::resource::ApiResource as _,
    catalogue::{
        self,
        named::{self, Kind, NamedRecord},
        refuse_when_referenced,
    },
    idempotency::IdempotencyKey,
    page::{
        Frame, PageResult,
        confirmation::Confirmation,
        edit_conflict::FieldSnapshot,
        fact::Fact,
        history::{self, ChangeView},
        list_page::{Filter, ListPage, Row, RowAction},
        part::PagePart,
        record_form::{self, RecordForms, create_by_api},
        records::{self, ResourcePages, address, find},
        routes::{PageRouter, get, of},
    },
    rest::{
        RecordId, Refusal,
        fields::{Draft, Members, Mode},
        query::Parameters,
    },
    work::Work,
};

pub(crate) fn routes(kind: Kind) -> PageRouter {
    records::routes(kind)
        .merge(record_form::routes(kind))
        .route(&format!("/{}/{{id}}/", kind.path()), get(of(kind, detail)))
}

impl ResourcePages for Kind {
    const ORDERING: &'static str = NamedRecord::name.name;

    type File = Parameters;

    fn icon(self) -> &'static str {
        self.about().icon
    }

    fn filters(self, locale: Locale) -> Vec<Filter> {
        vec![Filter::search(self.about().words.search(locale))]
    }

    async fn jump(self, frame: &Frame, parameters: &Parameters) -> Result<Option<String>, Refusal> {
        // The search may be a scanned code only if it matches no record's name.
        let named = named::first_matches(&frame.state, self, parameters, 1).await?;
        if named.is_empty() {
            super::products::jump(frame, parameters).await
        } else {
            Ok(None)
        }
    }

    async fn rows(
        self,
        frame: &Frame,
        _list: &ListPage,
        records: &[NamedRecord],
    ) -> Result<Vec<Row>, Refusal> {
        let may_change = frame.may(Verb::Change, self.model());
        let columns = self.columns();
        let row = |record: &NamedRecord| {
            let address = address(self, record.id);
            let edit = RowAction {
                icon: "edit",
                text: format!("{} {}", frame.text("Editar", "Edit"), record.name),
                address: format!("{address}edit/"),
                is_dialog: true,
            };
            let actions = may_change.then_some(edit).into_iter().collect();
            Row::of(frame, record, &columns, &address, actions)
        };
        Ok(records.iter().map(row).collect())
    }

    async fn file(self, _state: &State, parameters: Parameters) -> Result<Parameters, Refusal> {
        Ok(parameters)
    }

    async fn each(
        self,
        conn: &mut Conn,
        _state: &State,
        parameters: &Parameters,
        take: impl FnMut(&NamedRecord) -> Result<(), db::Error>,
    ) -> Result<(), Refusal> {
        let records = named::all(conn, self, parameters).await?;
        Ok(records.iter().try_for_each(take)?)
    }

    async fn deletion(self, frame: &Frame, record: &NamedRecord) -> Result<Confirmation, Refusal> {
        let sentence = frame.text(
            "Isto não pode ser desfeito. O histórico de alterações fica guardado.",
            "This cannot be undone. The history of changes is kept.",
        );
        let words = self.model().words();
        let referring = catalogue::references_to(&frame.state, self.model(), record.id).await?;
        let texts = (record.name.clone(), sentence, address(self, record.id));
        let foreseen = refuse_when_referenced(words, &referring);
        Ok(Confirmation {
            instead: vec![self::referring(self, frame, record.id)],
            ..Confirmation::of_deletion(frame, words, texts, foreseen)?
        })
    }
}

impl RecordForms for Kind {
    async fn create(
        self,
        frame: &Frame,
        members: &Members,
        key: Option<IdempotencyKey>,
    ) -> Result<Option<NamedRecord>, Refusal> {
        create_by_api(self, frame, members, key).await
    }

    async fn lock(self, tx: &mut Tx, id: i64) -> Result<Option<Vec<FieldSnapshot>>, Refusal> {
        let record = named::find_locked(tx, self, id).await?;
        Ok(record.map(|record| FieldSnapshot::all(&record, &self.written())))
    }

    async fn write(
        self,
        work: &mut Work<'_>,
        id: i64,
        members: &Members,
    ) -> Result<Option<NamedRecord>, Refusal> {
        let draft = Draft::read(members, Mode::Partial);
        self.change(work, id, &draft).await
    }
}

#[derive(Template)]
#[template(path = "catalogue/named.html")]
struct NamedPage<'a> {
    frame: &'a Frame,
    record: &'a NamedRecord,
    words: &'a Words,
    /// The values besides the name.
    facts: Vec<Fact>,
    /// The link to the records that refer to this one: its text and address.
    referring: (String, String),
    changes: PagePart<Vec<ChangeView>>,
    may_change: bool,
    may_delete: bool,
    /// The address where the record's products are counted, for users who may adjust stock.
    count: Option<String>,
}

async fn detail(kind: Kind, frame: Frame, id: RecordId) -> PageResult {
    let model = kind.model();
    frame.require(Verb::View, model)?;
    let record = find(kind, &frame.state, id).await?;
    let changes = history::changes(&frame, model, record.id).await?;
    let mut fields = NamedRecord::FIELDS.to_vec();
    fields.retain(|field| !field.is_name);
    Ok(frame.show(NamedPage {
        frame: &frame,
        words: &kind.about().words,
        facts: Fact::all(&frame, &record, &fields),
        record: &record,
        changes,
        may_change: frame.may(Verb::Change, model),
        may_delete: frame.may(Verb::Delete, model),
        count: frame
            .may(Verb::Change, Model::Product)
            .then(|| format!("/counts/new/?{}={}", kind.name(), record.id)),
        referring: referring(kind, &frame, record.id),
    }))
}

/// The link to the records that refer to this one.
fn referring(kind: Kind, frame: &Frame, id: i64) -> (String, String) {
    let (words, name) = (&kind.about().words, kind.name());
    let (path, model) = kind.about().referrer;
    (
        model.words().of_this(words, frame.locale),
        format!("/{path}/?{name}={id}"),
    )
}
