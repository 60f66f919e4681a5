//! The OpenAPI operations of a resource. The common parts are here; the rest comes from the
//! resource's [`Description`].

use http::Method;
use resource::{
    Words,
    schema::{Shape, body_example, schema},
};
use serde_json::Value;
use utoipa::{
    IntoParams as _, PartialSchema as _, ToSchema as _,
    openapi::{
        Content, ContentBuilder, Header, HttpMethod, Ref, RefOr, Required, ResponseBuilder, Schema,
        path::{OperationBuilder, Paths},
        request_body::{RequestBody, RequestBodyBuilder},
    },
};
use web::{locale::Locale, openapi::failure};

use super::{page, page_example, page_name, parameters};
use crate::{
    access::{Permission, Verb},
    api::{resource::ApiResource, submission::IdempotencyKeyHeader},
    rest::{
        RecordId,
        json::{Named, Titled},
        list::{OrderBy, QueryFilter},
    },
};

/// The OpenAPI description of a resource, without its fields.
#[derive(Debug)]
pub struct Description {
    /// The names of its records.
    pub words: &'static Words,
    /// The prefix of the schema names of its request bodies.
    pub bodies: String,
    /// The filters of its list that do not come from fields.
    pub filters: &'static [QueryFilter],
    /// The default order of its list.
    pub order: OrderBy,
    /// The side effects of a deletion, and what prevents one.
    pub deletion: &'static str,
    /// An example record.
    pub example: Value,
}

pub(in crate::api) fn schemas<R: ApiResource>(resource: R) -> Vec<(String, RefOr<Schema>)> {
    let about = About::of(resource);
    let is_changed = resource.methods().contains(&Method::PATCH);
    let shapes = [Shape::Record, Shape::Input];
    let shapes = shapes.into_iter().chain(is_changed.then_some(Shape::Patch));
    let of_shapes =
        shapes.map(|shape| (about.name(shape), schema(resource.fields(), shape).into()));
    let shared = [
        (page_name(&about.one()), page(&about.one()).into()),
        (Named::name().into_owned(), Named::schema()),
        (Titled::name().into_owned(), Titled::schema()),
    ];
    of_shapes.chain(shared).collect()
}

/// The operations of the list's address.
pub(in crate::api) fn of_list<R: ApiResource>(resource: R, path: &str) -> Paths {
    let about = About::of(resource);
    let mut paths = Paths::new();
    paths.add_path_operation(path, vec![HttpMethod::Get], about.list());
    paths.add_path_operation(path, vec![HttpMethod::Post], about.create());
    paths
}

/// The operations of one record's address.
pub(in crate::api) fn of_record<R: ApiResource>(resource: R, path: &str) -> Paths {
    let about = About::of(resource);
    let mut paths = Paths::new();
    for method in resource.methods() {
        let (method, operation) = match *method {
            Method::GET => (HttpMethod::Get, about.read()),
            Method::PUT => (HttpMethod::Put, about.replace()),
            Method::PATCH => (HttpMethod::Patch, about.change()),
            Method::DELETE => (HttpMethod::Delete, about.delete()),
            _ => continue,
        };
        let id = RecordId::into_params(|| None);
        paths.add_path_operation(path, vec![method], operation.parameters(Some(id)));
    }
    paths
}

struct About<R: ApiResource> {
    resource: R,
    described: Description,
}

impl<R: ApiResource> About<R> {
    fn of(resource: R) -> Self {
        Self {
            resource,
            described: resource.description(),
        }
    }

    fn one(&self) -> String {
        self.described.words.name(Locale::En)
    }

    /// The schema name of a shape.
    fn name(&self, shape: Shape) -> String {
        match shape {
            Shape::Record => self.one(),
            Shape::Input => format!("{}Input", self.described.bodies),
            Shape::Patch => format!("{}Patch", self.described.bodies),
        }
    }

