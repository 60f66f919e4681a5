//! The quota of calls to the provider, and how anonymous clients share it.

use web::client::ClientAddress;
use web::rate::{Key, Rate, Rates, Reserve, Windows};

use super::{Failure, Purpose};

/// The kinds of rate limit windows: all calls, and the calls of each anonymous client.
const ALL: &str = "checkout:provider";
const SHARES: &str = "checkout:provider:shares";

pub(super) struct Quota {
    pub(super) rates: Rates,
    pub(super) windows: Windows,
}

impl Quota {
    /// Reserves `calls` in every window, all or none.
    pub(super) async fn take(&self, calls: u32, purpose: Purpose) -> Result<(), Failure> {
        match purpose {
            Purpose::Buyer => self.take_from_all(calls, Reserve::Nothing).await,
            Purpose::Background => self.take_from_all(calls, Reserve::Fifth).await,
            Purpose::Anonymous(client) => self.take_share(calls, client).await,
        }
    }

    async fn take_from_all(&self, calls: u32, reserve: Reserve) -> Result<(), Failure> {
        let key = Key::new(ALL, "all");
        let quota = self.windows.take(&key, &self.rates, calls, reserve).await;
        quota.map(drop).map_err(|throttled| Failure::Quota {
            retry_after: throttled.retry_after,
        })
    }

    /// Reserves calls for an anonymous client. Once half of a window is used, a client that has
    /// used a tenth of it must wait, so that one client alone cannot block the shop.
    async fn take_share(&self, calls: u32, client: ClientAddress) -> Result<(), Failure> {
        let share = Key::of_client(SHARES, client);
        let tenths: Vec<Rate> = self
            .rates
            .iter()
            .map(|rate| Rate::new((rate.limit() / 10).max(1), rate.per()))
            .collect();
        let whole = Key::new(ALL, "all");
        let all = self.windows.levels(&whole, &self.rates, 0).await;
        let own = self.windows.levels(&share, &tenths, 0).await;
        let waits = all.iter().zip(&own).filter_map(|(all, own)| {
            let is_half_used = all.remaining <= all.rate.limit() / 2;
            (is_half_used && own.remaining == 0).then_some(own.reset_after)
        });
        if let Some(retry_after) = waits.max() {
            return Err(Failure::Quota { retry_after });
        }
        self.take_from_all(calls, Reserve::Nothing).await?;
        // The calls were reserved in the total already, so the client's share counts them
        // regardless of its limit.
        let counted = self
            .windows
            .take(&share, &self.rates, calls, Reserve::Nothing);
        drop(counted.await);
        Ok(())
    }
}
