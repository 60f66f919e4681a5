//! The form that books goods in or out. It carries a once-only token, so that a double tap books
//! once.

use axum::response::Response;
use resource::Field;

use super::{fields, sentence, undo};
use crate::{
    idempotency::IdempotencyKey,
    page::{
        Frame,
        flash::{self, Flash, UNDONE_BEFORE},
        record_form::{FormLooks, RecordForm, RecordForms, create_by_api},
        see_other,
    },
    rest::{Refusal, fields::Members},
    stock::movements::{Movement, MovementRecord, words::texts},
};

impl RecordForms for Movement {
    fn looks(self) -> FormLooks {
        let texts = texts(self);
        FormLooks {
            submit: texts.submit,
            icon: texts.icon,
            is_brief: true,
            adds_another: false,
        }
    }

    fn written(self) -> Vec<&'static Field> {
        let mut fields = fields(self);
        fields.retain(|field| !field.is_read_only);
        fields
    }

    fn initial(self, field: &Field) -> &'static str {
        if field == MovementRecord::quantity {
            "1"
        } else {
            ""
        }
    }

    fn hint(self, frame: &Frame, field: &Field, _is_new: bool) -> String {
        if !field.is_name {
            return String::new();
        }
        let hint = frame.text(
            "Digite parte do nome ou escaneie o código.",
            "Type part of the name or scan the code.",
        );
        hint.to_owned()
    }

    async fn create(
        self,
        frame: &Frame,
        members: &Members,
        key: Option<IdempotencyKey>,
    ) -> Result<Option<MovementRecord>, Refusal> {
        create_by_api(self, frame, members, key).await
    }

    async fn created(
        self,
        frame: &Frame,
        record: Option<MovementRecord>,
        sent: &RecordForm,
    ) -> Result<Response, Refusal> {
        let next = frame.back(sent.form.value("next"));
        let Some(record) = record else {
            return Ok(flash::warning(see_other(&next), frame.say(UNDONE_BEFORE)));
        };
        let text = sentence(frame, texts(self).booked, &record).await?;
        let flash = undo(self, frame, &record, Flash::success(text));
        Ok(flash::leave(see_other(&next), flash))
    }
}
