//! Injected faults: the calls they apply to, their effect, and how often they apply.

use std::sync::Mutex;
use std::time::Duration;

use db::lock_mutex;
use http::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// A fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: Kind,
    /// Whether the call takes effect all the same.
    pub(crate) is_carried_out: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Another status, with the provider's error body and optionally the code of a cause.
    Status(StatusCode, Option<u16>),
    /// The response is delayed.
    Delay(Duration),
    /// The call is processed late, even if the caller has gone. Until then its idempotency key is
    /// in flight.
    Stall(Duration),
    /// The connection is closed without a response.
    Drop,
    /// The connection is reset without a response.
    Reset,
    /// The connection is closed after half of the response.
    Truncate,
    /// 200 with a body that is not JSON.
    Garbage,
    /// Searches and lists of refunds omit what was made within this time, like an index that lags
    /// behind.
    Lag(Duration),
}

impl Fault {
    /// Parses `status 500`, `status 400 code 2001`, `delay 30s`, `stall 30s`, `lag 30s`,
    /// `drop before`, `drop after`, `reset`, `truncate`, `garbage`. `status` and `reset` may end in
    /// `after`: the call then takes effect before its response is lost.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let name = words.next()?;
        let mut next = words.next();
        let kind = match name {
            "status" => {
                let code: u16 = next?.parse().ok()?;
                next = words.next();
                let mut cause = None;
                if next == Some("code") {
                    cause = Some(words.next()?.parse().ok()?);
                    next = words.next();
                }
                Kind::Status(StatusCode::from_u16(code).ok()?, cause)
            }
            "delay" | "stall" | "lag" => {
                let duration = parse_duration(next?)?;
                next = words.next();
                match name {
                    "delay" => Kind::Delay(duration),
                    "stall" => Kind::Stall(duration),
                    _ => Kind::Lag(duration),
                }
            }
            "drop" => Kind::Drop,
            "reset" => Kind::Reset,
            "truncate" => Kind::Truncate,
            "garbage" => Kind::Garbage,
            _ => return None,
        };
        let spoils_the_answer = !matches!(kind, Kind::Status(..) | Kind::Drop | Kind::Reset);
        let is_carried_out = match next {
            None => spoils_the_answer,
            Some("before") => false,
            Some("after") => true,
            Some(_) => return None,
        };
        words.next().is_none().then_some(Self {
            kind,
            is_carried_out,
        })
    }
}

/// Parses `30s`, `250ms`, `2m`.
fn parse_duration(text: &str) -> Option<Duration> {
    let unit_at = text.find(|character: char| !character.is_ascii_digit())?;
    let (count, unit) = text.split_at_checked(unit_at)?;
    let count: u64 = count.parse().ok()?;
    match unit {
        "ms" => Some(Duration::from_millis(count)),
        "s" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_secs(count.checked_mul(60)?)),
        _ => None,
    }
}

/// A fault as requested in the API and shown by it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FaultRequest {
    #[serde(default, rename = "match")]
    pub(crate) matches: Match,
    pub(crate) fault: String,
    #[serde(default = "once")]
    pub(crate) times: u32,
}

/// The calls that a fault applies to. An empty match means all.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Match {
    pub(crate) method: Option<String>,
    /// A path in which `*` matches any text.
    pub(crate) path: Option<String>,
}

const fn once() -> u32 {
    1
}

impl Match {
    fn applies_to(&self, method: &Method, path: &str) -> bool {
        let same_method = |wanted: &String| wanted.eq_ignore_ascii_case(method.as_str());
        self.method.as_ref().is_none_or(same_method)
            && self
                .path
                .as_deref()
                .is_none_or(|pattern| matches_pattern(pattern, path))
    }
}

/// Whether a path matches a pattern.
fn matches_pattern(pattern: &str, path: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == path,
        Some((start, rest)) => path.strip_prefix(start).is_some_and(|path| {
            let ends = path
                .char_indices()
                .map(|(place, _)| place)
                .chain([path.len()]);
            ends.filter_map(|end| path.get(end..))
                .any(|tail| matches_pattern(rest, tail))
        }),
    }
}

/// The pending faults with their requests, and the signal that ends delays and stalls.
#[derive(Default)]
pub(crate) struct Faults {
    requests: Mutex<Vec<(FaultRequest, Fault)>>,
    cleared: watch::Sender<()>,
}

