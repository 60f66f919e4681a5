//! Running the inventory in this process: its configuration from the settings, its database, its key.

use std::time::Duration;

use db::{Db, KeepAlive, Options};
use inventory::accounts::TokenKey;
use inventory::analysis::{self, LanguageModel, model::Terms};
use inventory::events::{Configured, Mail, Webhooks};
use inventory::payments;
use inventory::stock::AlertMode;
use inventory::{App, FirstUser, MIGRATIONS, Parts, SERVICE};
use web::http_client::ApiKey;
use web::rate::Windows;
use web::server::Listener;
use web::{Clock, Random};

use super::database::{Database, IfGone};
use super::{Run, orders, server_options};
use crate::command::Failure;
use crate::data_folder::{self, Hold};
use crate::kept;
use crate::settings::Settings;
use crate::settings::value::{LowStockAlert, ReportSchedule, Switch};

/// How long the write-ahead log of a SQLite database may get before it is copied into the database, in MiB. The sales of a busy shop write
/// the same few pages again and again, so a longer log saves copying them each time; nobody here minds the longer copy.
const COPY_MIB: u32 = 32;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Inventory while it runs: what must outlive its last request.
pub(crate) struct Inventory {
    db: Db,
    keep_alive: KeepAlive,
    _hold: Option<Hold>,
}

impl Inventory {
    /// Gives up what it leased and closes the database, once nothing uses it any more.
    pub(crate) async fn close(self) {
        self.keep_alive.stop().await;
        self.db.close().await;
    }
}

/// Opens and migrates the database, makes the first user, and serves on `listener`.
///
/// # Errors
///
/// When the data folder, the database or the key cannot be used, with what to do.
pub(crate) async fn start(
    run: &mut Run,
    settings: &Settings,
    listener: Listener,
    if_gone: IfGone,
) -> Result<Inventory, Failure> {
    let hold = super::hold(&kept::inventory_database(settings))?;
    if if_gone == IfGone::BeginAnew {
        database(settings, &Options::default()).begin_anew(settings)?;
    }
    let (db, _) = open_database(settings).await?;
    let options = server_options(settings)?;
    let parts = parts(run, settings, &db)?;
    let App {
        router,
        workers,
        state,
    } = inventory::app(serving(settings)?, parts)
        .await
        .map_err(|error| Failure::of("inventory cannot start", &error))?;
    run.watch_certificate(&options, &state.workers);
    run.count(SERVICE, &db);
    run.work(workers.run());
    run.serve(SERVICE, listener, router, options);
    let keep_alive = inventory::keep_alive(&state);
    Ok(Inventory {
        db,
        keep_alive,
        _hold: hold,
    })
}

/// Opens inventory's database and brings its schema up to date; says what was applied.
///
/// # Errors
///
/// When it cannot be reached or migrated.
pub(crate) async fn open_database(settings: &Settings) -> Result<(Db, Vec<&'static str>), Failure> {
    let options = Options {
        copy_mib: COPY_MIB,
        ..Options::default()
    };
    open_database_with(settings, &options).await
}

/// As [`open_database`], with bounds of its own: for loads.
///
/// # Errors
///
/// As [`open_database`].
pub(crate) async fn open_database_with(
    settings: &Settings,
    options: &Options,
) -> Result<(Db, Vec<&'static str>), Failure> {
    database(settings, options).open(settings).await
}

fn database<'a>(settings: &Settings, options: &'a Options) -> Database<'a> {
    Database {
        service: SERVICE,
        setting: "BALCAO_INVENTORY_DATABASE_URL",
        address: kept::inventory_database(settings),
        key: kept::INVENTORY_KEY,
        options,
        migrations: &MIGRATIONS,
    }
}

/// Opens the database and what the service's functions work on, for a command beside a service that may be running.
///
/// # Errors
///
/// As [`open_database`], and when TLS to the language model cannot be set up.
pub(crate) async fn open_state(
    run: &Run,
    settings: &Settings,
) -> Result<(inventory::State, Db), Failure> {
    let (db, _) = open_database(settings).await?;
    let parts = parts(run, settings, &db)?;
    let state = inventory::state(config(settings), parts)
        .map_err(|error| Failure::of("inventory cannot be reached", &error))?;
    Ok((state, db))
}

