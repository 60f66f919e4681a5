//! The configuration of the checkout service. `balcao` fills it in from its settings; nothing here
//! reads the environment.

use delivery::mail::{Sender, Server};
use web::client::{Proxies, PublicUrl};
use web::rate::Rates;

use crate::page::Shop;
use crate::provider;
use crate::request::MaxAmounts;
use crate::secret::Secret;

/// The checkout service's configuration.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own among the settings"
)]
pub struct Config {
    /// Under which address buyers and the provider reach us; the provider is told of it for its
    /// notifications.
    pub public_url: Option<PublicUrl>,
    /// Whose forwarding headers count.
    pub trusted_proxies: Proxies,
    /// Whether browsers shall keep to HTTPS for every host below the service's own, too.
    pub hsts_subdomains: bool,
    /// Lifts the check that requests came over HTTPS.
    pub allow_http: bool,
    /// The provider: address, access token, timeout, quota.
    pub provider: provider::ProviderConfig,
    /// The provider's identifier of the boleto method.
    pub boleto_method: String,
    /// Secrets that sign notifications, the newest first. None: notifications are mere hints to
    /// read back.
    pub webhook_secrets: Vec<Secret>,
    /// The most of one payment.
    pub max_amounts: MaxAmounts,
    /// Requests per client.
    pub rate_limit: Rates,
    /// Payments that one anonymous client may ask for.
    pub rate_limit_payments: Rates,
    /// Merchants' API keys besides those in the store.
    pub api_keys: Vec<Secret>,
    /// May anybody pay an amount of their own, without an order? Closes the open page to callers
    /// without a merchant's key.
    pub open_payments: bool,
    /// Whether a second payment of an order is refunded automatically.
    pub refund_overpayment: bool,
    /// Webhooks to the shop's servers.
    pub webhooks: delivery::Webhooks,
    /// How buyers get receipts by mail; `None` when they get none.
    pub receipts: Option<Receipts>,
    /// The shop's details on the page.
    pub shop: Shop,
    /// 32 bytes from which the digests of requests and the tokens of status pages are derived. The
    /// same on every replica and after every restart, and never in the database: with it card
    /// numbers could be tried against digests.
    pub secret: Secret,
}

/// How receipts are sent.
#[derive(Debug, Clone)]
pub struct Receipts {
    /// The mail server.
    pub server: Server,
    /// The sender.
    pub from: Sender,
}

impl Config {
    /// Where the provider posts its notifications: an `https` address, or any when the provider
    /// stands on this machine, too.
    pub(crate) fn notification_url(&self) -> Option<String> {
        let public = self.public_url.as_ref()?;
        let is_reachable = public.is_https() || self.provider.base_url.is_local();
        // The parameter asks for signed notifications only, without the older unsigned kind beside
        // them.
        is_reachable.then(|| public.join("/notifications?source_news=webhooks"))
    }
}
