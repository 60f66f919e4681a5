//! Runs checkout in this process: its configuration from the settings, its database, its secret.

use checkout::page::Shop;
use checkout::{App, MIGRATIONS, Parts, Receipts, SERVICE, StartError, State};
use db::{Db, Engine, Options};
use delivery::{EndpointSettings, Outbox, Webhooks};
use web::metrics::Metrics;
use web::server::{Listener, Shutdown};
use web::{Clock, Random};

use super::database::{MissingDatabase, RunningService, ServiceDatabase, stored_secret};
use super::{ServiceHost, orders, rate_windows, server_options};
use crate::data_folder::CHECKOUT_KEY;
use crate::failure::Failure;
use crate::settings::{self, Settings};

/// Opens and migrates the database, starts the workers and serves on `listener`.
pub(crate) async fn start(
    host: &mut ServiceHost,
    settings: &Settings,
    listener: Listener,
    missing: MissingDatabase,
) -> Result<RunningService, Failure> {
    let (db, lock) = database(settings).open_locked(settings, missing).await?;
    if settings.checkout_allow_http {
        tracing::warn!(
            "BALCAO_CHECKOUT_ALLOW_HTTP is set: card numbers may come over the network unencrypted"
        );
    }
    let options = server_options(settings)?;
    let parts = parts((host.metrics(), host.shutdown()), settings, &db)?;
    let App {
        router,
        workers,
        state,
    } = checkout::app(config(settings)?, parts)
        .await
        .map_err(|error| failure("checkout cannot start", &error))?;
    host.watch_certificate(&options, &state.workers);
    host.add_database_metrics(SERVICE, &db);
    host.spawn(workers.run());
    host.serve(SERVICE, listener, router, options);
    Ok(RunningService {
        db,
        keep_alive: checkout::keep_alive(&state),
        _lock: lock,
    })
}

/// Why checkout does not start. A secret that differs names its setting.
fn failure(what: &str, error: &StartError) -> Failure {
    match error {
        StartError::Secret => Failure::of("BALCAO_CHECKOUT_SECRET", error),
        _ => Failure::of(what, error),
    }
}

/// Calls `work` with the service's state, for a command. The service may be running.
pub(crate) async fn with_state(
    settings: &Settings,
    work: impl AsyncFnOnce(&State) -> Result<(), Failure>,
) -> Result<(), Failure> {
    with_database(settings, MissingDatabase::Refuse, async |db| {
        let parts = parts((Metrics::new(), Shutdown::new()), settings, db)?;
        let state = State::open(config(settings)?, parts)
            .await
            .map_err(|error| failure("checkout cannot be opened", &error))?;
        work(&state).await
    })
    .await
}

/// Calls `work` with the outbox of the service, for a command. Needs no provider settings. The
/// service may be running.
pub(crate) async fn with_outbox(
    settings: &Settings,
    missing: MissingDatabase,
    work: impl AsyncFnOnce(&Outbox) -> Result<(), Failure>,
) -> Result<(), Failure> {
    with_database(settings, missing, async |db| {
        let parts = parts((Metrics::new(), Shutdown::new()), settings, db)?;
        let secret = secret(settings)?;
        let webhooks = webhooks(settings, &secret)?;
        let outbox = checkout::open_outbox(webhooks, &secret, &parts)
            .await
            .map_err(|error| failure("checkout cannot be opened", &error))?;
        work(&outbox).await
    })
    .await
}

/// Calls `work` with the migrated database.
pub(crate) async fn with_database(
    settings: &Settings,
    missing: MissingDatabase,
    work: impl AsyncFnOnce(&Db) -> Result<(), Failure>,
) -> Result<(), Failure> {
    database(settings).with(settings, missing, work).await
}

/// Applies pending migrations. Returns the applied ones.
pub(crate) async fn migrate(settings: &Settings) -> Result<Vec<&'static str>, Failure> {
    database(settings).migrate(settings).await
}

fn database(settings: &Settings) -> ServiceDatabase {
    ServiceDatabase {
        service: SERVICE,
        setting: "BALCAO_CHECKOUT_DATABASE_URL",
        address: settings.checkout_database(),
        key: CHECKOUT_KEY,
        options: Options::default(),
        migrations: &MIGRATIONS,
    }
}

