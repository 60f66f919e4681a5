//! The texts of mails: plain text and HTML, in the language of the shop. Titles are user input:
//! they are escaped in HTML, and line breaks are removed, so that they cannot inject headers.

use askama::Template;
use db::Timestamp;
use delivery::mail::{MailTemplates, NewMail};
use serde::Deserialize;
use web::locale::Locale;

use super::{Mail, ReportSection, ReportText};
use crate::{
    Config,
    events::{DisabledReason, EventType},
    level::LowStock,
};

/// The most characters of a title in a subject.
const MAX_TITLE: usize = 100;

#[derive(Debug, Clone)]
pub(super) struct Composer {
    mail: Mail,
    locale: Locale,
    /// The public address of the service, if it is configured.
    home: Option<String>,
}

/// The payload of [`EventType::BecameLow`].
#[derive(Debug, Clone, Deserialize)]
struct BecameLow {
    data: LowStock,
}

#[derive(Template)]
#[template(path = "mail/message.html")]
struct MailPage<'a> {
    language: &'a str,
    subject: &'a str,
    paragraphs: &'a [String],
    sections: &'a [ReportSection],
    link: Option<(&'a str, &'a str)>,
    reason: &'a str,
}

/// A mail without its recipient.
struct MailContent {
    subject: String,
    paragraphs: Vec<String>,
    sections: Vec<ReportSection>,
    /// The text and the path of the link.
    link: (&'static str, String),
}

impl Composer {
    /// `None` without mail settings.
    pub(super) fn of(config: &Config) -> Option<Self> {
        Some(Self {
            mail: config.mail.clone()?,
            locale: config.language,
            home: config.public_url.as_ref().map(|url| url.join("")),
        })
    }

    /// The digest of a day for each recipient: the lowest products, of `count` in total.
    pub(super) fn digest(
        &self,
        (day, now): (&str, Timestamp),
        low: &[LowStock],
        count: u64,
    ) -> Vec<NewMail> {
        let (total, date) = (self.locale.number(count), self.locale.date(now));
        let line = |one: &LowStock| {
            let title = one_line(&one.product.title);
            let (left, threshold) = (self.left(one.quantity), self.locale.number(one.threshold));
            self.text(
                format!("{title}: {left}, mínimo {threshold}"),
                format!("{title}: {left}, threshold {threshold}"),
            )
        };
        let unlisted = count.saturating_sub(u64::try_from(low.len()).unwrap_or(u64::MAX));
        let others = (unlisted > 0).then(|| {
            let others = self.locale.number(unlisted);
            self.text(format!("e mais {others}"), format!("and {others} more"))
        });
        let products = self.text(
            if count == 1 { "produto" } else { "produtos" },
            if count == 1 { "product" } else { "products" },
        );
        let content = MailContent {
            subject: self.text(
                format!("Resumo do dia: {total} {products} com estoque baixo"),
                format!("Daily digest: {total} {products} low on stock"),
            ),
            paragraphs: vec![self.text(
                format!("Produtos abaixo do mínimo em {date}: {total}. Os mais baixos primeiro:"),
                format!("Products below their threshold on {date}: {total}. Lowest first:"),
            )],
            sections: vec![ReportSection {
                heading: String::new(),
                items: low.iter().map(line).chain(others).collect(),
            }],
            link: (self.text("Ver o estoque", "See the stock"), "/".to_owned()),
        };
        self.address(&format!("digest:{day}"), "digest", &content)
    }

    /// The weekly report for each recipient. `id` is the id of the analysis.
    pub(super) fn report(&self, week: &str, id: i64, report: ReportText) -> Vec<NewMail> {
        let content = MailContent {
            subject: report.heading,
            paragraphs: vec![report.opening],
            sections: report.sections,
            link: (
                self.text("Ver o relatório", "See the report"),
                format!("/analyses/{id}/"),
            ),
        };
        self.address(&format!("report:{week}"), "report", &content)
    }

