//! Running checkout in this process: its configuration from the settings, its database, its secret.

use checkout::page::Shop;
use checkout::provider::AccessToken;
use checkout::receipts::Receipts;
use checkout::{App, MIGRATIONS, Parts, State};
use db::{Db, Engine, KeepAlive, Options};
use delivery::{Configured, Outbox, Webhooks};
use web::rate::Windows;
use web::server::Listener;
use web::{Clock, Random};

use super::database::{Database, IfGone};
use super::{Run, orders, server_options};
use crate::command::Failure;
use crate::data_folder::{self, Hold};
use crate::kept;
use crate::settings::value::{ProviderUrl, SecretList};
use crate::settings::{self, Secret, Settings};

/// Checkout while it runs: what must outlive its last request.
pub(crate) struct Checkout {
    db: Db,
    keep_alive: KeepAlive,
    _hold: Option<Hold>,
}

impl Checkout {
    /// Gives up what it leased and closes the database, once nothing uses it any more.
    pub(crate) async fn close(self) {
        self.keep_alive.stop().await;
        self.db.close().await;
    }
}

/// Opens and migrates the database, starts the workers and serves on `listener`.
///
/// # Errors
///
/// When the data folder, the database or the secret cannot be used, with what to do.
pub(crate) async fn start(
    run: &mut Run,
    settings: &Settings,
    listener: Listener,
    if_gone: IfGone,
) -> Result<Checkout, Failure> {
    let hold = super::hold(&kept::checkout_database(settings))?;
    if if_gone == IfGone::BeginAnew {
        database(settings, &Options::default()).begin_anew(settings)?;
    }
    if settings.checkout_allow_http {
        tracing::warn!(
            "BALCAO_CHECKOUT_ALLOW_HTTP is set: card numbers may come over the network in clear"
        );
    }
    let (db, _) = open_database(settings).await?;
    let options = server_options(settings)?;
    let parts = parts(run, settings, &db)?;
    let app = checkout::app(config(settings)?, parts)
        .await
        .map_err(|error| Failure::of("checkout cannot start", &error))?;
    let App {
        router,
        workers,
        state,
    } = app;
    run.watch_certificate(&options, &state.workers);
    run.count(checkout::SERVICE, &db);
    run.work(workers.run());
    run.serve(checkout::SERVICE, listener, router, options);
    let keep_alive = checkout::keep_alive(&state);
    Ok(Checkout {
        db,
        keep_alive,
        _hold: hold,
    })
}

/// What the service's functions work on, for commands that call them without serving anything.
///
/// # Errors
///
/// As [`start`].
pub(crate) async fn open(run: &Run, settings: &Settings) -> Result<(State, Db), Failure> {
    let (db, _) = open_database(settings).await?;
    let parts = parts(run, settings, &db)?;
    let state = State::open(config(settings)?, parts)
        .await
        .map_err(|error| Failure::of("checkout cannot be opened", &error))?;
    Ok((state, db))
}

/// The way out of the service's events, for commands beside a service that may be running. It needs no provider.
///
/// # Errors
///
/// As [`start`].
pub(crate) async fn open_outbox(run: &Run, settings: &Settings) -> Result<(Outbox, Db), Failure> {
    let (db, _) = open_database(settings).await?;
    let parts = parts(run, settings, &db)?;
    let secret = secret(settings)?;
    let webhooks = webhooks(settings, &secret)?;
    let outbox = checkout::webhooks::open(webhooks, &secret, &parts)
        .await
        .map_err(|error| Failure::of("checkout cannot be opened", &error))?;
    Ok((outbox, db))
}

/// Opens checkout's database and brings its schema up to date; says what was applied.
///
/// # Errors
///
/// When it cannot be reached or migrated.
pub(crate) async fn open_database(settings: &Settings) -> Result<(Db, Vec<&'static str>), Failure> {
    database(settings, &Options::default()).open(settings).await
}

fn database<'a>(settings: &Settings, options: &'a Options) -> Database<'a> {
    Database {
        service: checkout::SERVICE,
        setting: "BALCAO_CHECKOUT_DATABASE_URL",
        address: kept::checkout_database(settings),
        key: kept::CHECKOUT_KEY,
        options,
        migrations: &MIGRATIONS,
    }
}

