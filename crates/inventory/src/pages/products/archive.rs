//! Archives and unarchives a product. Each action is the Undo of the other.

use super::address;
use crate::{
    access::{Model, Verb},
    page::{
        FormSubmission, Frame, PageResult,
        flash::{self, Flash},
        own_next, see_other,
    },
    rest::RecordId,
    stock::archive,
};

/// `POST /products/<id>/archive/` and `POST /products/<id>/unarchive/`
pub(super) async fn set(
    is_archived: bool,
    frame: Frame,
    id: RecordId,
    post: FormSubmission,
) -> PageResult {
    frame.require(Verb::Change, Model::Product)?;
    let id = id.known()?;
    let (title, is_new) = archive::set(&frame.state, &frame.caller, id, is_archived).await?;
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
    let (next, product) = (own_next(post.form.value("next")), address(id));
    Ok(flash::leave(see_other(next.unwrap_or(&product)), flash))
}
