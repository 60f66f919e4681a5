//! Products' own low-stock thresholds, identified by the product's id. Deleting one returns the product to the shop's threshold.

use std::sync::LazyLock;

use db::Tx;
use resource::Record as _;

use crate::{
    State,
    access::Caller,
    admin::{
        about::{
            About, Administered, Allowed, Application, By, Pending, Record, Rows, Target, Within,
            Words, Written,
        },
        listing::{Asked, shelf},
    },
    rest::{
        Message, Refusal,
        fields::{Draft, FieldErrors, Members, Mode},
    },
    stock::{self, OwnThreshold},
};

pub(in crate::admin) struct Thresholds;

pub(in crate::admin) static THRESHOLDS: Thresholds = Thresholds;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    path: "thresholds",
    application: Application::Stock,
    words: Words::masculine(
        ("estoque mínimo", "low-stock threshold"),
        ("estoques mínimos", "low-stock thresholds"),
    ),
    allowed: Allowed::AsPart,
    order: "1",
    search: Some(OwnThreshold::product.label),
    ..About::of(OwnThreshold::FIELDS)
});

impl Administered for Thresholds {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn list<'a>(&'a self, state: &'a State, asked: &'a Asked) -> Pending<'a, Rows> {
        Box::pin(async move {
            let own = match asked.id("product") {
                Some(product) => stock::own_threshold(state, product)
                    .await?
                    .into_iter()
                    .collect(),
                None => stock::thresholds(state, shelf::MOST).await?,
            };
            let records = own.iter().map(record).collect();
            Ok(shelf::select(records, asked, &ABOUT))
        })
    }

    fn read<'a>(&'a self, state: &'a State, id: i64) -> Pending<'a, Option<Record>> {
        Box::pin(async move { Ok(stock::own_threshold(state, id).await?.as_ref().map(record)) })
    }

    fn problems(&self, target: Target, members: &Members) -> FieldErrors {
        read(target, members).1
    }

    fn write_within<'a>(
        &'a self,
        tx: &'a mut Tx,
        by: &'a By,
        target: Target,
        members: &'a Members,
    ) -> Within<'a, Written> {
        Box::pin(async move {
            let ((product, threshold), errors) = read(target, members);
            let (Some(product), Some(_)) = (product, threshold) else {
                return Err(errors.into());
            };
            let unknown = FieldErrors::of("product", Message::unknown_record(&product.to_string()));
            match stock::set_threshold(&mut by.author.work(tx), product, threshold).await {
                Err(Refusal::NotFound) if target == Target::New => Err(unknown.into()),
                set => Ok(Written::of(product, set?)),
            }
        })
    }

    fn read_held<'a>(&'a self, tx: &'a mut Tx, id: i64) -> Within<'a, Option<Record>> {
        Box::pin(async move {
            Ok(stock::own_threshold_locked(tx, id)
                .await?
                .as_ref()
                .map(record))
        })
    }

    fn delete<'a>(&'a self, state: &'a State, caller: &'a Caller, id: i64) -> Pending<'a, bool> {
        Box::pin(async move {
            let by = By::now(state, caller);
            let delete = async move |tx: &mut Tx| THRESHOLDS.delete_within(tx, &by, id).await;
            state.db.write(delete).await
        })
    }

    fn delete_within<'a>(&'a self, tx: &'a mut Tx, by: &'a By, id: i64) -> Within<'a, bool> {
        Box::pin(async move {
            match stock::set_threshold(&mut by.author.work(tx), id, None).await {
                Err(Refusal::NotFound) => Ok(false),
                set => set.map(|_| true),
            }
        })
    }
}

/// Product and threshold of a form, and what is wrong with them.
fn read(target: Target, members: &Members) -> ((Option<i64>, Option<i64>), FieldErrors) {
    let fields = match target.id() {
        Some(_) => &[OwnThreshold::threshold],
        None => OwnThreshold::FIELDS,
    };
    let draft = Draft::<OwnThreshold>::read_fields(fields, members, Mode::Whole);
    let (input, errors) = (draft.input, draft.errors);
    let product = input.product.get().map(|product| product.id);
    ((target.id().or(product), input.threshold.set()), errors)
}

fn record(own: &OwnThreshold) -> Record {
    Record {
        id: own.product.id,
        ..Record::described(own)
    }
}