fn parts(run: &Run, settings: &Settings, db: &Db) -> Result<Parts, Failure> {
    let (clock, random) = (Clock::system(), Random::system());
    let windows = match &settings.redis_url {
        Some(url) => Windows::redis(
            url.0.as_str(),
            "balcao:checkout:",
            clock.clone(),
            random.clone(),
        )
        .map_err(|error| Failure::of("BALCAO_REDIS_URL", &error))?,
        None => Windows::memory(clock.clone()),
    };
    if settings.redis_url.is_none() && db.engine() == Engine::Postgres {
        tracing::info!(
            "rate limits and the provider's quota are counted by this process alone; with several replicas set BALCAO_REDIS_URL"
        );
    }
    Ok(Parts {
        db: db.clone(),
        windows,
        clock,
        random,
        metrics: run.metrics(),
        shutdown: run.shutdown(),
    })
}

fn config(settings: &Settings) -> Result<checkout::Config, Failure> {
    // The settings were read for a purpose that needs both; the message is for the type.
    let absent = || {
        Failure::new(
            "BALCAO_CHECKOUT_PROVIDER_URL and BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN must be set"
                .to_owned(),
        )
    };
    let ProviderUrl(base_url) = settings.checkout_provider_url.clone().ok_or_else(absent)?;
    let access_token: AccessToken = settings
        .checkout_provider_access_token
        .clone()
        .ok_or_else(absent)?;
    let secret = secret(settings)?;
    Ok(checkout::Config {
        public_url: settings.checkout_public_url.clone(),
        trusted_proxies: settings.trusted_proxies.clone(),
        hsts_subdomains: settings.hsts_subdomains,
        allow_http: settings.checkout_allow_http,
        provider: checkout::provider::Config {
            base_url: base_url.clone(),
            access_token,
            timeout: settings.checkout_provider_timeout,
            quota: settings.checkout_provider_quota.clone(),
        },
        boleto_method: settings.checkout_boleto_method.0.clone(),
        webhook_secrets: secrets(&settings.checkout_provider_webhook_secret),
        max_amounts: settings.checkout_max_amount.clone(),
        rate_limit: settings.checkout_rate_limit.clone(),
        rate_limit_payments: settings.checkout_rate_limit_payments.clone(),
        api_keys: secrets(&settings.checkout_api_keys.0),
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

/// How the shop's servers are told of events.
fn webhooks(settings: &Settings, secret: &checkout::Secret) -> Result<Webhooks, Failure> {
    let url = settings.checkout_webhook_url.as_ref();
    let secrets = settings.checkout_webhook_secret.as_ref();
    Ok(Webhooks {
        configured: url.zip(secrets).map(|(url, secrets)| Configured {
            target: url.0.clone(),
            secrets: secrets.0.clone(),
        }),
        internal: orders::endpoint(settings, secret)?,
        allow_private: settings.checkout_webhook_allow_private,
        ..Webhooks::default()
    })
}

/// How buyers get receipts, where mail is configured and receipts are not switched off.
fn receipts(settings: &Settings) -> Option<Receipts> {
    let server = settings.smtp_url.as_ref()?.0.clone();
    let from = settings.mail_from.as_ref()?.0.clone();
    settings
        .checkout_receipts
        .then_some(Receipts { server, from })
}

fn secrets(list: &SecretList) -> Vec<checkout::Secret> {
    list.0
        .iter()
        .map(|secret: &Secret| checkout::Secret::new(secret.expose()))
        .collect()
}

/// The service's secret: the setting, or else the one that the data folder keeps, which is made when there is none.
///
/// # Errors
///
/// When it can be neither read nor made.
pub(super) fn secret(settings: &Settings) -> Result<checkout::Secret, Failure> {
    if let Some(secret) = &settings.checkout_secret {
        return Ok(checkout::Secret::new(secret.expose()));
    }
    let file = settings.data_dir.join(kept::CHECKOUT_KEY);
    let secret = data_folder::kept_secret(&file, &Random::system())
        .map_err(|error| Failure::of(&format!("{} cannot be used", file.display()), &error))?;
    Ok(checkout::Secret::new(secret.as_bytes()))
}
