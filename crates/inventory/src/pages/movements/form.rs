//! The form that books goods in or out, the quickest path of the product. It carries a once-only token, so that a double tap books once.

use askama::Template;
use axum::extract::{Request, State as Extracted};
use resource::{Field, Words};

use super::{fields, pickers, sentence, undo};
use crate::{
    access::Verb,
    api::writes,
    page::{
        Form, Frame, PageState, Post,
        flash::{self, Flash},
        picker::{Picked, Source},
        records::{Answer, Shared},
        see_other,
    },
    rest::{Refusal, query::Parameters},
    stock::movements::{
        self, Movement, MovementRecord,
        words::{Texts, texts},
    },
};

/// The fields that the form writes, in its order.
fn written(movement: Movement) -> Vec<&'static Field> {
    let mut fields = fields(movement);
    fields.retain(|field| !field.is_read_only);
    fields
}

#[derive(Template)]
#[template(path = "stock/movement_form.html")]
struct MovementFormPage<'a> {
    frame: &'a Frame,
    words: &'a Words,
    texts: &'a Texts,
    form: &'a Form,
    described: Vec<&'static Field>,
    picked: &'a [Picked],
    next: &'a str,
}

impl MovementFormPage<'_> {
    fn picker(&self, field: &Field) -> Option<&Picked> {
        self.picked.iter().find(|picked| picked.name == field.name)
    }

    fn hint(&self, field: &Field) -> &'static str {
        if !field.is_name {
            return "";
        }
        self.frame.text(
            "Digite parte do nome ou escaneie o código.",
            "Type part of the name or scan the code.",
        )
    }

    fn add_address(&self, picked: &Picked) -> String {
        match picked.source {
            Source::Products => String::new(),
            Source::Named(_) => picked.add_address(self.frame),
        }
    }
}

/// What the form shows.
struct MovementForm {
    form: Form,
    picked: Vec<Picked>,
    next: String,
}

impl MovementForm {
    fn page<'a>(
        &'a self,
        frame: &'a Frame,
        movement: Movement,
        texts: &'a Texts,
    ) -> MovementFormPage<'a> {
        MovementFormPage {
            frame,
            words: movement.words(),
            texts,
            form: &self.form,
            described: written(movement),
            picked: &self.picked,
            next: &self.next,
        }
    }
}

/// `GET …/new/`, with values that the address may bring.
pub(super) async fn new(
    movement: Movement,
    Extracted(page): Shared,
    frame: Frame,
    request: Request,
) -> Answer {
    frame.require(Verb::Add, movement.model())?;
    let asked = Parameters::of_address(request.uri());
    let mut picked = Vec::new();
    for picker in pickers(movement, &frame) {
        let id = asked.get(picker.name);
        picked.push(picker.choose_known(&page.state, id).await?);
    }
    let shown = MovementForm {
        form: Form::new()
            .with("quantity", asked.get("quantity").unwrap_or("1"))
            .with("description", asked.get("description").unwrap_or_default()),
        picked,
        next: asked.get("next").unwrap_or_default().to_owned(),
    };
    Ok(frame.show(shown.page(&frame, movement, &texts(movement))))
}

/// `POST …/new/`
pub(super) async fn book(
    movement: Movement,
    Extracted(page): Shared,
    frame: Frame,
    request: Request,
) -> Answer {
    frame.require(Verb::Add, movement.model())?;
    let (parts, body) = request.into_parts();
    let mut post = Post::read(&page.state, &parts, body).await?;
    let (state, locale) = (&page.state, frame.locale);
    let mut picked = Vec::new();
    post.read_fields(&written(movement), locale);
    for picker in pickers(movement, &frame) {
        picked.push(post.pick(state, picker, locale).await?);
    }
    let mut shown = MovementForm {
        next: post.text("next"),
        form: post.form.clone(),
        picked,
    };
    if shown.form.is_refused() {
        let errors = movements::problems(movement, &post.members);
        shown.form.absorb(&errors, locale);
        return Ok(again(movement, &frame, shown));
    }
    let (draft, key) = (
        movement.draft(&post.members),
        post.idempotency_key(&frame, movement.path()),
    );
    match writes::create_of_form(state, &frame.caller, movement, draft, key).await {
        Ok(record) => Ok(done(movement, &page, &frame, record.as_ref(), &shown.next).await?),
        Err(refusal) => {
            shown.form.take(refusal, locale)?;
            Ok(again(movement, &frame, shown))
        }
    }
}

fn again(movement: Movement, frame: &Frame, mut shown: MovementForm) -> axum::response::Response {
    let names: Vec<_> = written(movement).iter().map(|field| field.name).collect();
    shown.form.sort(&names);
    frame.show_again(shown.page(frame, movement, &texts(movement)))
}

async fn done(
    movement: Movement,
    page: &PageState,
    frame: &Frame,
    record: Option<&MovementRecord>,
    next: &str,
) -> Result<axum::response::Response, Refusal> {
    let next = frame.back(next);
    let Some(record) = record else {
        let text = frame.text("Isto já foi desfeito.", "This has already been undone.");
        return Ok(flash::leave(see_other(&next), Flash::warning(text)));
    };
    let text = sentence(&page.state, frame, texts(movement).booked, record).await?;
    let flash = undo(movement, frame, record, Flash::success(text));
    Ok(flash::leave(see_other(&next), flash))
}
