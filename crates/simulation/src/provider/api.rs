//! The provider's API, as the `provider-api` documents describe it, and its faults.

use std::time::Duration;

use db::{Money, Timestamp};
use serde_json::{Value, json};

use super::{Memory, Moment, Payment, Provider, StoredAnswer, View, answer};

/// A received call.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedCall {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) body: Vec<u8>,
    pub(crate) key: String,
}

/// A response.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) body: Vec<u8>,
}

/// How long a repeated call is refused as "the same request in the last minute".
const LAST_MINUTE: Duration = Duration::from_secs(60);
/// The refusals of a repeated call: with its own code, with codes of gateway failures, with a code
/// that judges data, and without a code.
const REPETITIONS: [(u16, &str); 6] = [
    (400, "2001"),
    (400, "2004"),
    (400, "1"),
    (400, ""),
    (409, ""),
    (423, ""),
];
/// The code for a card token that was used, has expired or is unknown.
const SPENT_TOKEN: &str = "3003";

impl ReceivedCall {
    /// The call in one line: path, key and subject.
    pub(crate) fn summary(&self) -> String {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let mut about = String::new();
        for name in ["description", "token", "amount", "status"] {
            if let Some(value) = body.get(name) {
                about = format!("{about} {name}={value}");
            }
        }
        if let Some(payer) = body.get("payer") {
            about = format!("{about} payer={}", member(payer, "email"));
        }
        let key = self.key.get(..8).unwrap_or_default();
        format!("{} {} key={key}{about}", self.method, self.path)
    }
}

impl Reply {
    /// The response in one line: its payments and refunds, or why it refuses.
    pub(crate) fn summary(&self) -> String {
        let body: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let one = |value: &Value| {
            let words = ["id", "status", "status_detail"];
            let members = words.iter().filter_map(|name| value.get(name));
            members.map(Value::to_string).collect::<Vec<_>>().join(" ")
        };
        let summary = match (&body, member(&body, "results"), member(&body, "cause")) {
            (Value::Array(all), ..) | (_, Value::Array(all), _) => {
                let all: Vec<String> = all.iter().map(one).collect();
                format!("[{}]", all.join(", "))
            }
            (_, _, Value::Array(causes)) => {
                format!(
                    "code {}",
                    causes
                        .first()
                        .map_or(&Value::Null, |cause| member(cause, "code"))
                )
            }
            _ => one(&body),
        };
        format!("{} {summary}", self.status)
    }

    fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            retry_after: None,
            body: body.to_string().into_bytes(),
        }
    }

    fn error(status: u16, code: &str) -> Self {
        Self {
            retry_after: (status == 429).then_some(Duration::from_secs(5)),
            ..Self::json(status, &answer::error(status, code))
        }
    }
}

impl Provider {
    /// Responds to a call, with or without carrying it out.
    pub(crate) fn answer(&mut self, call: &ReceivedCall, at: Moment<'_>) -> Reply {
        if at.happens(|faults| faults.throttled) {
            return Reply::error(429, "");
        }
        if at.happens(|faults| faults.unauthorised) {
            return Reply::error(401, "");
        }
        if at.happens(|faults| faults.server_errors / 2) {
            return Reply::error(at.dice.one_of(&[500, 502, 503]), "");
        }
        if call.method == "POST" && at.happens(|faults| faults.gateway_failures / 2) {
            return Reply::error(400, at.dice.one_of(&["2004", "2007"]));
        }
        let reply = self.route(call, at);
        if reply.status < 300 && at.happens(|faults| faults.server_errors / 2) {
            return Reply::error(at.dice.one_of(&[500, 502, 504]), "");
        }
        if call.method == "POST"
            && reply.status < 300
            && at.happens(|faults| faults.gateway_failures / 2)
        {
            return Reply::error(400, at.dice.one_of(&["2004", "2007"]));
        }
        reply
    }

    fn route(&mut self, call: &ReceivedCall, at: Moment<'_>) -> Reply {
        let (path, query) = call.path.split_once('?').unwrap_or((&call.path, ""));
        let parts: Vec<&str> = path.split('/').skip(2).collect();
        let body: Value = serde_json::from_slice(&call.body).unwrap_or_default();
        match (call.method.as_str(), parts.as_slice()) {
            ("POST", ["card_tokens"]) => self.tokenise(at),
            ("POST", ["payments"]) => self.pay(call, &body, at),
            ("GET", ["payments", "search"]) => self.search(query, at),
            ("GET", ["payments", id]) => self.read(id),
            ("PUT", ["payments", id]) => self.cancel(id, at),
            ("GET", ["payments", id, "refunds"]) => match self.named(id) {
                Some(payment) => Reply::json(200, &answer::listed(&payment.view, at)),
                None => Reply::error(404, "2000"),
            },
            ("POST", ["payments", id, "refunds"]) => self.refund(call, id, &body, at),
            _ => Reply::error(404, ""),
        }
    }