/// Waits until the duration of a delay or stall is over, or all faults are cleared.
pub(crate) struct ClearSignal(watch::Receiver<()>);

impl ClearSignal {
    pub(crate) async fn or_after(mut self, duration: Duration) {
        // An error means that the sandbox is gone, so nothing will be cleared.
        let _cleared_or_over = tokio::time::timeout(duration, self.0.changed()).await;
    }
}

impl Faults {
    /// Adds a fault. Returns `false` when its text cannot be parsed.
    pub(crate) fn add(&self, request: FaultRequest) -> bool {
        let Some(fault) = Fault::parse(&request.fault) else {
            return false;
        };
        if request.times > 0 {
            lock_mutex(&self.requests).push((request, fault));
        }
        true
    }

    /// Removes the pending faults, and ends running delays and stalls.
    pub(crate) fn clear(&self) {
        let mut requests = lock_mutex(&self.requests);
        requests.clear();
        self.cleared.send_replace(());
    }

    pub(crate) fn shown(&self) -> Vec<FaultRequest> {
        lock_mutex(&self.requests)
            .iter()
            .map(|(request, _)| request.clone())
            .collect()
    }

    /// The first fault that applies to this call. Uses up one of its applications.
    pub(crate) fn take(&self, method: &Method, path: &str) -> Option<(Fault, ClearSignal)> {
        let mut faults = lock_mutex(&self.requests);
        let place = faults
            .iter()
            .position(|(request, _)| request.matches.applies_to(method, path))?;
        let (request, fault) = faults.get_mut(place)?;
        let fault = *fault;
        request.times -= 1;
        if request.times == 0 {
            faults.remove(place);
        }
        Some((fault, ClearSignal(self.cleared.subscribe())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_from_their_names() {
        let parse = |text| Fault::parse(text).map(|fault| (fault.kind, fault.is_carried_out));
        assert_eq!(
            parse("status 500"),
            Some((Kind::Status(StatusCode::INTERNAL_SERVER_ERROR, None), false))
        );
        assert_eq!(
            parse("status 500 after"),
            Some((Kind::Status(StatusCode::INTERNAL_SERVER_ERROR, None), true))
        );
        assert_eq!(
            parse("status 400 code 2001 after"),
            Some((Kind::Status(StatusCode::BAD_REQUEST, Some(2001)), true))
        );
        assert_eq!(
            parse("lag 30s"),
            Some((Kind::Lag(Duration::from_secs(30)), true))
        );
        assert_eq!(
            parse("delay 30s"),
            Some((Kind::Delay(Duration::from_secs(30)), true))
        );
        assert_eq!(
            parse("stall 250ms"),
            Some((Kind::Stall(Duration::from_millis(250)), true))
        );
        assert_eq!(parse("drop before"), Some((Kind::Drop, false)));
        assert_eq!(parse("drop after"), Some((Kind::Drop, true)));
        assert_eq!(parse("reset"), Some((Kind::Reset, false)));
        assert_eq!(parse("truncate"), Some((Kind::Truncate, true)));
        assert_eq!(parse("garbage"), Some((Kind::Garbage, true)));
        for text in [
            "",
            "status",
            "status 99999",
            "status 400 code",
            "status 400 2001",
            "lag",
            "delay",
            "delay 3",
            "drop sideways",
            "garbage after all",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_fault_meets_its_calls_so_often_and_no_others() {
        let faults = Faults::default();
        let request = |path: &str, times| FaultRequest {
            matches: Match {
                method: Some("post".to_owned()),
                path: Some(path.to_owned()),
            },
            fault: "drop before".to_owned(),
            times,
        };
        assert!(faults.add(request("/v1/payments/*/refunds", 2)));
        assert!(
            faults
                .take(&Method::GET, "/v1/payments/1/refunds")
                .is_none()
        );
        assert!(faults.take(&Method::POST, "/v1/payments").is_none());
        assert!(
            faults
                .take(&Method::POST, "/v1/payments/1/refunds")
                .is_some()
        );
        assert!(
            faults
                .take(&Method::POST, "/v1/payments/2/refunds")
                .is_some()
        );
        assert!(
            faults
                .take(&Method::POST, "/v1/payments/1/refunds")
                .is_none()
        );
    }
}
