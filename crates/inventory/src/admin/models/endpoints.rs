//! Destinations of webhooks. The secret of one is told when it is made or renewed, and never again.

use crate::{
    State,
    accounts::{Caller, Model, Permission, Verb, pages::posted},
    admin::{
        about::{
            About, Action, Administered, Application, At, Cell, Column, Field, FieldKind, Filter,
            FilterKind, Record, Row, Rows, Text, Words, Work, Written,
        },
        listing::{Asked, shelf},
    },
    audit,
    events::{
        Disabled, Endpoint,
        endpoints::{self, EndpointError, Wish},
    },
    rest::{
        Refusal,
        fields::{FieldErrors, Members},
    },
    stock::Actor,
};

pub(in crate::admin) struct Endpoints;

pub(in crate::admin) static ENDPOINTS: Endpoints = Endpoints;

const TYPES: &[(&str, Text)] = &[
    (
        "outflow.created",
        (
            "outflow.created: uma saída foi registrada",
            "outflow.created: an outflow was booked",
        ),
    ),
    (
        "product.low_stock",
        (
            "product.low_stock: um produto está com estoque baixo",
            "product.low_stock: a product runs low",
        ),
    ),
    (
        "product.stock_recovered",
        (
            "product.stock_recovered: o estoque se recuperou",
            "product.stock_recovered: stock has recovered",
        ),
    ),
    (
        "analysis.created",
        (
            "analysis.created: há uma análise nova",
            "analysis.created: there is a new analysis",
        ),
    ),
];

static ABOUT: About = About {
    path: "endpoints",
    application: Application::Events,
    words: Words {
        singular: ("destino de webhooks", "webhook endpoint"),
        plural: ("destinos de webhooks", "webhook endpoints"),
        is_feminine: false,
    },
    model: Model::WebhookEndpoint,
    permission: |verb| Some(Permission::new(verb, Model::WebhookEndpoint)),
    columns: &[
        Column::sorted("url"),
        Column::sorted("description"),
        Column::sorted("enabled"),
        Column::sorted("state"),
        Column::sorted("created_at"),
    ],
    order: "1",
    search: Some(("URL, descrição", "URL, description")),
    filters: &[Filter {
        name: "enabled",
        kind: FilterKind::Truth,
    }],
    has_dates: false,
    fields: &[
        Field::required("url", FieldKind::Line).help(
            "Para onde os eventos são enviados, com https://.",
            "Where events are posted to, with https://.",
        ),
        Field::optional("description", FieldKind::Line),
        Field::optional("types", FieldKind::Choices(TYPES)).help(
            "Nenhum marcado: todos os eventos, também os futuros.",
            "None ticked: all events, future ones included.",
        ),
        Field::optional("renew", FieldKind::Truth)
            .at(At::Change)
            .help(
                "O segredo novo é mostrado uma vez; o anterior ainda assina por 24 horas.",
                "The new secret is shown once; the one before signs too for 24 hours.",
            ),
    ],
    in_two_steps: false,
    actions: &[
        Action {
            name: "enable",
            text: (
                "Ligar os destinos selecionados",
                "Enable selected endpoints",
            ),
            done: (("Destinos ligados: ", "Endpoints enabled: "), (".", ".")),
            verb: Verb::Change,
        },
        Action {
            name: "disable",
            text: (
                "Desligar os destinos selecionados",
                "Disable selected endpoints",
            ),
            done: (
                ("Destinos desligados: ", "Endpoints disabled: "),
                (".", "."),
            ),
            verb: Verb::Change,
        },
        Action {
            name: "test",
            text: ("Enviar um evento de teste", "Send a test event"),
            done: (
                ("Evento de teste entregue a ", "Test event delivered to "),
                (" destino(s).", " endpoint(s)."),
            ),
            verb: Verb::Change,
        },
    ],
    site: None,
};

impl Administered for Endpoints {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Work<'a, Rows> {
        Box::pin(async move {
            let rows = endpoints::list(&state.db).await?.into_iter().map(row);
            Ok(shelf::select(rows.collect(), asked))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Work<'a, Option<Record>> {
        Box::pin(async move { Ok(find(state, id).await?.map(record)) })
    }

    fn write<'a>(
        &'a self,
        state: &'a State,
        caller: &'a Caller,
        id: Option<i64>,
        members: Members,
    ) -> Work<'a, Written> {
        Box::pin(async move {
            let (db, now, wish) = (&state.db, state.clock.now(), wish(&members));
            let Some(id) = id else {
                let added = endpoints::add(db, &state.random, now, &wish).await;
                let (id, secret) = added.map_err(refusal)?;
                note(state, caller, audit::Action::Added, id, &wish.url).await?;
                return Ok(Written {
                    secret: Some(secret.reveal()),
                    ..Written::of(id, wish.url)
                });
            };
            let before = find(state, id).await?.ok_or(Refusal::NotFound)?;
            endpoints::change(db, now, id, &wish)
                .await
                .map_err(refusal)?;
            let renews = posted::text(&members, "renew").is_some();
            let fields = audit::changed([
                ("url", before.url != wish.url),
                ("description", before.description != wish.description),
                ("types", before.types.to_string() != wish.types),
                ("secret", renews),
            ]);
            let secret = if renews {
                let rotated = endpoints::rotate(db, &state.random, now, id).await;
                Some(rotated.map_err(refusal)?.0.reveal())
            } else {
                None
            };
            let action = audit::Action::Changed(&fields);
            note(state, caller, action, id, &wish.url).await?;
            Ok(Written {
                secret,
                ..Written::of(id, wish.url)
            })
        })
    }

    fn delete<'a>(&'a self, state: &'a State, caller: &'a Caller, id: i64) -> Work<'a, bool> {
        Box::pin(async move {
            let Some(endpoint) = find(state, id).await? else {
                return Ok(false);
            };
            endpoints::remove(&state.db, id).await.map_err(refusal)?;
            note(state, caller, audit::Action::Deleted, id, &endpoint.url).await?;
            Ok(true)
        })
    }

    fn act<'a>(
        &'a self,
        state: &'a State,
        caller: &'a Caller,
        action: &'a str,
        id: i64,
    ) -> Work<'a, bool> {
        Box::pin(async move {
            let Some(endpoint) = find(state, id).await? else {
                return Ok(false);
            };
            let (db, now) = (&state.db, state.clock.now());
            match action {
                "enable" => endpoints::enable(db, now, id).await.map_err(refusal)?,
                "disable" => endpoints::disable(db, now, id).await.map_err(refusal)?,
                _ => {
                    let (webhooks, outbox) = (&state.config.webhooks, &state.outbox);
                    let tested = endpoints::test(db, webhooks, outbox, &state.clock, id).await;
                    return Ok(tested.map_err(refusal)?.outcome == "delivered");
                }
            }
            let action = audit::Action::Changed(&["enabled"]);
            note(state, caller, action, id, &endpoint.url).await?;
            Ok(true)
        })
    }
}