fn parts(run: &Run, settings: &Settings, db: &Db) -> Result<Parts, Failure> {
    let (clock, random) = (Clock::system(), Random::system());
    let windows = match &settings.redis_url {
        Some(url) => Windows::redis(
            url.0.as_str(),
            "balcao:inventory:",
            clock.clone(),
            random.clone(),
        )
        .map_err(|error| Failure::of("BALCAO_REDIS_URL", &error))?,
        None => Windows::memory(clock.clone()),
    };
    Ok(Parts {
        db: db.clone(),
        windows,
        clock,
        random,
        metrics: run.metrics(),
        shutdown: run.shutdown(),
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

/// The configured key, else the one that the first start made and the data folder keeps.
fn token_key(settings: &Settings) -> Result<TokenKey, Failure> {
    if let Some(secret) = &settings.inventory_token_secret {
        return Ok(TokenKey::new(secret.expose().as_bytes()));
    }
    let file = settings.data_dir.join(kept::INVENTORY_KEY);
    let secret = data_folder::kept_secret(&file, &Random::system())
        .map_err(|error| Failure::of(&format!("{} cannot be used", file.display()), &error))?;
    Ok(TokenKey::new(secret.as_bytes()))
}

/// The service's settings, with what only serving needs: checkout's secret is there by now, as checkout starts first.
fn serving(settings: &Settings) -> Result<inventory::Config, Failure> {
    let orders_secrets = if settings.orders_book_stock {
        orders::secrets(settings, &super::checkout::secret(settings)?)
    } else {
        let configured = settings.inventory_orders_secret.as_ref();
        configured.map_or_else(Vec::new, |secrets| secrets.0.clone())
    };
    Ok(inventory::Config {
        orders_secrets,
        ..config(settings)
    })
}

/// The service's settings.
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
        second_factor: settings.inventory_require_second_factor.0,
        low_stock_threshold: settings.inventory_low_stock_threshold.0,
        low_stock_alert: match settings.inventory_low_stock_alert {
            LowStockAlert::EveryOutflow => AlertMode::EveryOutflow,
            LowStockAlert::Once => AlertMode::Once,
        },
        webhooks: webhooks(settings),
        mail: mail(settings),
        language: settings.inventory_language.0,
        analysis: analysis(settings),
        checkout: checkout(settings),
        scratch: settings.data_dir.clone(),
        ..inventory::Config::default()
    }
}

/// How events reach endpoints.
pub(crate) fn webhooks(settings: &Settings) -> Webhooks {
    let url = settings.inventory_webhook_url.as_ref();
    let secrets = settings.inventory_webhook_secret.as_ref();
    Webhooks {
        configured: url.zip(secrets).map(|(url, secrets)| Configured {
            target: url.0.clone(),
            secrets: secrets.0.clone(),
        }),
        allow_private: settings.inventory_webhook_allow_private,
        retention: settings.inventory_event_retention,
        ..Webhooks::default()
    }
}

/// How people are told by mail, where a server, a sender and receivers are configured.
fn mail(settings: &Settings) -> Option<Mail> {
    let to = settings.inventory_alert_mail_to.as_ref()?;
    Some(Mail {
        server: settings.smtp_url.as_ref()?.0.clone(),
        from: settings.mail_from.as_ref()?.0.clone(),
        to: to.0.iter().map(|address| address.0.clone()).collect(),
        digest: match settings.inventory_alert_mail_digest {
            Switch::On(time) => Some(time.0),
            Switch::Off => None,
        },
    })
}

/// How products are analysed.
fn analysis(settings: &Settings) -> analysis::Config {
    let days = |length: Duration| length.as_secs_f64() / DAY.as_secs_f64();
    let standard = analysis::Config::default();
    analysis::Config {
        terms: Terms {
            lead_time: days(settings.inventory_lead_time),
            lead_time_deviation: match settings.inventory_lead_time_deviation {
                Switch::On(deviation) => days(deviation),
                Switch::Off => 0.0,
            },
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

/// The language model, where one is configured. What cannot be sent was found when the settings were read.
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

/// The checkout whose orders and payments the pages show, where one is configured. What cannot be sent was found when the settings were read.
fn checkout(settings: &Settings) -> Option<payments::Config> {
    let address = settings.inventory_checkout_url.as_ref()?.0.as_str();
    let key = settings.inventory_checkout_key.as_ref()?;
    Some(payments::Config::new(
        address.trim_end_matches('/').parse().ok()?,
        ApiKey::parse(key.expose()).ok()?,
    ))
}
