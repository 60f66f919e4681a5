//! Receipts: mail to buyers about approved payments, if the shop sends mail. `delivery` sends it.
//! A receipt is plain text and HTML, in the language of the payment page.

use askama::Template;
use brazil::NETWORKS;
use db::{Error, Money, Timestamp, Tx};
use delivery::mail::NewMail;
use web::locale::Locale;

use crate::config::Config;
use crate::orders::{self, LockedOrder, Order};
use crate::payments::{self, CardFacts, Payment};
use crate::request::MethodKind;
use crate::request::text::is_email;
use crate::shop::Shop;
use crate::webhooks::SERVICE;

/// Queues the receipt of the payment in `row`, in the transaction that stores its approval. A
/// payment gets one receipt, however often its approval is reported.
pub(crate) async fn queue(
    tx: &mut Tx,
    config: &Config,
    (row, payment): (i64, &Payment),
    order: Option<&LockedOrder>,
    now: Timestamp,
) -> Result<(), Error> {
    // The provider may report another address than the validated one.
    if config.receipts.is_none() || !is_email(&payment.payer.email) {
        return Ok(());
    }
    let order = match order {
        Some(order) => orders::find_by_row(tx, order.row).await?,
        None => None,
    };
    let facts = Facts {
        shop: &config.shop,
        payment,
        order: order.as_ref(),
        approved_at: payments::approved_at(payment.date_approved.as_deref(), now),
        locale: payments::find_language(tx, row).await?,
    };
    let mail = facts.mail(format!("receipt:{row}"));
    delivery::mail::queue(tx, &SERVICE, &mail, now)
        .await
        .map(drop)
}

/// The facts of a receipt.
struct Facts<'a> {
    shop: &'a Shop,
    payment: &'a Payment,
    order: Option<&'a Order>,
    approved_at: Timestamp,
    locale: Locale,
}

#[derive(Template)]
#[template(path = "checkout/receipt.html")]
struct Html<'a> {
    language: &'a str,
    subject: &'a str,
    opening: &'a [String],
    facts: &'a [(&'static str, String)],
    items: &'a [String],
    closing: &'a [String],
    reason: &'a str,
}

impl Facts<'_> {
    /// The mail to the payer.
    fn mail(&self, key: String) -> NewMail {
        let (amount, shop) = (self.locale.money(self.payment.amount), &self.shop.name);
        let subject = self.text(
            format!("Comprovante: {amount} para {shop}"),
            format!("Receipt: {amount} to {shop}"),
        );
        let (opening, facts, items, closing) =
            (self.opening(), self.facts(), self.items(), self.closing());
        let reason = self.locale.text(
            "Você recebe este e-mail porque o seu endereço foi informado no pagamento. Não é um documento fiscal.",
            "You get this e-mail because your address was given with the payment. It is not a tax document.",
        );
        let html = Html {
            language: self.locale.tag(),
            subject: &subject,
            opening: &opening,
            facts: &facts,
            items: &items,
            closing: &closing,
            reason,
        };
        let lines = facts.iter().map(|(name, value)| format!("{name}: {value}"));
        let list = items.iter().map(|item| format!("- {item}"));
        let paragraphs = [
            opening.join("\n\n"),
            lines.collect::<Vec<_>>().join("\n"),
            list.collect::<Vec<_>>().join("\n"),
            closing.join("\n\n"),
            // Mail programs treat the line "-- " as the start of a signature.
            format!("-- \n{reason}\n"),
        ];
        let paragraphs = paragraphs.iter().filter(|text| !text.is_empty());
        NewMail {
            key,
            kind: "receipt",
            recipient: self.payment.payer.email.clone(),
            plain: paragraphs
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join("\n\n"),
            // Writing to memory does not fail. Without HTML, the plain text has the same content.
            html: html.render().unwrap_or_default(),
            subject,
        }
    }

    fn opening(&self) -> Vec<String> {
        let shop = &self.shop.name;
        let approved = self.text(
            format!("Seu pagamento para {shop} foi aprovado."),
            format!("Your payment to {shop} was approved."),
        );
        let test = self.locale.text(
            "Modo de teste: nenhum dinheiro foi movido.",
            "Test mode: no money was moved.",
        );
        let test = self.shop.is_test.then(|| test.to_owned());
        std::iter::once(approved).chain(test).collect()
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let (payment, locale) = (self.payment, self.locale);
        let facts = [
            (("Valor", "Amount"), Some(locale.money(payment.amount))),
            (("Data", "Date"), Some(locale.date_time(self.approved_at))),
            (
                ("Forma de pagamento", "Payment method"),
                Some(self.method()),
            ),
            (
                ("Descrição", "Description"),
                Some(payment.description.clone()),
            ),
            (
                ("Pedido", "Order"),
                self.order.map(|order| order.number().to_owned()),
            ),
            (
                ("Número do pagamento", "Payment number"),
                Some(payment.id.clone()),
            ),
        ];
        let fact =
            |((portuguese, english), value): ((&'static str, &'static str), Option<String>)| {
                Some((locale.text(portuguese, english), value?))
            };
        facts.into_iter().filter_map(fact).collect()
    }

    fn method(&self) -> String {
        match (&self.payment.card, self.payment.method) {
            (Some(card), _) => self.card(card),
            (None, MethodKind::Card) => self.locale.text("Cartão", "Card").to_owned(),
            (None, MethodKind::Pix) => "Pix".to_owned(),
            (None, MethodKind::Boleto) => "Boleto".to_owned(),
        }
    }

    fn card(&self, card: &CardFacts) -> String {
        let network = NETWORKS
            .iter()
            .find(|rules| rules.network.id() == self.payment.provider_method)
            .map_or("", |rules| rules.name);
        let (last, times) = (&card.last_four_digits, card.installments);
        let mut text = self.text(
            format!("Cartão {network} final {last}"),
            format!("{network} card ending in {last}"),
        );
        if times > 1 {
            text.push_str(&self.text(
                format!(", em {times} vezes"),
                format!(", in {times} installments"),
            ));
        }
        text
    }

    fn items(&self) -> Vec<String> {
        let items = self.order.map(|order| order.items.as_slice());
        items
            .unwrap_or_default()
            .iter()
            .map(|item| {
                let sum = self.locale.money(item.sum().unwrap_or(Money::ZERO));
                let quantity = self.locale.number(item.quantity);
                format!("{quantity} × {}: {sum}", item.title)
            })
            .collect()
    }

    fn closing(&self) -> Vec<String> {
        let contact = self.shop.contact.as_ref();
        let words = |contact| {
            self.text(
                format!("Dúvidas? Fale com a loja: {contact}"),
                format!("Questions? Contact the shop: {contact}"),
            )
        };
        contact.map(words).into_iter().collect()
    }

    fn text(&self, portuguese: String, english: String) -> String {
        match self.locale {
            Locale::PtBr => portuguese,
            Locale::En => english,
        }
    }
}
