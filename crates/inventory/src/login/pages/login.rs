//! The first step of a login: user name and password, as a form or as JSON.

use askama::Template;
use axum::response::Response;
use http::{StatusCode, request::Parts};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema, schema::ObjectBuilder},
};
use web::{
    errors::wants_json,
    openapi::{Failure, text},
    page::Layout,
};

use super::{LoginFrame, LoginPost};
use crate::{
    access::{Caller, Permission},
    accounts::{
        Credentials,
        session::{self, CompletedLogin, LoginStep, cookies, ticket::Ticket},
    },
    api::{answer::json, openapi::PageFailures},
    login::api::{self, EXAMPLE_TOKEN},
    page::{ENDED, PageResult, redirect, request_body, safe_next, visits::Visit},
    rest::{
        fields::{Members, Mode, Reader},
        query::Parameters,
    },
};

/// The login page. Both share the accounts and the second step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// The site, for all users.
    #[default]
    Site,
    /// The administration, for staff only.
    Administration,
}

/// The submitted values of the form, and its errors.
#[derive(Debug, Default)]
struct LoginInput {
    entrance: Entrance,
    username: String,
    next: String,
    remembered: bool,
    /// The names of the required fields that are empty.
    left_empty: Vec<&'static str>,
    /// Whether the user name or the password is wrong.
    is_wrong: bool,
    /// Whether a form was sent after the end of its session.
    is_ended: bool,
}

#[derive(Template)]
#[template(path = "accounts/login.html")]
struct AccountLoginPage {
    layout: Layout,
    input: LoginInput,
    token: String,
    /// The user who is logged in but may not enter.
    stranger: Option<String>,
}

impl AccountLoginPage {
    fn is_for_staff(&self) -> bool {
        self.input.entrance == Entrance::Administration
    }

    fn required(&self, field: &str) -> &'static str {
        if self.input.left_empty.contains(&field) {
            self.layout
                .text("Este campo é obrigatório.", "This field is required.")
        } else {
            ""
        }
    }
}

/// The login form
#[utoipa::path(
    get, path = "/login/", tag = "Pages", operation_id = "loginForm", security(),
    responses(
        (status = 200, description = "A page.", content_type = "text/html; charset=utf-8", body = String),
        Failure<302>,
    ),
)]
pub(super) async fn form(frame: LoginFrame) -> Response {
    open(Entrance::Site, frame)
}

/// Shows the empty form. A user who is already logged in is redirected.
pub(crate) fn open(entrance: Entrance, frame: LoginFrame) -> Response {
    let parts = &frame.parts;
    let next = entrance.next(query_next(parts).as_deref());
    let visit = Visit::of(&parts.extensions);
    if visit.caller().is_some_and(|caller| entrance.admits(caller)) {
        return redirect(&next);
    }
    let input = LoginInput {
        entrance,
        next,
        is_ended: Parameters::of_address(&parts.uri).get(ENDED).is_some(),
        ..LoginInput::default()
    };
    show(frame, input)
}

fn show(frame: LoginFrame, input: LoginInput) -> Response {
    let visit = Visit::of(&frame.parts.extensions);
    frame.show(|layout, token| AccountLoginPage {
        layout,
        input,
        token,
        stranger: visit.caller().map(|caller| caller.username.clone()),
    })
}

fn query_next(parts: &Parts) -> Option<String> {
    let query = Parameters::of_address(&parts.uri);
    query.get("next").map(str::to_owned)
}

/// Log in: token pair, user and session cookie
///
/// As JSON. A form starts the session and redirects. With a session cookie the header `X-CSRFToken`
/// is required; an `Origin` that is not ours is refused.
#[utoipa::path(
    post, path = "/login/", tag = "Web session", operation_id = "logIn", security(),
    request_body(content(
        (Credentials = "application/json", example = json!({"username": "admin", "password": "demo-password"})),
        (LoginForm = "application/x-www-form-urlencoded"),
    )),
    responses(
        (status = 200, description = "Logged in. For browsers: the form again, with its errors.",
        headers(("RateLimit-Policy"), ("RateLimit")), content(
            (LoginResponse = "application/json", example = json!(example())),
            (String = "text/html; charset=utf-8"),
        )),
        Failure<302>, Failure<401>, PageFailures,
    ),
)]
pub(super) async fn log_in(frame: LoginFrame, LoginPost(members): LoginPost) -> PageResult {
    if wants_json(&frame.parts.headers) {
        login_program(&frame, &members).await
    } else {
        login_person(Entrance::Site, frame, &members).await
    }
}

async fn login_program(frame: &LoginFrame, members: &Members) -> PageResult {
    let credentials = api::credentials(members)?;
    let login = session::log_in_program(&frame.state, &frame.parts, credentials).await?;
    let mut response = json(StatusCode::OK, &LoginResponse::of(&login));
    login.begun.set_cookies(&mut response, frame.is_https());
    Ok(response)
}

