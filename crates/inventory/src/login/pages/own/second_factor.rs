//! `/account/second-factor/`: turns the second factor on and off, and shows recovery codes once.

use askama::Template;
use axum::response::Response;
use resource::{Field, FieldOf, text};

use super::WRONG_PASSWORD;
use crate::{
    accounts::{
        second_factor as factor,
        second_factor::{
            settings::{self, ChangeRefused, CodesRequest, NewCodes, WRONG_CODE},
            totp::TotpSecret,
        },
        session,
    },
    login::api::MAX_TEXT,
    page::{
        Form, FormSubmission, Frame, PageResult, flash, form_token, prevent_caching, see_other,
    },
    rest::Refusal,
};

const HERE: &str = "/account/second-factor/";

/// The message if the second factor is mandatory.
const MANDATORY: (&str, &str) = (
    "Esta conta precisa ter a verificação em duas etapas.",
    "This account must have two-step verification.",
);

/// The fields of a form. The page has several forms.
#[derive(Clone, Copy)]
struct Fields {
    password: &'static Field,
    code: &'static Field,
}

/// The forms that turn the second factor on and renew the recovery codes.
const ON: Fields = Fields {
    password: &password().named("password"),
    code: &code().named("code"),
};
/// The form that turns the second factor off.
const OFF: Fields = Fields {
    password: &password().named("off_password"),
    code: &code().named("off_code"),
};

const fn password() -> FieldOf<String> {
    text("Sua senha", "Your password", MAX_TEXT)
}

const fn code() -> FieldOf<String> {
    text("Código", "Code", MAX_TEXT)
}

#[derive(Template)]
#[template(path = "accounts/second_factor_off.html")]
struct OffPage<'a> {
    frame: &'a Frame,
    form: Form,
    /// Whether the account must have a second factor.
    is_mandatory: bool,
    /// The secret in groups of four letters, for typing.
    secret: String,
    qr: String,
}

#[derive(Template)]
#[template(path = "accounts/second_factor_on.html")]
struct OnPage<'a> {
    frame: &'a Frame,
    form: Form,
    is_mandatory: bool,
    since: String,
    recovery_codes: i64,
}

#[derive(Template)]
#[template(path = "accounts/recovery_codes.html")]
struct CodesPage<'a> {
    frame: &'a Frame,
    codes: Vec<String>,
}

/// `GET /account/second-factor/`
pub(super) async fn show(frame: Frame) -> PageResult {
    shown(&frame, Form::new(), None).await
}

/// The page of an account with or without a second factor. Without one, it shows `secret` or a new
/// one, which is not stored before it is confirmed.
async fn shown(frame: &Frame, form: Form, secret: Option<TotpSecret>) -> Result<Response, Refusal> {
    let state = &frame.state;
    let is_refused = form.is_refused();
    let is_mandatory = state.config.second_factor.includes(&frame.caller);
    let mut response = if let Some(status) = factor::status(&state.db, frame.caller.id).await? {
        let on = OnPage {
            is_mandatory,
            since: frame.locale.date_time(status.since),
            recovery_codes: status.recovery_codes,
            frame,
            form,
        };
        frame.show_form(is_refused, on)
    } else {
        let secret = secret.unwrap_or_else(|| TotpSecret::new(&state.random));
        let off = OffPage {
            is_mandatory,
            secret: factor::in_groups(&secret.base32(), " "),
            qr: brazil::qr::svg(&secret.uri(&frame.caller.username)).unwrap_or_default(),
            frame,
            form,
        };
        frame.show_form(is_refused, off)
    };
    prevent_caching(&mut response);
    Ok(response)
}

/// `POST /account/second-factor/`
pub(super) async fn turn_on(frame: Frame, post: FormSubmission) -> PageResult {
    // A form without a secret does not come from our page.
    let Some(secret) = TotpSecret::parse(&post.text("secret")) else {
        return Ok(see_other(HERE));
    };
    let codes_request = codes_request(&frame, &post, "second-factor");
    let (password, code) = (post.text(ON.password.name), post.text(ON.code.name));
    let codes = settings::turn_on(&frame.state, codes_request, password, &secret, &code).await;
    show_codes(&frame, codes, Some(secret)).await
}

/// The request for recovery codes that a form makes.
fn codes_request<'a>(
    frame: &'a Frame,
    post: &'a FormSubmission,
    path: &'static str,
) -> CodesRequest<'a> {
    CodesRequest {
        session: &frame.session,
        token: post.form.value(form_token::TOKEN),
        key: post.idempotency_key(frame, path),
    }
}

/// Shows new recovery codes, or the form again. Only the same form, sent again, shows the codes
/// again. The session gets a new token.
async fn show_codes(
    frame: &Frame,
    codes: Result<Result<NewCodes, ChangeRefused>, Refusal>,
    secret: Option<TotpSecret>,
) -> Result<Response, Refusal> {
    let form = match codes {
        Ok(Ok(NewCodes { codes, begun })) => {
            let mut response = frame.show(CodesPage { frame, codes });
            prevent_caching(&mut response);
            begun.set_cookies(&mut response, frame.is_https);
            return Ok(response);
        }
        Ok(Err(why)) => complaint(frame, &why, ON),
        Err(refusal) => {
            let mut form = Form::new();
            form.take(refusal, frame.locale)?;
            form
        }
    };
    shown(frame, form, secret).await
}

/// `POST /account/second-factor/off/`
pub(super) async fn turn_off(frame: Frame, post: FormSubmission) -> PageResult {
    let (password, code) = (post.text(OFF.password.name), post.text(OFF.code.name));
    let done = settings::turn_off(&frame.state, &frame.caller, password, &code).await?;
    match done {
        Ok(()) => {
            let begun = session::renew(&frame.state, &frame.session).await?;
            let text = frame.text(
                "A verificação em duas etapas foi desativada.",
                "Two-step verification was turned off.",
            );
            let mut response = flash::success(see_other(HERE), text);
            begun.set_cookies(&mut response, frame.is_https);
            Ok(response)
        }
        Err(why) => Ok(shown(&frame, complaint(&frame, &why, OFF), None).await?),
    }
}

/// `POST /account/second-factor/recovery-codes/`
pub(super) async fn renew(frame: Frame, post: FormSubmission) -> PageResult {
    let codes_request = codes_request(&frame, &post, "second-factor/recovery-codes");
    let (password, code) = (post.text(ON.password.name), post.text(ON.code.name));
    let codes = settings::renew_recovery_codes(&frame.state, codes_request, password, code).await;
    show_codes(&frame, codes, None).await
}

/// The form with its error at the right field.
fn complaint(frame: &Frame, why: &ChangeRefused, fields: Fields) -> Form {
    let mut form = Form::new();
    match why {
        ChangeRefused::Password => form.complain_of(fields.password, frame.say(WRONG_PASSWORD)),
        ChangeRefused::Code => {
            form.complain_of(fields.code, WRONG_CODE.text(frame.locale));
        }
        ChangeRefused::Mandatory => {
            frame.say(MANDATORY).clone_into(&mut form.problem);
        }
        ChangeRefused::Already => {}
    }
    form
}
