//! Archives and unarchives a product. Each action is the Undo of the other.

use axum::extract::{Request, State as Extracted};

use super::address;
use crate::{
    access::{Model, Verb},
    page::{
        FormSubmission, Frame, PageResult, PageState, SharedPage,
        flash::{self, Flash},
        picked_next, see_other,
    },
    rest::{RecordId, Refusal},
    stock::archive,
};

/// `POST /products/<id>/archive/`
pub(super) async fn archive(
    Extracted(page): SharedPage,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> PageResult {
    set(&page, &frame, id, request, true).await
}

/// `POST /products/<id>/unarchive/`
pub(super) async fn unarchive(
    Extracted(page): SharedPage,
    frame: Frame,
    id: RecordId,
    request: Request,
) -> PageResult {
    set(&page, &frame, id, request, false).await
}

async fn set(
    page: &PageState,
    frame: &Frame,
    RecordId(id): RecordId,
    request: Request,
    is_archived: bool,
) -> PageResult {
    frame.require(Verb::Change, Model::Product)?;
    let post = FormSubmission::read(&page.state, request).await?;
    let id = id.ok_or(Refusal::NotFound)?;
    let (title, is_new) = archive::set(&page.state, &frame.caller, id, is_archived).await?;
    let (label, back) = if is_archived {
        (("Produto arquivado", "Product archived"), "unarchive/")
    } else {
        (("Produto desarquivado", "Product unarchived"), "archive/")
    };
    let flash = Flash::success(format!("{}: {}.", frame.say(label), flash::named(&title)));
    let flash = if is_new {
        flash.undo(format!("{}{back}", address(id)))
    } else {
        flash
    };
    let next = picked_next(&post.text("next"), "", 0).unwrap_or_else(|| address(id));
    Ok(flash::leave(see_other(&next), flash))
}
