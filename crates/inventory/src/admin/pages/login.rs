//! The login of the administration: same accounts and second factor as elsewhere, but for staff
//! only.

use axum::response::Response;

use crate::{
    login::pages::{
        LoginFrame, LoginPost,
        login::{self, Entrance},
    },
    page::PageResult,
};

/// `GET /admin/login/`
pub(super) async fn form(frame: LoginFrame) -> Response {
    login::open(Entrance::Administration, frame)
}

/// `POST /admin/login/`
pub(super) async fn log_in(frame: LoginFrame, LoginPost(members): LoginPost) -> PageResult {
    login::login_person(Entrance::Administration, frame, &members).await
}
