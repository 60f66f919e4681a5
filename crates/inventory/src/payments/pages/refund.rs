//! Refunds a payment fully or partly, in three steps: the amount, a confirmation, the refund. Of the
//! confirmations that were shown before a refund, in however many tabs, only one refunds. If the
//! outcome is unknown, the confirmation is shown again with the same key.

use askama::Template;
use axum::{extract::Path, response::Response};
use db::Money;
use http::StatusCode;
use resource::{Field, price};

use super::{
    super::{
        Failure,
        model::{CheckoutOrder, Payment, PaymentStatus, Refund, RefundStatus},
    },
    CheckoutResult, Id, available, error_text, payment_address,
    payments::{has_no_outcome, order_of, refunded},
    read_amount, require, unavailable, with_order,
};
use crate::{
    access::{Model, Verb},
    page::{
        Form, FormSubmission, Frame, PageResult,
        confirmation::Confirmation,
        flash::{self, Flash},
        see_other,
    },
    payments,
    rest::query::Parameters,
};

/// The field of a confirmation with the last request about the payment that is in the audit log.
const LAST_REQUEST: &str = "last_request";
const REFUNDED: &Field = &price::<Money>("Valor a devolver", "Amount to refund").named("amount");

#[derive(Template)]
#[template(path = "payments/refund.html")]
struct RefundPage<'a> {
    frame: &'a Frame,
    form: &'a Form,
    payment: &'a Payment,
    /// The amount that is not refunded yet, if known.
    left: Option<String>,
    is_outcome_unknown: bool,
    back: String,
}

struct RefundSubject {
    payment: Payment,
    order: Option<CheckoutOrder>,
    back: String,
}

impl RefundSubject {
    async fn read(frame: &Frame, id: &str, parameters: &Parameters) -> Result<Self, Failure> {
        let payment = payments::payment(&frame.state, &frame.caller, id).await?;
        let order = order_of(frame, &payment, parameters).await?;
        Ok(Self {
            back: with_order(payment_address(&payment.id), order.as_ref()),
            payment,
            order,
        })
    }

    /// The amount that is not refunded yet, if that is known.
    fn left(&self) -> Option<Money> {
        let refunded = refunded(&self.payment, self.order.as_ref())?;
        self.payment.transaction_amount.checked_sub(refunded)
    }

    /// Shows the form for the amount.
    async fn ask(&self, frame: &Frame, form: &Form) -> PageResult {
        let entries = payments::audited_requests(&frame.state, &self.payment.id).await?;
        let template = RefundPage {
            frame,
            form,
            payment: &self.payment,
            left: self.left().map(|left| frame.locale.money(left)),
            is_outcome_unknown: has_no_outcome(&entries),
            back: self.back.clone(),
        };
        Ok(frame.show_form(form.is_refused(), template))
    }

    /// The confirmation of an amount, or of the rest, after this request about the payment.
    fn confirmation(
        &self,
        frame: &Frame,
        amount: Option<Money>,
        last_request: &str,
    ) -> Confirmation {
        let written = amount.or_else(|| self.left());
        let what = written.map_or_else(
            || {
                frame
                    .text("tudo o que resta", "everything that is left")
                    .to_owned()
            },
            |amount| frame.locale.money(amount),
        );
        let plain = amount.map(|amount| amount.to_string()).unwrap_or_default();
        let hidden = [
            (LAST_REQUEST, last_request),
            ("how", if amount.is_some() { "part" } else { "all" }),
            ("amount", &plain),
        ];
        let title = frame.text("Devolver o dinheiro?", "Refund this payment?");
        let confirm = format!("{} {what}", frame.text("Sim, devolver", "Yes, refund"));
        let name = format!("{what} · {}", self.payment.payer.email);
        let sentence = frame.text(
            "O valor volta para quem pagou, no prazo do banco ou do cartão. Isto não pode ser desfeito.",
            "The money goes back to the buyer; how long it takes depends on the bank or card. This cannot be undone.",
        );
        Confirmation {
            hidden: hidden
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            icon: "",
            ..Confirmation::new((title, confirm), name, sentence, self.back.clone())
        }
    }
}

/// `GET /payments/received/{id}/refund/`
pub(super) async fn ask(frame: Frame, Path(id): Id, parameters: Parameters) -> CheckoutResult {
    require(&frame, Verb::Refund, Model::Payment)?;
    let subject = RefundSubject::read(&frame, &id, &parameters);
    let subject = available(&frame, subject).await?;
    if subject.payment.status != PaymentStatus::Approved {
        return Ok(see_other(&subject.back));
    }
    Ok(subject.ask(&frame, &Form::new().with("how", "all")).await?)
}