    fn named(&self, id: &str) -> Option<&Payment> {
        self.find(id.parse().ok()?)
    }

    fn tokenise(&mut self, at: Moment<'_>) -> Reply {
        let token = format!("token{}-{:08x}", self.tokens.len(), at.dice.below(1 << 32));
        self.tokens.insert(token.clone(), false);
        Reply::json(201, &json!({ "id": token, "status": "active" }))
    }

    /// The stored result of a key, while the provider stores it, or the refusal of a repeated call.
    fn repeated(
        &mut self,
        call: &ReceivedCall,
        token: Option<&str>,
        at: Moment<'_>,
    ) -> Result<Option<StoredAnswer>, Reply> {
        let name = format!("{} {}", call.path, call.key);
        let memory = at.faults.map(|faults| faults.key_memory);
        let Some(known) = self.keys.get(&name) else {
            return Ok(None);
        };
        if memory.is_some_and(|memory| known.at + memory < at.now) {
            self.keys.remove(&name);
            return Ok(None);
        }
        if at.now < known.at + LAST_MINUTE && at.happens(|faults| faults.refused_repetitions) {
            let (status, code) = at.dice.one_of(&REPETITIONS);
            return Err(Reply::error(status, code));
        }
        if token.is_some() && at.happens(|faults| faults.spent_tokens) {
            return Err(Reply::error(400, SPENT_TOKEN));
        }
        Ok(Some(known.result.clone()))
    }

    fn remember(&mut self, call: &ReceivedCall, result: StoredAnswer, now: Timestamp) {
        let name = format!("{} {}", call.path, call.key);
        self.keys.insert(name, Memory { at: now, result });
    }

    fn pay(&mut self, call: &ReceivedCall, body: &Value, at: Moment<'_>) -> Reply {
        let token = member(body, "token").as_str();
        match self.repeated(call, token, at) {
            Err(refusal) => return refusal,
            Ok(Some(StoredAnswer::Payment(id))) => return self.read(&id.to_string()),
            Ok(Some(StoredAnswer::Refusal(status, code))) => return Reply::error(status, code),
            Ok(Some(StoredAnswer::Refund) | None) => {}
        }
        if at.happens(|faults| faults.refusals) {
            let code = at.dice.one_of(&["2067", "4037", "3012"]);
            self.remember(call, StoredAnswer::Refusal(400, code), at.now);
            return Reply::error(400, code);
        }
        if let Some(token) = token {
            match self.tokens.get_mut(token) {
                Some(is_used @ false) => *is_used = true,
                _ => return Reply::error(400, SPENT_TOKEN),
            }
        }
        let id = self.make(new_payment(body, token.is_some(), at), at);
        self.remember(call, StoredAnswer::Payment(id), at.now);
        let made = self.read(&id.to_string());
        Reply {
            status: 201,
            ..made
        }
    }

    fn read(&self, id: &str) -> Reply {
        match self.named(id) {
            Some(payment) => Reply::json(200, &answer::payment(payment, &payment.view)),
            None => Reply::error(404, "2000"),
        }
    }

    fn cancel(&mut self, id: &str, at: Moment<'_>) -> Reply {
        let number = id.parse().unwrap_or(0);
        if self.named(id).is_none() {
            return Reply::error(404, "2000");
        }
        if self.decide(number, "cancelled", "by_collector", at) {
            self.read(id)
        } else {
            Reply::error(400, "2018")
        }
    }

