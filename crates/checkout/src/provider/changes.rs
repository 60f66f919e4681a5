//! The search for changed payments, page by page.

use db::Timestamp;

use super::payment::{PaymentName, results, total};
use super::{Failure, ProviderPayment};

const PAGE: usize = 100;

/// A page of the search: payments changed from `from` to `to`, in the order of their changes,
/// without the first `offset`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changes {
    /// The earliest change.
    pub from: Timestamp,
    /// The latest change.
    pub to: Timestamp,
    /// How many payments to skip.
    pub offset: i64,
}

/// A page of changed payments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedPayments {
    /// The payments that could be parsed.
    pub payments: Vec<ProviderPayment>,
    /// The number of payments that could not be parsed.
    pub unreadable: i64,
    /// The next page. Nothing is left when it equals the requested one.
    pub next: Changes,
}

impl Changes {
    /// The path and query of the request.
    pub(super) fn path(self) -> String {
        format!(
            "/v1/payments/search?sort=date_last_updated&criteria=asc&range=date_last_updated\
             &begin_date={:.3}&end_date={:.3}&offset={}&limit={PAGE}",
            self.from.to_jiff(),
            self.to.to_jiff(),
            self.offset
        )
    }
}

impl ChangedPayments {
    /// One unreadable payment must not hide those after it. No payment decision depends on this
    /// list alone.
    pub(super) fn read(status: u16, body: &[u8], request: Changes) -> Result<Self, Failure> {
        let results = results(status, body)?;
        let found = i64::try_from(results.len()).unwrap_or(i64::MAX);
        let total = total(status, body)?;
        let payments: Vec<_> = results
            .into_iter()
            .flatten()
            .filter_map(|payment| {
                let id = payment.id.clone();
                payment.about(status, PaymentName::Id(&id)).ok()
            })
            .collect();
        let last = payments
            .last()
            .and_then(|payment| Timestamp::parse(payment.date_last_updated.as_deref()?).ok());
        let next = match last {
            _ if found == 0 || total.is_some_and(|total| request.offset + found >= total) => {
                Changes {
                    from: request.to,
                    offset: 0,
                    ..request
                }
            }
            Some(last) if last > request.from => Changes {
                from: last,
                offset: 0,
                ..request
            },
            // All changes have the same time, so the next page needs a larger offset.
            _ => Changes {
                offset: request.offset + found,
                ..request
            },
        };
        Ok(Self {
            unreadable: found - i64::try_from(payments.len()).unwrap_or(found),
            payments,
            next,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_payments_are_listed_page_by_page_until_there_are_no_more() {
        let at = |second: i64| Timestamp::parse(&format!("2026-11-20T08:00:0{second}Z")).unwrap();
        let changed = |id: u8, second: i64| {
            format!(
                r#"{{"id":{id},"status":"s","transaction_amount":1,"date_created":"2026-11-20T08:00:00Z","date_last_updated":"{}"}}"#,
                at(second)
            )
        };
        let request = Changes {
            from: at(1),
            to: at(9),
            offset: 0,
        };
        let page = |total: u8, results: &[String], request| {
            let results = results.join(",");
            let body = format!(r#"{{"paging":{{"total":{total}}},"results":[{results}]}}"#);
            ChangedPayments::read(200, body.as_bytes(), request).unwrap()
        };
        let at_end = |page: ChangedPayments| page.next.from == at(9);
        assert!(at_end(page(0, &[], request)));
        assert!(at_end(page(2, &[changed(1, 2), changed(2, 3)], request)));
        // A provider may return fewer than requested.
        let first = page(3, &[changed(1, 2), changed(2, 3)], request);
        assert_eq!((first.next.from, first.next.offset), (at(3), 0));
        let same = page(3, &[changed(1, 1), changed(2, 1)], request);
        assert_eq!((same.next.from, same.next.offset), (at(1), 2));
        assert!(at_end(page(3, &[changed(3, 1)], same.next)));
        let broken = page(2, &["{}".to_owned(), changed(2, 3)], request);
        assert_eq!((broken.payments.len(), broken.unreadable), (1, 1));
    }
}