/// `POST /payments/received/{id}/refund/`: the confirmation, and then the refund.
pub(super) async fn refund(
    frame: Frame,
    Path(id): Id,
    parameters: Parameters,
    post: FormSubmission,
) -> CheckoutResult {
    require(&frame, Verb::Refund, Model::Payment)?;
    let mut form = post.form;
    let subject = RefundSubject::read(&frame, &id, &parameters);
    let subject = available(&frame, subject).await?;
    let is_part = form.value("how") == "part";
    if !is_part && !form.value(REFUNDED.name).trim().is_empty() {
        form.set("how", "part");
        let check = frame.text(
            "Com um valor digitado, só esta parte é devolvida. Para devolver tudo, apague o valor.",
            "With an amount entered, only this part is refunded. To refund everything, clear it.",
        );
        form.complain_of(REFUNDED, check);
    }
    // Without an amount, the rest is refunded.
    let amount = if is_part {
        let invalid = frame.text(
            "Digite um valor em reais, como 10,50.",
            "Enter an amount, such as 10.50.",
        );
        read_amount(&frame, &mut form, REFUNDED, invalid)
    } else {
        None
    };
    // Only before the confirmation: a retry of a refund that was made leaves less than it asks for.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let confirmed = form.value(LAST_REQUEST).to_owned();
    let confirmed = Some(confirmed).filter(|last| !last.is_empty() && last.bytes().all(is_plain));
    let most = subject.left().unwrap_or(subject.payment.transaction_amount);
    if confirmed.is_none() && amount.is_some_and(|amount| amount > most) {
        let text = frame.text(
            "O máximo que pode ser devolvido é",
            "The most that can be refunded is",
        );
        form.complain_of(REFUNDED, format!("{text} {}.", frame.locale.money(most)));
    }
    if form.is_refused() {
        return Ok(subject.ask(&frame, &form).await?);
    }
    let Some(last_request) = confirmed else {
        let entries = payments::audited_requests(&frame.state, &id).await?;
        // The audit log finds requests about payments whose id is a number.
        let last_request = match id.parse::<i64>() {
            Ok(_) => entries.first().map_or(0, |entry| entry.id).to_string(),
            Err(_) => frame.once_only_token(),
        };
        let confirmation = subject.confirmation(&frame, amount, &last_request);
        return Ok(confirmation.show(&frame));
    };
    let key = format!("refund-{id}-{last_request}");
    match payments::refund(&frame.state, &frame.caller, &id, amount, &key).await {
        Ok(refund) => Ok(done(&frame, &refund, &subject.back)),
        Err(Failure::Refused(error)) => {
            let text = if error.is_of_another_request() {
                frame.text(
                    "Outra devolução deste pagamento foi pedida nesse meio-tempo. Confira e envie de novo.",
                    "Another refund of this payment has been asked for meanwhile. Check and send it again.",
                )
            } else {
                error_text(&frame, &error)
            };
            text.clone_into(&mut form.problem);
            Ok(subject.ask(&frame, &form).await?)
        }
        Err(Failure::Unanswered(_)) => {
            let confirmation = subject.confirmation(&frame, amount, &last_request);
            Ok(unknown_outcome(&frame, confirmation))
        }
        Err(failure) => Ok(unavailable(&frame, failure)),
    }
}

fn done(frame: &Frame, refund: &Refund, back: &str) -> Response {
    let amount = frame.locale.money(refund.amount);
    let flash = match refund.status {
        RefundStatus::Approved => Flash::success(format!(
            "{}: {amount}.",
            frame.text("Devolvido", "Refunded")
        )),
        RefundStatus::InProcess => Flash::warning(format!(
            "{} {amount}.",
            frame.text(
                "O provedor ainda está processando a devolução de",
                "The provider is still processing the refund of"
            )
        )),
        RefundStatus::Rejected => Flash::warning(format!(
            "{} {amount}.",
            frame.text(
                "O provedor recusou a devolução de",
                "The provider refused the refund of"
            )
        )),
    };
    flash::leave(see_other(back), flash)
}

/// Shows the confirmation again with the same key, so that a retry refunds only once.
fn unknown_outcome(frame: &Frame, confirmation: Confirmation) -> Response {
    let title = frame.text(
        "O resultado ainda não é conhecido",
        "The result is not known yet",
    );
    let sentence = frame.text(
        "Verificar repete o mesmo pedido: o dinheiro é devolvido uma só vez.",
        "Checking repeats the same request: the money is refunded only once.",
    );
    let confirm = frame.text("Verificar o resultado", "Check the result");
    let warning = frame.text(
        "O serviço de pagamentos não respondeu a tempo. O dinheiro pode ou não ter sido devolvido.",
        "The payment service did not respond in time. The money may or may not have been refunded.",
    );
    let confirmation = Confirmation {
        title: title.to_owned(),
        sentence: sentence.to_owned(),
        confirm: confirm.to_owned(),
        warning: warning.to_owned(),
        ..confirmation
    };
    confirmation.show_with(StatusCode::BAD_GATEWAY, frame)
}
