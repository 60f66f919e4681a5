//! The login of the administration: same accounts and second factor as elsewhere, but for staff
//! only.

use axum::{
    extract::{Request, State as Extracted},
    response::Response,
};
use web::page::Layout;

use crate::{
    login::pages::{
        login::{self, Entrance},
        read_step,
    },
    page::PageState,
};

/// `GET /admin/login/`
pub(super) async fn form(
    Extracted(page): Extracted<PageState>,
    layout: Layout,
    request: Request,
) -> Response {
    login::open(Entrance::Administration, &page, layout, request)
}

/// `POST /admin/login/`
pub(super) async fn log_in(
    Extracted(page): Extracted<PageState>,
    layout: Layout,
    request: Request,
) -> Result<Response, web::Error> {
    let (parts, members) = read_step(&page.state, request).await?;
    let entrance = Entrance::Administration;
    Ok(login::login_person(entrance, &page, &parts, &members, layout).await?)
}
