//! The configuration of the checkout service. `balcao` builds it from its settings; this crate does
//! not read the environment.

use delivery::mail::{Sender, Server};
use web::client::{Proxies, PublicUrl};
use web::rate::Rates;

use crate::provider;
use crate::request::MaxAmounts;
use crate::secret::Secret;
use crate::shop::Shop;

/// The checkout service's configuration.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own among the settings"
)]
pub struct Config {
    /// The public address of the service, for buyers and for the provider's notifications.
    pub public_url: Option<PublicUrl>,
    /// The proxies whose forwarding headers are trusted.
    pub trusted_proxies: Proxies,
    /// Whether HSTS also covers the subdomains of the service's host.
    pub hsts_subdomains: bool,
    /// Lifts the check that requests came over HTTPS.
    pub allow_http: bool,
    /// The provider: address, access token, timeout, quota.
    pub provider: provider::ProviderConfig,
    /// The provider's identifier of the boleto method.
    pub boleto_method: String,
    /// Secrets that verify notifications, newest first. Without any, an unsigned notification only
    /// makes the service read the payment.
    pub webhook_secrets: Vec<Secret>,
    /// The largest amount of a payment, by method.
    pub max_amounts: MaxAmounts,
    /// Rate limits of requests per client.
    pub rate_limit: Rates,
    /// Rate limits of attempts to pay per anonymous client.
    pub attempt_limit: Rates,
    /// How many declines of one card, e-mail address or tax id pause anonymous clients. An IP
    /// address may have four times as many.
    pub decline_limit: Rates,
    /// Merchants' API keys in addition to those in the database.
    pub api_keys: Vec<Secret>,
    /// Whether anybody may pay an amount of their own choice without an order. If not, the open
    /// page requires an API key.
    pub open_payments: bool,
    /// Whether a second payment of an order is refunded automatically.
    pub refund_overpayment: bool,
    /// Webhooks to the shop's servers.
    pub webhooks: delivery::Webhooks,
    /// How receipts are sent by mail. `None` sends none.
    pub receipts: Option<Receipts>,
    /// The shop's details, which the page shows.
    pub shop: Shop,
    /// 32 bytes from which the digests of requests and the status tokens are derived. Must be the
    /// same on every replica and after every restart, and must not be in the database: together
    /// with the digests it would allow trying out card numbers.
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
    /// Where the provider sends its notifications: an `https` address, or any address if the
    /// provider runs on this machine.
    pub(crate) fn notification_url(&self) -> Option<String> {
        let public = self.public_url.as_ref()?;
        let is_reachable = public.is_https() || self.provider.base_url.is_local();
        // The parameter restricts notifications to signed ones. Without it the provider also sends
        // the older, unsigned kind.
        is_reachable.then(|| public.join("/notifications?source_news=webhooks"))
    }
}