/// There are few endpoints: the list has them all.
async fn find(state: &State, id: i64) -> Result<Option<Endpoint>, Refusal> {
    let all = endpoints::list(&state.db).await?;
    Ok(all.into_iter().find(|endpoint| endpoint.id == id))
}

fn wish(members: &Members) -> Wish {
    let text = |name| {
        let sent = posted::text(members, name).unwrap_or_default();
        sent.trim().to_owned()
    };
    let types = TYPES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| members.contains_key(&format!("types:{name}")));
    Wish {
        url: text("url"),
        description: text("description"),
        types: types.collect::<Vec<_>>().join(","),
    }
}

fn refusal(error: EndpointError) -> Refusal {
    let text = error.to_string();
    match error {
        EndpointError::Target(_) => FieldErrors::of("url", text).into(),
        EndpointError::Types(_) => FieldErrors::of("types", text).into(),
        EndpointError::Description => FieldErrors::of("description", text).into(),
        EndpointError::NotFound => Refusal::Conflict(
            "This endpoint stands in the configuration and is changed there.".to_owned(),
        ),
        EndpointError::Database(error) => error.into(),
    }
}

async fn note(
    state: &State,
    caller: &Caller,
    action: audit::Action<'_>,
    id: i64,
    url: &str,
) -> Result<(), Refusal> {
    let (actor, now, url) = (Actor::from(caller), state.clock.now(), url.to_owned());
    let fields: Vec<&'static str> = match action {
        audit::Action::Changed(names) => ["url", "description", "types", "secret", "enabled"]
            .into_iter()
            .filter(|name| names.contains(name))
            .collect(),
        _ => Vec::new(),
    };
    let done = action.done();
    let write = async move |tx: &mut db::Tx| {
        let action = match done {
            audit::Done::Added => audit::Action::Added,
            audit::Done::Deleted => audit::Action::Deleted,
            _ => audit::Action::Changed(&fields),
        };
        audit::record(tx, &actor, action, Model::WebhookEndpoint, id, &url, now).await
    };
    Ok(state.db.write(write).await?)
}

fn standing(endpoint: &Endpoint) -> Cell {
    Cell::Word(match endpoint.disabled {
        None if endpoint.failing_since.is_some() => ("falhando", "failing"),
        None => ("em dia", "working"),
        Some(Disabled::ByPerson) => ("desligado à mão", "disabled by hand"),
        Some(Disabled::Gone) => ("desligado: respondeu 410", "disabled: it answered 410"),
        Some(Disabled::Failing) => (
            "desligado após dias de falha",
            "disabled after days of failure",
        ),
        Some(Disabled::NotConfigured) => ("fora da configuração", "no longer in the configuration"),
    })
}

fn row(endpoint: Endpoint) -> Row {
    let (is_enabled, state) = (endpoint.disabled.is_none(), standing(&endpoint));
    Row {
        id: endpoint.id,
        text: endpoint.url.clone(),
        tags: vec![("enabled", if is_enabled { "1" } else { "0" }.to_owned())],
        cells: vec![
            Cell::Text(endpoint.url),
            Cell::text(Some(endpoint.description)),
            Cell::Truth(is_enabled),
            state,
            Cell::Time(endpoint.created_at),
        ],
    }
}

fn record(endpoint: Endpoint) -> Record {
    let types = endpoint.types.to_string();
    let state = standing(&endpoint);
    Record {
        id: endpoint.id,
        text: endpoint.url.clone(),
        values: vec![
            ("url", endpoint.url.clone()),
            ("description", endpoint.description.clone()),
            ("types", types.clone()),
        ],
        facts: vec![
            ("url", Cell::Text(endpoint.url)),
            ("description", Cell::text(Some(endpoint.description))),
            ("types", Cell::text(Some(types))),
            ("enabled", Cell::Truth(endpoint.disabled.is_none())),
            ("state", state),
            ("created_at", Cell::Time(endpoint.created_at)),
            ("updated_at", Cell::Time(endpoint.updated_at)),
        ],
    }
}
