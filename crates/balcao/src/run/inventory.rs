//! Runs the inventory in this process: its configuration from the settings, its database, its key.

use std::time::Duration;

use db::{Db, Options};
use inventory::accounts::TokenKey;
use inventory::analysis::{self, LanguageModel, model::Terms};
use inventory::events::{EndpointSettings, Mail, Webhooks};
use inventory::payments;
use inventory::{App, FirstUser, MIGRATIONS, Parts, SERVICE, State};
use web::http_client::ApiKey;
use web::metrics::Metrics;
use web::server::{Listener, Shutdown};
use web::{Clock, Random};

use super::database::{MissingDatabase, RunningService, ServiceDatabase, stored_secret};
use super::{ServiceHost, orders, rate_windows, server_options};
use crate::data_folder::INVENTORY_KEY;
use crate::failure::{Context, Failure};
use crate::settings::Settings;
use crate::settings::value::ReportSchedule;

/// The size of SQLite's write-ahead log at which it is checkpointed, in MiB. The sales of a busy
/// shop write the same few pages repeatedly. A longer log copies them less often, and nobody waits
/// for the checkpoint.
const COPY_MIB: u32 = 32;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Opens and migrates the database, creates the first user, and serves on `listener`.
pub(crate) async fn start(
    host: &mut ServiceHost,
    settings: &Settings,
    listener: Listener,
    missing: MissingDatabase,
) -> Result<RunningService, Failure> {
    let database = database(settings, usual_options());
    let (db, lock) = database.open_locked(settings, missing).await?;
    let options = server_options(settings)?;
    let parts = parts((host.metrics(), host.shutdown()), settings, &db)?;
    let App {
        router,
        workers,
        state,
    } = inventory::app(config_to_serve(settings)?, parts)
        .await
        .context("inventory cannot start")?;
    host.watch_certificate(&options, &state.workers);
    host.add_database_metrics(SERVICE, &db);
    host.spawn(workers.run());
    host.serve(SERVICE, listener, router, options);
    Ok(RunningService {
        db,
        keep_alive: inventory::keep_alive(&state),
        _lock: lock,
    })
}

/// Calls `work` with the migrated database.
pub(crate) async fn with_database<T>(
    settings: &Settings,
    missing: MissingDatabase,
    work: impl AsyncFnOnce(&Db) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let database = database(settings, usual_options());
    database.with(settings, missing, work).await
}

/// Same as [`with_database`] with special options, for bulk loads into a new database.
pub(crate) async fn with_database_options<T>(
    settings: &Settings,
    options: Options,
    work: impl AsyncFnOnce(&Db) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let database = database(settings, options);
    database.with(settings, MissingDatabase::Create, work).await
}

/// Calls `work` with the service's state, for a command. The service may be running.
pub(crate) async fn with_state(
    settings: &Settings,
    missing: MissingDatabase,
    work: impl AsyncFnOnce(&State) -> Result<(), Failure>,
) -> Result<(), Failure> {
    with_database(settings, missing, async |db| {
        let parts = parts((Metrics::new(), Shutdown::new()), settings, db)?;
        let state =
            inventory::state(config(settings), parts).context("inventory cannot be opened")?;
        work(&state).await
    })
    .await
}

/// Applies pending migrations. Returns the applied ones.
pub(crate) async fn migrate(settings: &Settings) -> Result<Vec<&'static str>, Failure> {
    database(settings, usual_options()).migrate(settings).await
}

fn usual_options() -> Options {
    Options {
        copy_mib: COPY_MIB,
        ..Options::default()
    }
}

fn database(settings: &Settings, options: Options) -> ServiceDatabase {
    ServiceDatabase {
        service: SERVICE,
        setting: "BALCAO_INVENTORY_DATABASE_URL",
        address: settings.inventory_database(),
        key: INVENTORY_KEY,
        options,
        migrations: &MIGRATIONS,
    }
}

fn parts(
    (metrics, shutdown): (Metrics, Shutdown),
    settings: &Settings,
    db: &Db,
) -> Result<Parts, Failure> {
    let (clock, random) = (Clock::system(), Random::system());
    Ok(Parts {
        db: db.clone(),
        windows: rate_windows(settings, SERVICE, (&clock, &random))?,
        clock,
        random,
        metrics,
        shutdown,
        token_key: token_key(settings)?,
        first_user: first_user(settings),
    })
}

fn first_user(settings: &Settings) -> Option<FirstUser> {
    let (username, password) = (
        settings.admin_username.as_ref()?,
        settings.admin_password.as_ref()?,
    );
    Some(FirstUser {
        username: username.0.clone(),
        password: password.expose().to_owned(),
    })
}

/// The key that signs tokens: the setting, or else the file in the data folder.
fn token_key(settings: &Settings) -> Result<TokenKey, Failure> {
    if let Some(secret) = &settings.inventory_token_secret {
        return Ok(TokenKey::new(secret.expose().as_bytes()));
    }
    let secret = stored_secret(settings, INVENTORY_KEY)?;
    Ok(TokenKey::new(secret.as_bytes()))
}