    /// The remaining quantity in words.
    fn left(&self, quantity: i64) -> String {
        let number = self.locale.number(quantity);
        match (self.locale, quantity) {
            (Locale::PtBr, 0) => "esgotado".to_owned(),
            (Locale::PtBr, 1) => format!("resta {number}"),
            (Locale::PtBr, _) => format!("restam {number}"),
            (Locale::En, 0) => "out of stock".to_owned(),
            (Locale::En, _) => format!("{number} left"),
        }
    }

    /// The footer: the reason for the mail, and how to unsubscribe.
    const fn reason(&self) -> &'static str {
        self.locale.text(
            "Seu endereço está na lista de avisos de estoque da loja. Quem administra o sistema pode mudar isso.",
            "Your address is on the list for the shop's stock alerts. The shop's system administrator can change that.",
        )
    }

    fn text<T>(&self, portuguese: T, english: T) -> T {
        self.locale.choose(portuguese, english)
    }

    /// One mail for each recipient.
    fn address(&self, key: &str, kind: &'static str, content: &MailContent) -> Vec<NewMail> {
        let link = self
            .home
            .as_ref()
            .map(|home| format!("{}{}", home.trim_end_matches('/'), content.link.1));
        let mut plain = content.paragraphs.join("\n\n");
        for section in &content.sections {
            section.append_to(&mut plain);
        }
        if let Some(link) = &link {
            plain.push_str("\n\n");
            plain.push_str(link);
        }
        // Mail programs treat the text after the line "-- " as a signature.
        let reason = self.reason();
        plain.push_str("\n\n-- \n");
        plain.push_str(reason);
        plain.push('\n');
        let html = MailPage {
            language: self.text("pt-BR", "en"),
            subject: &content.subject,
            paragraphs: &content.paragraphs,
            sections: &content.sections,
            link: link.as_deref().map(|link| (content.link.0, link)),
            reason,
        };
        // Rendering to memory does not fail, and the plain text has the same content.
        let html = html.render().unwrap_or_default();
        let to = self.mail.to.iter().map(|recipient| NewMail {
            key: format!("{key}:{recipient}"),
            kind,
            recipient: recipient.clone(),
            subject: content.subject.clone(),
            plain: plain.clone(),
            html: html.clone(),
        });
        to.collect()
    }
}

impl MailTemplates for Composer {
    fn is_mailed(&self, kind: &str) -> bool {
        kind == EventType::BecameLow.name()
    }

    /// The low-stock alert for each recipient.
    fn for_event(&self, id: i64, payload: &str) -> Vec<NewMail> {
        let Ok(BecameLow { data: low }) = serde_json::from_str(payload) else {
            return Vec::new();
        };
        let title = one_line(&low.product.title);
        let (left, threshold) = (self.left(low.quantity), self.locale.number(low.threshold));
        let content = MailContent {
            subject: self.text(
                format!("Estoque baixo: {title}"),
                format!("Low stock: {title}"),
            ),
            paragraphs: vec![self.text(
                format!("{title}: {left}; o mínimo é {threshold}."),
                format!("{title}: {left}; the threshold is {threshold}."),
            )],
            sections: Vec::new(),
            link: (
                self.text("Ver o produto", "See the product"),
                format!("/products/{}/", low.product.id),
            ),
        };
        self.address(&format!("low:{id}"), "low_stock", &content)
    }