fn parts(
    (metrics, shutdown): (Metrics, Shutdown),
    settings: &Settings,
    db: &Db,
) -> Result<Parts, Failure> {
    let (clock, random) = (Clock::system(), Random::system());
    if settings.redis_url.is_none() && db.engine() == Engine::Postgres {
        tracing::info!(
            "rate limits and the provider's quota are counted by this process alone; with several replicas set BALCAO_REDIS_URL"
        );
    }
    Ok(Parts {
        db: db.clone(),
        windows: rate_windows(settings, SERVICE, (&clock, &random))?,
        clock,
        random,
        metrics,
        shutdown,
    })
}

fn config(settings: &Settings) -> Result<checkout::Config, Failure> {
    // `settings::checks` has refused to serve without these; a command finds it out here.
    let absent = || {
        Failure::new(
            "BALCAO_CHECKOUT_PROVIDER_URL and BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN must be set"
                .to_owned(),
        )
    };
    let base_url = settings.checkout_provider_url.clone().ok_or_else(absent)?;
    let access_token = settings
        .checkout_provider_access_token
        .clone()
        .ok_or_else(absent)?;
    let secret = secret(settings)?;
    Ok(checkout::Config {
        public_url: settings.checkout_public_url.clone(),
        trusted_proxies: settings.trusted_proxies.clone(),
        hsts_subdomains: settings.hsts_subdomains,
        allow_http: settings.checkout_allow_http,
        provider: checkout::provider::ProviderConfig {
            base_url: base_url.clone(),
            access_token,
            timeout: settings.checkout_provider_timeout,
            quota: settings.checkout_provider_quota.clone(),
        },
        boleto_method: settings.checkout_boleto_method.0.clone(),
        webhook_secrets: settings
            .checkout_provider_webhook_secret
            .iter()
            .map(|secret| checkout::Secret::new(secret.expose()))
            .collect(),
        max_amounts: settings.checkout_max_amount.clone(),
        rate_limit: settings.checkout_rate_limit.clone(),
        attempt_limit: settings.checkout_attempt_limit.clone(),
        decline_limit: settings.checkout_decline_limit.clone(),
        api_keys: settings
            .checkout_api_keys
            .iter()
            .map(|key| checkout::Secret::new(key.0.expose()))
            .collect(),
        open_payments: settings.checkout_open_payments,
        refund_overpayment: settings.checkout_refund_overpayment,
        webhooks: webhooks(settings, &secret)?,
        receipts: receipts(settings),
        shop: Shop {
            is_test: base_url.is_local(),
            name: settings.checkout_shop_name.0.clone(),
            contact: settings
                .checkout_shop_contact
                .as_ref()
                .map(|contact| contact.0.clone()),
            logo: settings::logo(settings).map_err(|problem| Failure::new(problem.to_string()))?,
        },
        secret,
    })
}

/// The webhook settings for the shop's servers.
fn webhooks(settings: &Settings, secret: &checkout::Secret) -> Result<Webhooks, Failure> {
    let target = settings.checkout_webhook_url.clone();
    Ok(Webhooks {
        configured: target.map(|target| EndpointSettings {
            target,
            secrets: settings.checkout_webhook_secret.clone(),
        }),
        internal: orders::endpoint(settings, secret)?,
        allow_private: settings.checkout_webhook_allow_private,
        ..Webhooks::default()
    })
}

/// The receipt settings. `None` unless mail is configured and receipts are enabled.
fn receipts(settings: &Settings) -> Option<Receipts> {
    let server = settings.smtp_url.clone()?;
    let from = settings.mail_from.clone()?;
    settings
        .checkout_receipts
        .then_some(Receipts { server, from })
}

/// The service's secret: the setting, or else the file in the data folder.
pub(super) fn secret(settings: &Settings) -> Result<checkout::Secret, Failure> {
    if let Some(secret) = &settings.checkout_secret {
        return Ok(checkout::Secret::new(secret.expose()));
    }
    let secret = stored_secret(settings, CHECKOUT_KEY)?;
    Ok(checkout::Secret::new(secret.as_bytes()))
}