    fn list(&self) -> OperationBuilder {
        let words = self.described.words;
        let parameters = parameters::of_list(
            self.described.filters,
            self.described.order,
            self.resource.fields(),
        );
        let schema = page_name(&self.one());
        let response = ResponseBuilder::new()
            .description("One page.")
            .content(JSON, content(schema, page_example(&self.described.example)));
        self.operation(("list", &words.title(Locale::En)), None, &[400])
            .summary(Some(format!("List {}", words.many(Locale::En))))
            .parameters(Some(parameters))
            .response("200", response)
    }

    fn create(&self) -> OperationBuilder {
        let is_repeatable = self.resource.is_repeatable();
        let failures: &[_] = if is_repeatable {
            &[400, 413, 415, 422]
        } else {
            &[400, 413, 415]
        };
        let operation = self
            .operation(("create", &self.one()), Some((Verb::Add, "")), failures)
            .summary(Some(format!("Create {}", self.a_record())))
            .request_body(Some(self.body(Shape::Input, Required::True)));
        let response = self.answered("Created.");
        if !is_repeatable {
            return operation.response("201", response);
        }
        operation
            .parameters(Some(IdempotencyKeyHeader::into_params(|| None)))
            .response("201", response.header(REPLAYED, Header::default()))
    }

    fn read(&self) -> OperationBuilder {
        self.operation(("read", &self.one()), None, &[])
            .summary(Some(format!("Read {}", self.a_record())))
            .response("200", self.answered("The record."))
    }

    fn replace(&self) -> OperationBuilder {
        let kept = " Optional fields that are absent keep their value.";
        let summary = format!("Write every required field of {}", self.a_record());
        self.operation(
            ("replace", &self.one()),
            Some((Verb::Change, kept)),
            &[400, 413, 415],
        )
        .summary(Some(summary))
        .request_body(Some(self.body(Shape::Input, Required::True)))
        .response("200", self.answered("Changed."))
    }

    fn change(&self) -> OperationBuilder {
        self.operation(
            ("change", &self.one()),
            Some((Verb::Change, "")),
            &[400, 413, 415],
        )
        .summary(Some(format!("Change some fields of {}", self.a_record())))
        .request_body(Some(self.body(Shape::Patch, Required::False)))
        .response("200", self.answered("Changed."))
    }

    fn delete(&self) -> OperationBuilder {
        let needed = Some((Verb::Delete, self.described.deletion));
        self.operation(("delete", &self.one()), needed, &[409])
            .summary(Some(format!("Delete {}", self.a_record())))
            .response("204", ResponseBuilder::new().description("Deleted."))
    }

    /// An operation with its id, and its error responses beyond those of every operation. The
    /// description names the required permission and adds the given text.
    fn operation(
        &self,
        id: (&str, &str),
        needed: Option<(Verb, &str)>,
        failures: &[u16],
    ) -> OperationBuilder {
        let needed = needed.map(|(verb, more)| {
            let permission = Permission::new(verb, self.resource.model());
            format!("Needs the permission `{permission}`.{more}")
        });
        let operation = OperationBuilder::new()
            .tag(self.described.words.title(Locale::En))
            .operation_id(Some(format!("{}{}", id.0, id.1)))
            .description(needed);
        failures.iter().fold(operation, |operation, status| {
            let (status, response) = failure(*status);
            operation.response(status, response)
        })
    }

    /// `an inflow`
    fn a_record(&self) -> String {
        let one = self.described.words.one(Locale::En);
        let article = if one.starts_with(['a', 'e', 'i', 'o', 'u']) {
            "an"
        } else {
            "a"
        };
        format!("{article} {one}")
    }

    fn body(&self, shape: Shape, required: Required) -> RequestBody {
        let example = body_example(self.resource.fields(), shape, &self.described.example);
        RequestBodyBuilder::new()
            .required(Some(required))
            .content(JSON, content(self.name(shape), example))
            .build()
    }

    fn answered(&self, what: &str) -> ResponseBuilder {
        let record = content(self.name(Shape::Record), self.described.example.clone());
        ResponseBuilder::new()
            .description(what)
            .content(JSON, record)
    }
}

const JSON: &str = "application/json";
const REPLAYED: &str = "Idempotent-Replayed";

fn content(schema: String, example: Value) -> Content {
    ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(schema)))
        .example(Some(example))
        .build()
}