    fn for_disabled_endpoint(
        &self,
        id: i64,
        url: &str,
        reason: DisabledReason,
        now: Timestamp,
    ) -> Vec<NewMail> {
        let url = one_line(url);
        let why = match reason {
            DisabledReason::Gone => {
                self.text("respondeu 410 (não existe mais)", "it answered 410 (gone)")
            }
            _ => self.text("falhou por dias seguidos", "it has failed for days"),
        };
        let content = MailContent {
            subject: self
                .text(
                    "Um destino de webhooks foi desativado",
                    "A webhook endpoint was disabled",
                )
                .to_owned(),
            paragraphs: vec![
                self.text(
                    format!("O destino {url} não recebe mais eventos: {why}."),
                    format!("The endpoint {url} no longer receives events: {why}."),
                ),
                self.text(
                    "Os eventos pendentes ficam guardados e são enviados quando o destino for reativado.",
                    "Pending events are kept and sent when the endpoint is enabled again.",
                )
                .to_owned(),
            ],
            sections: Vec::new(),
            link: (
                self.text("Ver os webhooks", "See webhooks"),
                "/webhooks/".to_owned(),
            ),
        };
        self.address(
            &format!("endpoint:{id}:{}", now.micros()),
            "endpoint_disabled",
            &content,
        )
    }
}

/// Joins the lines of a text, removes control characters, and cuts it to [`MAX_TITLE`].
fn one_line(text: &str) -> String {
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let line = words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    if line.chars().count() > MAX_TITLE {
        line.chars().take(MAX_TITLE).chain(['…']).collect()
    } else {
        line
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn composer(locale: Locale) -> Composer {
        let config = Config {
            mail: Some(Mail::to(
                "shop@example.com",
                &["ana@example.com", "rui@example.com"],
            )),
            language: locale,
            public_url: "https://shop.example".parse().ok(),
            ..Config::default()
        };
        Composer::of(&config).unwrap()
    }

    fn became_low(title: &str) -> String {
        json!({"type": "product.became_low", "timestamp": "2026-11-20T12:00:00Z",
               "data": {"product": {"id": 7, "title": title}, "quantity": 3, "threshold": 1000}})
        .to_string()
    }

    #[test]
    fn what_is_left_is_told_in_the_number_of_its_noun_and_an_empty_shelf_by_its_name() {
        let left = |locale| [0, 1, 2, 1000].map(|quantity| composer(locale).left(quantity));
        assert_eq!(
            left(Locale::PtBr),
            ["esgotado", "resta 1", "restam 2", "restam 1.000"]
        );
        assert_eq!(
            left(Locale::En),
            ["out of stock", "1 left", "2 left", "1,000 left"]
        );
    }

    #[test]
    fn a_digest_tells_its_date_as_people_write_it_and_how_many_it_does_not_list() {
        let low = [LowStock {
            product: crate::rest::json::Titled {
                id: 7,
                title: "Café".to_owned(),
            },
            quantity: 1,
            threshold: 10,
        }];
        let now = Timestamp::parse("2026-11-23T10:30:00Z").unwrap();
        let plain = |locale, count| {
            let mails = composer(locale).digest(("2026-11-23", now), &low, count);
            mails[0].plain.clone()
        };
        assert!(plain(Locale::PtBr, 103).starts_with(
            "Produtos abaixo do mínimo em 23/11/2026: 103. Os mais baixos primeiro:\n- Café: resta 1, mínimo 10\n- e mais 102\n"
        ));
        assert!(plain(Locale::En, 2).contains(
            "on 23 Nov 2026: 2. Lowest first:\n- Café: 1 left, threshold 10\n- and 1 more\n"
        ));
        assert!(!plain(Locale::PtBr, 1).contains("e mais"));
    }

    #[test]
    fn a_title_can_bring_neither_a_header_nor_markup() {
        let mails = composer(Locale::En).for_event(
            1,
            &became_low("A\r\nBcc: all@example.com\u{2028}<script>alert(1)</script>"),
        );
        assert_eq!(
            mails[0].subject,
            "Low stock: A Bcc: all@example.com <script>alert(1)</script>"
        );
        assert!(!mails[0].html.contains("<script>"), "{}", mails[0].html);
        let long = composer(Locale::En).for_event(1, &became_low(&"x".repeat(500)));
        assert_eq!(long[0].subject.chars().count(), "Low stock: ".len() + 101);
    }
}