/// Tokens and user data, for clients that keep both.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = LoggedIn)]
struct LoginResponse<'a> {
    access: &'a str,
    refresh: &'a str,
    #[schema(inline)]
    user: LoginUser<'a>,
}

#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LoginUser<'a> {
    id: i64,
    username: &'a str,
    email: &'a str,
    first_name: &'a str,
    last_name: &'a str,
    groups: Vec<String>,
    permissions: Vec<String>,
}

fn example() -> Value {
    json!(LoginResponse {
        access: EXAMPLE_TOKEN,
        refresh: EXAMPLE_TOKEN,
        user: LoginUser {
            id: 1,
            username: "admin",
            email: "",
            first_name: "",
            last_name: "",
            groups: vec!["Admin".to_owned()],
            permissions: vec!["add_brand".to_owned()],
        },
    })
}

/// The schema of the login form.
enum LoginForm {}

impl PartialSchema for LoginForm {
    fn schema() -> RefOr<Schema> {
        let remember = "`no`: the session ends with the browser, and after half a day without a visit. \
                        Anything else: after two weeks.";
        let next = text().description(Some("A path of this service."));
        ObjectBuilder::new()
            .property("username", text())
            .property("password", text())
            .property("next", next)
            .property("remember", text().description(Some(remember)))
            .property("csrfmiddlewaretoken", text())
            .into()
    }
}

impl ToSchema for LoginForm {}

impl<'a> LoginResponse<'a> {
    fn of(login: &'a CompletedLogin) -> Self {
        let user = &login.user;
        let permissions = Permission::all()
            .filter(|permission| login.caller.may(*permission))
            .map(|permission| permission.to_string());
        Self {
            access: &login.pair.access,
            refresh: &login.pair.refresh,
            user: LoginUser {
                id: user.id,
                username: &user.username,
                email: &user.email,
                first_name: &user.first_name,
                last_name: &user.last_name,
                groups: user.group_names(),
                permissions: permissions.collect(),
            },
        }
    }
}

/// Logs in with a form: begins the session, asks for the second factor, or shows the form again.
pub(crate) async fn login_person(
    entrance: Entrance,
    frame: LoginFrame,
    members: &Members,
) -> PageResult {
    let (state, parts) = (&frame.state, &frame.parts);
    let input = LoginInput::read(entrance, members, parts);
    if !input.left_empty.is_empty() {
        return Ok(show(frame, input));
    }
    let mut reader = Reader::new(members, Mode::Whole);
    let username = reader.read::<String>(api::USERNAME);
    let password = reader.read::<String>(api::PASSWORD);
    let step = match username.zip(password) {
        Some(credentials) => {
            let admits = |caller: &Caller| entrance.admits(caller);
            session::log_in(state, parts, credentials, input.remembered, admits).await?
        }
        // The value is too long or has characters that no user name has.
        None => None,
    };
    match step {
        None => {
            let wrong = LoginInput {
                is_wrong: true,
                ..input
            };
            Ok(show(frame, wrong))
        }
        Some(LoginStep::LoggedIn(begun)) => {
            let mut response = redirect(&input.next);
            begun.set_cookies(&mut response, frame.is_https());
            Ok(response)
        }
        Some(LoginStep::CodeRequired(proven)) => {
            let ticket = Ticket::closed(state, proven, input.remembered, &input.next);
            let mut response = redirect("/login/code/");
            cookies::set_ticket(&mut response, &ticket, frame.is_https());
            Ok(response)
        }
    }
}

impl Entrance {
    /// Whether a logged-in user may enter.
    const fn admits(self, caller: &Caller) -> bool {
        matches!(self, Self::Site) || caller.is_staff
    }

    /// Where the login leads: to the requested page, else to the start page.
    fn next(self, wanted: Option<&str>) -> String {
        match safe_next(wanted) {
            next if self == Self::Administration && next == "/" => "/admin/".to_owned(),
            next => next,
        }
    }
}

impl LoginInput {
    /// Parses the form. Without the field `remember`, as programs send it, the session is
    /// remembered. The administration remembers no session, and reports an empty field like a wrong
    /// password.
    fn read(entrance: Entrance, members: &Members, parts: &Parts) -> Self {
        let sent = |field| request_body::text(members, field).unwrap_or_default();
        let next = request_body::text(members, "next").or_else(|| query_next(parts));
        let is_site = entrance == Entrance::Site;
        Self {
            entrance,
            username: sent("username"),
            next: entrance.next(next.as_deref()),
            remembered: is_site && sent("remember") != "no",
            left_empty: ["username", "password"]
                .into_iter()
                .filter(|field| is_site && sent(field).trim().is_empty())
                .collect(),
            is_wrong: false,
            is_ended: false,
        }
    }
}