    fn refund(&mut self, call: &ReceivedCall, id: &str, body: &Value, at: Moment<'_>) -> Reply {
        match self.repeated(call, None, at) {
            Err(refusal) => return refusal,
            Ok(Some(StoredAnswer::Refusal(status, code))) => return Reply::error(status, code),
            // The provider does not say which refund it made before.
            Ok(Some(_)) => {
                return Reply {
                    status: 200,
                    retry_after: None,
                    body: Vec::new(),
                };
            }
            Ok(None) => {}
        }
        let cents = match member(body, "amount") {
            Value::Number(amount) => Some(cents(&amount.to_string())),
            _ => None,
        };
        let mut refund = self.next_refund(at, true);
        if at.dice.happens(150) {
            refund.status = "in_process";
        }
        let made = refund.id;
        let number = id.parse().unwrap_or(0);
        if at.happens(|faults| faults.refusals)
            || !self.change(number, at, |payment| payment.add(refund, cents))
        {
            self.refused_refunds.insert(number);
            self.remember(call, StoredAnswer::Refusal(400, "2018"), at.now);
            return Reply::error(400, "2018");
        }
        self.remember(call, StoredAnswer::Refund, at.now);
        let refunds = self
            .find(number)
            .map_or(&[][..], |payment| &payment.view.refunds);
        match refunds.iter().find(|refund| refund.id == made) {
            Some(refund) => Reply::json(201, &answer::refund(refund)),
            None => Reply::error(500, ""),
        }
    }

    /// Searches payments by our reference, or by the time of their creation or change.
    fn search(&self, query: &str, at: Moment<'_>) -> Reply {
        let parameter = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.replace("%3A", ":").replace("%2B", "+"))
        };
        let number = |name: &str, default| {
            parameter(name)
                .and_then(|text| text.parse().ok())
                .unwrap_or(default)
        };
        let time = |name: &str| parameter(name).and_then(|text| Timestamp::parse(&text).ok());
        let (reference, status) = (parameter("external_reference"), parameter("status"));
        let (begin, end) = (time("begin_date"), time("end_date"));
        let is_by_change = parameter("range").as_deref() == Some("date_last_updated");
        let when = |payment: &Payment, view: &View| {
            if is_by_change {
                view.updated
            } else {
                payment.created
            }
        };
        let mut found: Vec<(&Payment, &View)> = self
            .payments
            .iter()
            .filter_map(|payment| Some((payment, payment.searched(at.now)?)))
            .filter(|(payment, view)| {
                !(is_by_change && at.misses_changes) || view.updated == payment.created
            })
            .filter(|(payment, _)| {
                reference
                    .as_ref()
                    .is_none_or(|wanted| *wanted == payment.reference)
            })
            .filter(|(_, view)| status.as_ref().is_none_or(|wanted| wanted == view.status))
            .filter(|(payment, view)| begin.is_none_or(|begin| when(payment, view) >= begin))
            .filter(|(payment, view)| end.is_none_or(|end| when(payment, view) <= end))
            .collect();
        found.sort_by_key(|(payment, view)| (when(payment, view), payment.id));
        if parameter("criteria").as_deref() != Some("asc") {
            found.reverse();
        }
        let (offset, limit) = (number("offset", 0), number("limit", 30));
        let page = found.iter().skip(offset).take(limit);
        let results: Vec<Value> = page
            .map(|(payment, view)| answer::payment(payment, view))
            .collect();
        Reply::json(
            200,
            &json!({
                "paging": { "total": found.len(), "offset": offset, "limit": limit },
                "results": results,
            }),
        )
    }
}

fn new_payment(body: &Value, is_card: bool, at: Moment<'_>) -> Payment {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (status, detail) = match at.dice.below(100) {
        _ if !is_card => ("pending", "pending_waiting_transfer"),
        0..70 => ("approved", "accredited"),
        70..85 => ("in_process", "pending_review_manual"),
        _ => ("rejected", "cc_rejected_other_reason"),
    };
    Payment {
        id: 0,
        reference: text(member(body, "external_reference")),
        description: text(member(body, "description")),
        payer: text(member(member(body, "payer"), "email")),
        lapses: member(body, "date_of_expiration")
            .as_str()
            .and_then(|text| Timestamp::parse(text).ok()),
        method: text(member(body, "payment_method_id")),
        cents: cents(&member(body, "transaction_amount").to_string()),
        created: at.now,
        view: View {
            status,
            detail,
            approved: (status == "approved").then_some(at.now),
            updated: at.now,
            refunds: Vec::new(),
        },
        was_charged: false,
        is_paid_all_the_same: false,
        beside: None,
        is_told: false,
        history: Vec::new(),
    }
}

/// A member of an object. Null if it is missing.
pub(crate) fn member<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.get(name).unwrap_or(&Value::Null)
}

fn cents(text: &str) -> i64 {
    Money::parse(text)
        .ok()
        .and_then(|money| i64::try_from(money.cents()).ok())
        .unwrap_or_default()
}
