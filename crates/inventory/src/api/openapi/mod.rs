//! The OpenAPI description of the conventions: pages of lists, parameters, and the operations of a
//! resource. The parts of a single endpoint are described at its handler.

mod operations;
mod parameters;

pub use operations::Description;
pub(super) use operations::{of_list, of_record, schemas};
pub use parameters::only_here;

use std::{borrow::Cow, collections::BTreeMap, marker::PhantomData};

use http::Method;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::{
    IntoResponses, PartialSchema, ToSchema,
    openapi::{
        Object, Ref, RefOr, Response, Schema, SchemaFormat, Type,
        schema::{ArrayBuilder, ObjectBuilder},
    },
};
use web::openapi::{closed, integer, nullable_text};

use super::answer::Pagination;

/// The greatest page size that can be configured.
const MAX_PAGE_SIZE: usize = 1000;

/// The time in all examples.
pub const EXAMPLE_TIME: db::Timestamp = db::Timestamp::from_micros(1_795_176_000_000_000);

/// The schema of a page of records.
pub struct PageOf<T>(PhantomData<T>);

impl<T: ToSchema> PartialSchema for PageOf<T> {
    fn schema() -> RefOr<Schema> {
        page(&T::name()).into()
    }
}

impl<T: ToSchema> ToSchema for PageOf<T> {
    fn name() -> Cow<'static, str> {
        page_name(&T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}

fn page_name(record: &str) -> String {
    format!("{record}Page")
}

fn page(record: &str) -> Object {
    let address = || nullable_text().format(Some(SchemaFormat::Custom("uri".to_owned())));
    let count = integer().minimum(Some(0));
    let results = ArrayBuilder::new().items(Ref::from_schema_name(record));
    let page = ObjectBuilder::new()
        .property("count", count.description(Some("Records on all pages.")))
        .property("next", address())
        .property("previous", address())
        .property("results", results.max_items(Some(MAX_PAGE_SIZE)))
        .required("count")
        .required("next")
        .required("previous")
        .required("results");
    closed(page).build()
}

/// The described methods of an address, with `HEAD` where there is `GET`.
pub(crate) fn with_head(methods: impl Iterator<Item = Method>) -> Vec<Method> {
    let mut methods: Vec<_> = methods.collect();
    if methods.contains(&Method::GET) {
        methods.push(Method::HEAD);
    }
    methods
}

/// An example page: the only page of a list with one record.
pub fn page_example(record: &impl Serialize) -> Value {
    json!(Pagination {
        count: 1,
        next: None,
        previous: None,
        results: &[record],
    })
}

/// The error responses of a page that a form is posted to: HTML, or JSON for callers who prefer it.
pub struct PageFailures;

impl IntoResponses for PageFailures {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let failed = || Ref::from_response_name(PAGE_FAILED).into();
        let statuses = ["400", "403", "413", "415", "429", "500", "503"];
        statuses.map(|status| (status.to_owned(), failed())).into()
    }
}

/// The name of the error response of a page.
pub const PAGE_FAILED: &str = "PageFailed";

/// The schema of a type, which must be an object.
pub fn object<T: PartialSchema>() -> ObjectBuilder {
    match T::schema() {
        RefOr::T(Schema::Object(object)) => object.into(),
        _ => ObjectBuilder::new(),
    }
}

/// An empty object.
pub enum Nothing {}

impl PartialSchema for Nothing {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::Object)
            .max_properties(Some(0))
            .into()
    }
}

impl ToSchema for Nothing {}

/// The body of most errors.
#[derive(Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Detail {
    /// The error message.
    pub detail: Cow<'static, str>,
}