/// The service's configuration with the secrets of order events. They may be derived from
/// checkout's secret, which checkout generates at its start, so checkout starts first.
fn config_to_serve(settings: &Settings) -> Result<inventory::Config, Failure> {
    let orders_secrets = if settings.orders_book_stock {
        orders::secrets(settings, &super::checkout::secret(settings)?)
    } else {
        settings.inventory_orders_secret.clone()
    };
    Ok(inventory::Config {
        orders_secrets,
        ..config(settings)
    })
}

/// The service's configuration.
pub(crate) fn config(settings: &Settings) -> inventory::Config {
    let count = |count: i64| u64::try_from(count).unwrap_or(1);
    inventory::Config {
        public_url: settings.inventory_public_url.clone(),
        trusted_proxies: settings.trusted_proxies.clone(),
        hsts_subdomains: settings.hsts_subdomains,
        rate_limit_auth: settings.inventory_rate_limit_auth.clone(),
        rate_limit_read: settings.inventory_rate_limit_read.clone(),
        rate_limit_write: settings.inventory_rate_limit_write.clone(),
        page_size: count(settings.inventory_page_size.0),
        max_page_size: count(settings.inventory_max_page_size.0),
        access_token_lifetime: settings.inventory_access_token_lifetime,
        refresh_token_lifetime: settings.inventory_refresh_token_lifetime,
        session_lifetime: settings.inventory_session_lifetime,
        second_factor: settings.inventory_require_second_factor,
        low_stock_threshold: settings.inventory_low_stock_threshold.0,
        low_stock_alert: settings.inventory_low_stock_alert,
        webhooks: webhooks(settings),
        mail: mail(settings),
        language: settings.inventory_language,
        analysis: analysis(settings),
        checkout: checkout(settings),
        scratch: settings.data_dir.clone(),
        ..inventory::Config::default()
    }
}

/// The webhook settings.
fn webhooks(settings: &Settings) -> Webhooks {
    let target = settings.inventory_webhook_url.clone();
    Webhooks {
        configured: target.map(|target| EndpointSettings {
            target,
            secrets: settings.inventory_webhook_secret.clone(),
        }),
        allow_private: settings.inventory_webhook_allow_private,
        retention: settings.inventory_event_retention,
        ..Webhooks::default()
    }
}

/// The mail settings of alerts. `None` unless server, sender and recipients are configured.
fn mail(settings: &Settings) -> Option<Mail> {
    let receivers = &settings.inventory_alert_mail_to;
    if receivers.is_empty() {
        return None;
    }
    Some(Mail {
        server: settings.smtp_url.clone()?,
        from: settings.mail_from.clone()?,
        to: receivers.iter().map(|address| address.0.clone()).collect(),
        digest: settings.inventory_alert_mail_digest.on().map(|time| time.0),
    })
}

/// The settings of restock analyses.
fn analysis(settings: &Settings) -> analysis::AnalysisConfig {
    let days = |length: Duration| length.as_secs_f64() / DAY.as_secs_f64();
    let standard = analysis::AnalysisConfig::default();
    analysis::AnalysisConfig {
        terms: Terms {
            lead_time: days(settings.inventory_lead_time),
            lead_time_deviation: settings
                .inventory_lead_time_deviation
                .on()
                .map_or(0.0, days),
            service_level: settings.inventory_service_level.value(),
            review_interval: days(settings.inventory_review_interval),
            ..standard.terms
        },
        window_days: i64::try_from(settings.inventory_demand_window.as_secs() / DAY.as_secs())
            .unwrap_or(standard.window_days),
        cooldown: settings.inventory_analysis_cooldown,
        weekly_report: settings.inventory_report == ReportSchedule::Weekly,
        language_model: language_model(settings),
    }
}

/// The language model, if one is configured. `settings::checks` has refused keys that a header
/// cannot contain.
fn language_model(settings: &Settings) -> Option<LanguageModel> {
    let address = settings.llm_base_url.as_ref()?.0.as_str();
    let key = settings.llm_api_key.as_ref();
    Some(LanguageModel {
        base_url: address.trim_end_matches('/').parse().ok()?,
        api_key: key.and_then(|key| ApiKey::parse(key.expose()).ok()),
        model: settings.llm_model.as_ref()?.0.clone(),
        timeout: settings.llm_timeout,
        quota: settings.llm_quota.clone(),
    })
}

/// The checkout service whose orders and payments the pages show, if one is configured.
fn checkout(settings: &Settings) -> Option<payments::CheckoutConfig> {
    let address = settings.inventory_checkout_url.as_ref()?.0.as_str();
    let key = settings.inventory_checkout_key.as_ref()?;
    Some(payments::CheckoutConfig::new(
        address.trim_end_matches('/').parse().ok()?,
        ApiKey::parse(key.expose()).ok()?,
    ))
}
