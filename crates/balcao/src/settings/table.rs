//! The table of settings: field, type, name, default and description. Parsing, problem reports,
//! `config check` and `docs/configuration.md` all use it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use checkout::provider::{AccessToken, BaseUrl};
use checkout::request::MaxAmounts;
use delivery::Target;
use delivery::mail::{Sender, Server};
use inventory::accounts::second_factor::MandatoryFor;
use inventory::stock::AlertMode;
use web::client::{Proxies, PublicUrl};
use web::locale::Locale;
use web::rate::Rates;

use super::reader::Reader;
use super::secret::Secret;
use super::value::{
    ApiKey, Count, Identifier, Label, LogFilter, LogFormat, MailAddress, Pause, Percent, RedisUrl,
    ReportSchedule, Secrecy, Switch, TimeOfDay, Username, Value, WebUrl,
};

/// The default of a setting.
#[derive(Debug, Clone, Copy)]
pub(crate) enum DefaultValue {
    /// This value.
    Is(&'static str),
    /// No value. The text says what follows from that.
    Unset(&'static str),
}

impl DefaultValue {
    fn text(self) -> Option<&'static str> {
        match self {
            Self::Is(value) => Some(value),
            Self::Unset(_) => None,
        }
    }
}

/// The description of one setting.
pub(crate) struct Description {
    pub(crate) name: &'static str,
    pub(crate) default: DefaultValue,
    pub(crate) meaning: &'static str,
    pub(crate) allowed: String,
    pub(crate) secrecy: Secrecy,
}

/// A group of related settings.
pub(crate) struct Group {
    pub(crate) title: &'static str,
    pub(crate) settings: Vec<Description>,
}

macro_rules! settings {
    ($($title:literal { $($field:ident: $kind:ty, $name:literal, $default:expr, $meaning:literal;)+ })+) => {
        /// All settings, parsed and valid.
        #[derive(Debug, Clone)]
        pub(crate) struct Settings {
            $($(#[doc = $meaning] pub(crate) $field: $kind,)+)+
        }

        /// The names of all settings.
        pub(crate) const NAMES: &[&str] = &[$($($name,)+)+];

        /// The table for the documentation.
        pub(crate) fn groups() -> Vec<Group> {
            vec![$(Group {
                title: $title,
                settings: vec![$(Description {
                    name: $name,
                    default: $default,
                    meaning: $meaning,
                    allowed: <$kind as Value>::allowed(),
                    secrecy: <$kind as Value>::SECRECY,
                },)+],
            },)+]
        }

        impl Settings {
            /// Reads all settings. `None` when one of them is invalid; the reader has recorded the
            /// problem.
            pub(crate) fn read(reader: &mut Reader) -> Option<Self> {
                $($(let $field = reader.read::<$kind>($name, $default.text());)+)+
                Some(Self { $($($field: $field?,)+)+ })
            }
        }
    };
}

use DefaultValue::{Is, Unset};

settings! {
    "Both services" {
        data_dir: PathBuf, "BALCAO_DATA_DIR", Is("./balcao-data"),
            "Folder of the databases and signing keys. `demo` keeps its own in a folder `demo` below it.";
        metrics_listen: Switch<SocketAddr>, "BALCAO_METRICS_LISTEN", Is("127.0.0.1:8009"),
            "Where `/metrics` (Prometheus text) is served, apart from the services. Anyone who reaches it can read it.";
        tls_cert_file: Option<PathBuf>, "BALCAO_TLS_CERT_FILE", Unset("no TLS of our own"),
            "Certificate chain in PEM. Read again when the file changes.";
        tls_key_file: Option<PathBuf>, "BALCAO_TLS_KEY_FILE", Unset("no TLS of our own"),
            "Private key in PEM, together with the certificate.";
        trusted_proxies: Proxies, "BALCAO_TRUSTED_PROXIES", Is("127.0.0.0/8,::1"),
            "Peers whose `Forwarded` and `X-Forwarded-…` headers count.";
        hsts_subdomains: bool, "BALCAO_HSTS_SUBDOMAINS", Is("false"),
            "Adds `includeSubDomains` to `Strict-Transport-Security`: browsers then keep to HTTPS for every host below the services' own.";
        orders_book_stock: bool, "BALCAO_ORDERS_BOOK_STOCK", Is("false"),
            "Tells inventory, in the same process, of paid orders, so that goods with a `sku` leave the stock. `demo` does it always.";
        redis_url: Option<RedisUrl>, "BALCAO_REDIS_URL", Unset("each process counts alone"),
            "Redis or Valkey that holds the rate-limit and quota windows of all replicas.";
        smtp_url: Option<Server>, "BALCAO_SMTP_URL", Unset("no mail"),
            "Mail server for alerts and receipts.";
        mail_from: Option<Sender>, "BALCAO_MAIL_FROM", Unset("no mail"),
            "Sender of mail.";
        llm_base_url: Option<WebUrl>, "BALCAO_LLM_BASE_URL", Unset("analyses are computed text"),
            "OpenAI-compatible service that words the analyses.";
        llm_api_key: Option<Secret>, "BALCAO_LLM_API_KEY", Unset("no key is sent"),
            "Key for that service.";
        llm_model: Option<Identifier>, "BALCAO_LLM_MODEL", Unset("needed with BALCAO_LLM_BASE_URL"),
            "Model to ask there.";
        llm_timeout: Duration, "BALCAO_LLM_TIMEOUT", Is("3m"),
            "Longest wait for one answer of the model. A call that fails is repeated twice at most.";
        llm_quota: Rates, "BALCAO_LLM_QUOTA", Is("60/hour,500/day"),
            "Limit of our calls to the model, all replicas together; beyond it analyses are computed text.";
        admin_username: Option<Username>, "BALCAO_ADMIN_USERNAME", Unset("no user is made"),
            "Name of the first superuser, made when there is no user yet.";
        admin_password: Option<Secret<12>>, "BALCAO_ADMIN_PASSWORD", Unset("no user is made"),
            "Password of that superuser.";
        stop_timeout: Duration, "BALCAO_STOP_TIMEOUT", Is("30s"),
            "Longest time that stopping may take; anything still running then is cut off, as by a crash.";
        drain: Pause, "BALCAO_DRAIN", Is("0s"),
            "How long, after the signal to stop and before that time, requests are served as ever while `/ready` answers 503: let it be longer than a balancer takes to notice.";
        log: LogFilter, "BALCAO_LOG", Is("info"),
            "Which log lines are written to stderr.";
        log_format: LogFormat, "BALCAO_LOG_FORMAT", Is("text"),
            "Log lines for people or for machines.";
        otlp_endpoint: Option<WebUrl>, "OTEL_EXPORTER_OTLP_ENDPOINT", Unset("no traces"),
            "Collector that receives traces by OTLP over HTTP. Needs a build with the cargo feature `otel`.";
    }
    "Checkout" {
        checkout_listen: SocketAddr, "BALCAO_CHECKOUT_LISTEN", Is("127.0.0.1:8000"),
            "Where the checkout service listens.";
        checkout_public_url: Option<PublicUrl>, "BALCAO_CHECKOUT_PUBLIC_URL", Unset("taken from the request"),
            "Address under which buyers reach checkout: for links, the notification address and redirects.";
        checkout_database_url: Option<db::Address>, "BALCAO_CHECKOUT_DATABASE_URL", Unset("`checkout.sqlite` in the data folder"),
            "Database of checkout.";
        checkout_allow_http: bool, "BALCAO_CHECKOUT_ALLOW_HTTP", Is("false"),
            "Lifts the check that requests came over HTTPS. For trials on a closed network only.";
        checkout_provider_url: Option<BaseUrl>, "BALCAO_CHECKOUT_PROVIDER_URL", Unset("`serve` refuses to run checkout"),
            "Base address of the payment provider.";
        checkout_provider_access_token: Option<AccessToken>, "BALCAO_CHECKOUT_PROVIDER_ACCESS_TOKEN", Unset("`serve` refuses to run checkout"),
            "Access token at the provider.";
        checkout_provider_webhook_secret: Vec<Secret>, "BALCAO_CHECKOUT_PROVIDER_WEBHOOK_SECRET", Unset("notifications are only a hint to read back"),
            "Secrets that sign the provider's notifications; several by comma during a rotation.";
        checkout_provider_timeout: Duration, "BALCAO_CHECKOUT_PROVIDER_TIMEOUT", Is("15s"),
            "Longest wait for one call to the provider.";
        checkout_provider_quota: Rates, "BALCAO_CHECKOUT_PROVIDER_QUOTA", Is("100/minute,1000/hour,10000/day"),
            "Limit of our calls to the provider.";
        checkout_boleto_method: Identifier, "BALCAO_CHECKOUT_BOLETO_METHOD", Is("bolbradesco"),
            "The provider's identifier of its boleto method.";
        checkout_max_amount: MaxAmounts, "BALCAO_CHECKOUT_MAX_AMOUNT", Is("boleto=99999999.99"),
            "Highest amount of one payment by each method, in reais, as your account at the provider allows. A method that is not named has no limit here.";
        checkout_rate_limit: Rates, "BALCAO_CHECKOUT_RATE_LIMIT", Is("100/minute"),
            "Requests per merchant's key, else per client address.";
        checkout_attempt_limit: Rates, "BALCAO_CHECKOUT_ATTEMPT_LIMIT", Is("off"),
            "Attempts to pay of one client address; `10/minute,60/hour` suits a public page. Merchants' servers and this machine are exempt.";
        checkout_decline_limit: Rates, "BALCAO_CHECKOUT_DECLINE_LIMIT", Is("5/hour"),
            "Declines of one card, e-mail or tax id before a pause, four times as many of one address; the same are exempt.";
        checkout_api_keys: Vec<ApiKey>, "BALCAO_CHECKOUT_API_KEYS", Unset("only the keys in the store"),
            "Keys of merchants' servers, by comma, besides those of `balcao checkout key add`.";
        checkout_webhook_url: Option<Target>, "BALCAO_CHECKOUT_WEBHOOK_URL", Unset("no webhooks"),
            "Destination of events of payments; others by `balcao checkout endpoint`.";
        checkout_webhook_secret: Vec<delivery::Secret>, "BALCAO_CHECKOUT_WEBHOOK_SECRET", Unset("needed with BALCAO_CHECKOUT_WEBHOOK_URL"),
            "Signs them; several during a rotation.";
        checkout_webhook_allow_private: bool, "BALCAO_CHECKOUT_WEBHOOK_ALLOW_PRIVATE", Is("false"),
            "Lets them reach private addresses.";
        checkout_shop_name: Label, "BALCAO_CHECKOUT_SHOP_NAME", Is("Balcão"),
            "The shop's name on the payment page.";
        checkout_shop_contact: Option<Label>, "BALCAO_CHECKOUT_SHOP_CONTACT", Unset("not shown"),
            "How buyers reach the shop, as the page shows it: an address, a number.";
        checkout_shop_logo: Option<PathBuf>, "BALCAO_CHECKOUT_SHOP_LOGO", Unset("not shown"),
            "The shop's logo on the payment page: a file with a PNG, WebP or SVG picture of at most 256 KiB, read at the start.";
        checkout_receipts: bool, "BALCAO_CHECKOUT_RECEIPTS", Is("true"),
            "Mails each buyer a receipt of an approved payment, where `BALCAO_SMTP_URL` is set.";
        checkout_open_payments: bool, "BALCAO_CHECKOUT_OPEN_PAYMENTS", Is("true"),
            "Whether anybody may pay an amount of their own; `false` leaves the open page and `POST /create_payment` to merchants' keys.";
        checkout_refund_overpayment: bool, "BALCAO_CHECKOUT_REFUND_OVERPAYMENT", Is("false"),
            "Refunds the second payment of an order automatically.";
        checkout_secret: Option<Secret<32>>, "BALCAO_CHECKOUT_SECRET", Unset("made on first start, kept in the data folder"),
            "Secret behind digests of requests and tokens of pages; the same on every replica, and kept as long as the database.";
    }
    "Inventory" {
        inventory_listen: SocketAddr, "BALCAO_INVENTORY_LISTEN", Is("127.0.0.1:8001"),
            "Where the inventory service listens.";
        inventory_public_url: Option<PublicUrl>, "BALCAO_INVENTORY_PUBLIC_URL", Unset("taken from the request"),
            "Address under which people reach inventory: for links and redirects.";
        inventory_database_url: Option<db::Address>, "BALCAO_INVENTORY_DATABASE_URL", Unset("`inventory.sqlite` in the data folder"),
            "Database of inventory.";
        inventory_rate_limit_auth: Rates, "BALCAO_INVENTORY_RATE_LIMIT_AUTH", Is("10/minute"),
            "Logins and token requests per client address.";
        inventory_rate_limit_read: Rates, "BALCAO_INVENTORY_RATE_LIMIT_READ", Is("100/minute"),
            "Reading API requests per user.";
        inventory_rate_limit_write: Rates, "BALCAO_INVENTORY_RATE_LIMIT_WRITE", Is("50/minute"),
            "Writing API requests per user.";
        inventory_page_size: Count<1, 1000>, "BALCAO_INVENTORY_PAGE_SIZE", Is("10"),
            "Rows of a list page.";
        inventory_max_page_size: Count<1, 1000>, "BALCAO_INVENTORY_MAX_PAGE_SIZE", Is("100"),
            "Most rows per request.";
        inventory_access_token_lifetime: Duration, "BALCAO_INVENTORY_ACCESS_TOKEN_LIFETIME", Is("1d"),
            "Lifetime of an access token.";
        inventory_refresh_token_lifetime: Duration, "BALCAO_INVENTORY_REFRESH_TOKEN_LIFETIME", Is("7d"),
            "Lifetime of a refresh token.";
        inventory_session_lifetime: Duration, "BALCAO_INVENTORY_SESSION_LIFETIME", Is("30d"),
            "Longest lifetime of a session.";
        inventory_require_second_factor: MandatoryFor, "BALCAO_INVENTORY_REQUIRE_SECOND_FACTOR", Is("off"),
            "Who must have a second factor: staff, or all who may write.";
        inventory_token_secret: Option<Secret<32>>, "BALCAO_INVENTORY_TOKEN_SECRET", Unset("made on first start, kept in the data folder"),
            "Signs tokens; the same on every replica.";
        inventory_low_stock_threshold: Count<0, { i64::MAX }>, "BALCAO_INVENTORY_LOW_STOCK_THRESHOLD", Is("10"),
            "A product with fewer units than this is low, unless it has a threshold of its own.";
        inventory_low_stock_alert: AlertMode, "BALCAO_INVENTORY_LOW_STOCK_ALERT", Is("every_outflow"),
            "`once` sends one alert until the stock recovers.";
        inventory_language: Locale, "BALCAO_INVENTORY_LANGUAGE", Is("pt-BR"),
            "Language of analyses and mails; pages follow their readers.";
        inventory_lead_time: Duration, "BALCAO_INVENTORY_LEAD_TIME", Is("7d"),
            "Lead time, from order to shelf, that analyses assume for products without their own.";
        inventory_lead_time_deviation: Switch<Duration>, "BALCAO_INVENTORY_LEAD_TIME_DEVIATION", Is("off"),
            "Standard deviation of that lead time.";
        inventory_service_level: Percent, "BALCAO_INVENTORY_SERVICE_LEVEL", Is("95"),
            "Percentage of replenishments in which the stock should last until the goods arrive.";
        inventory_review_interval: Duration, "BALCAO_INVENTORY_REVIEW_INTERVAL", Is("7d"),
            "Time between two reviews of what to order.";
        inventory_demand_window: Duration, "BALCAO_INVENTORY_DEMAND_WINDOW", Is("90d"),
            "How much history analyses look at: whole days, at most 730.";
        inventory_analysis_cooldown: Duration, "BALCAO_INVENTORY_ANALYSIS_COOLDOWN", Is("6h"),
            "Pause after a product's analysis before its sales start another one. People may start one at any time.";
        inventory_report: ReportSchedule, "BALCAO_INVENTORY_REPORT", Is("off"),
            "`weekly` writes a report on the whole shop every Monday, beside the analyses, and mails it to the receivers of alerts.";
        inventory_webhook_url: Option<Target>, "BALCAO_INVENTORY_WEBHOOK_URL", Unset("no webhooks"),
            "Destination of webhooks; further ones on the pages under /webhooks/, or by command.";
        inventory_webhook_secret: Vec<delivery::Secret>, "BALCAO_INVENTORY_WEBHOOK_SECRET", Unset("needed with BALCAO_INVENTORY_WEBHOOK_URL"),
            "Signs those webhooks; several by comma during a rotation.";
        inventory_webhook_allow_private: bool, "BALCAO_INVENTORY_WEBHOOK_ALLOW_PRIVATE", Is("false"),
            "Lets webhooks reach loopback and private addresses.";
        inventory_orders_secret: Vec<delivery::Secret>, "BALCAO_INVENTORY_ORDERS_SECRET", Unset("nothing is taken from another checkout"),
            "Verifies the events of a checkout at `POST /integrations/orders/`; several by comma during a rotation.";
        inventory_alert_mail_to: Vec<MailAddress>, "BALCAO_INVENTORY_ALERT_MAIL_TO", Unset("no mail"),
            "Receivers of low-stock alerts, one each time a product becomes low.";
        inventory_alert_mail_digest: Switch<TimeOfDay>, "BALCAO_INVENTORY_ALERT_MAIL_DIGEST", Is("off"),
            "When those receivers get the daily list of low stock, if anything is low.";
        inventory_checkout_url: Option<WebUrl>, "BALCAO_INVENTORY_CHECKOUT_URL", Unset("no pages of payments"),
            "Checkout whose orders and payments the pages show; its key goes there.";
        inventory_checkout_key: Option<Secret>, "BALCAO_INVENTORY_CHECKOUT_KEY", Unset("needed with BALCAO_INVENTORY_CHECKOUT_URL"),
            "Merchant's key for that checkout.";
        inventory_event_retention: Duration, "BALCAO_INVENTORY_EVENT_RETENTION", Is("30d"),
            "How long events are kept, with the record of their deliveries, and mail. What still waits is kept longer.";
    }
    "Sandbox" {
        sandbox_listen: SocketAddr, "BALCAO_SANDBOX_LISTEN", Is("127.0.0.1:8002"),
            "Where the provider sandbox listens.";
    }
}
