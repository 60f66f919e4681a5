//! `balcao inventory endpoint`: the receivers of webhooks, while the service runs or not. It sees a change within seconds.

use ::inventory::events::{
    Endpoint, Outbox, Secret,
    endpoints::{self, Wish},
};
use clap::Subcommand;
use db::Db;
use web::{Clock, Random};

use crate::command::{Common, Failure, with_runtime};
use crate::console;
use crate::run::inventory::{open_database, webhooks};
use crate::settings::{Purpose, Settings};

#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  balcao inventory endpoint add https://till.example/hooks --types product.low_stock,product.stock_recovered\n  balcao inventory endpoint test 2\n  balcao inventory endpoint rotate 2"
)]
pub(super) enum Action {
    /// Add a receiver and print its secret, once
    Add {
        /// Where events are posted to
        url: String,
        /// Types of events by comma; all without it
        #[arg(long, default_value = "", hide_default_value = true)]
        types: String,
        /// What people call it
        #[arg(long, default_value = "", hide_default_value = true)]
        description: String,
    },
    /// List the receivers, oldest first
    List,
    /// Make a new secret and print it, once; the one before signs too for another day
    Rotate {
        /// Its number, as `list` shows it
        id: i64,
    },
    /// Stop its events; what waits stays
    Disable {
        /// Its number
        id: i64,
    },
    /// Let it get events again; what waits goes at once
    Enable {
        /// Its number
        id: i64,
    },
    /// Remove it with the record of its deliveries
    Remove {
        /// Its number
        id: i64,
    },
    /// Post a test event and tell what came back; exit status 1 unless it was 2xx
    Test {
        /// Its number
        id: i64,
    },
}

pub(super) fn run(action: Action, common: &Common) -> Result<(), Failure> {
    let (settings, warnings) = common.settings(Purpose::Any)?;
    with_runtime(&settings.clone(), &warnings, act(action, settings))
}

async fn act(action: Action, settings: Settings) -> Result<(), Failure> {
    let (db, _) = open_database(&settings).await?;
    let (random, now) = (Random::system(), Clock::system().now());
    let done = match action {
        Action::Add {
            url,
            types,
            description,
        } => {
            let wish = Wish {
                url,
                description,
                types,
            };
            let added = endpoints::add(&db, &random, now, &wish).await;
            added.map(|(id, secret)| say_secret(&format!("endpoint {id}"), &secret))
        }
        Action::List => return list(db).await,
        Action::Rotate { id } => {
            let rotated = endpoints::rotate(&db, &random, now, id).await;
            rotated.map(|(secret, until)| {
                say_secret(&format!("the one before signs too until {until}"), &secret);
            })
        }
        Action::Disable { id } => endpoints::disable(&db, now, id).await,
        Action::Enable { id } => endpoints::enable(&db, now, id).await,
        Action::Remove { id } => endpoints::remove(&db, id).await,
        Action::Test { id } => return test(db, &settings, id).await,
    };
    db.close().await;
    done.map_err(|error| Failure::of("nothing was changed", &error))
}

fn say_secret(what: &str, secret: &Secret) {
    console::say(&secret.reveal());
    console::complain(&format!("{what}; its secret is not shown again"));
}

async fn list(db: Db) -> Result<(), Failure> {
    let all = endpoints::list(&db).await;
    db.close().await;
    let all = all.map_err(|error| Failure::of("the endpoints cannot be read", &error))?;
    for endpoint in all {
        console::say(&line(&endpoint));
    }
    Ok(())
}

fn line(endpoint: &Endpoint) -> String {
    let state = match (endpoint.disabled, endpoint.failing_since) {
        (Some(reason), _) => reason.to_string(),
        (None, Some(since)) => format!("failing since {since}"),
        (None, None) => "enabled".to_owned(),
    };
    let types = match endpoint.types.to_string() {
        types if types.is_empty() => "all types".to_owned(),
        types => types,
    };
    let origin = if endpoint.configured {
        "  (configuration)"
    } else {
        ""
    };
    format!(
        "{}  {}  {state}  {types}  {}{origin}",
        endpoint.id, endpoint.url, endpoint.description
    )
}

async fn test(db: Db, settings: &Settings, id: i64) -> Result<(), Failure> {
    let webhooks = webhooks(settings);
    let outbox = Outbox::new(
        &webhooks,
        &web::metrics::Metrics::default(),
        &Random::system(),
    )
    .map_err(|error| Failure::of("TLS cannot be set up", &error))?;
    let tested = endpoints::test(&db, &webhooks, &outbox, &Clock::system(), id).await;
    db.close().await;
    let attempt = tested.map_err(|error| Failure::of("nothing was sent", &error))?;
    let status = attempt
        .status
        .map_or_else(String::new, |status| format!(" {status}"));
    let text = format!(
        "{}{status} after {} ms: {}",
        attempt.outcome, attempt.duration_ms, attempt.detail
    );
    if attempt.outcome == "delivered" {
        console::say(&text);
        Ok(())
    } else {
        Err(Failure::new(text))
    }
}
