//! The OpenAPI parameters of paths, queries and headers. They must match the parsers in `list`,
//! `record_id` and `submission`.

use resource::{Field, Kind};
use utoipa::{
    IntoParams,
    openapi::{
        KnownFormat, ObjectBuilder, RefOr, Schema, SchemaFormat, Type,
        path::{Parameter, ParameterBuilder, ParameterIn},
    },
};
use web::openapi::{integer, parameter, text};

use crate::{
    api::submission::IdempotencyKeyHeader,
    rest::{
        RecordId,
        list::{FilterKind, OrderBy, QueryFilter},
        page::PageRequest,
    },
};

/// The pattern of prices in filters.
const PRICE: &str = r"^[0-9]{1,20}(\.[0-9]{1,2})?$";
/// The pattern of `ordering`.
const ORDERING: &str = "^-?[a-z_]+(,-?[a-z_]+)*$";
/// The longest search, in characters.
const MAX_SEARCH: usize = 500;

impl IntoParams for RecordId {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let id = integer().minimum(Some(1));
        let id = parameter("id", ParameterIn::Path, Some("The record's id."), id);
        vec![id.example(Some(1.into())).build()]
    }
}

impl IntoParams for PageRequest {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let number = || integer().minimum(Some(1));
        let page =
            "Page number; a page that does not exist is 404. The word `last` is the last page.";
        let size = "Records a page: 10 if it is no number from 1, 100 if it is above that, unless the service is configured otherwise.";
        let page = query("page", page, number().default(Some(1.into()))).example(Some(1.into()));
        let size = query("page_size", size, number());
        vec![page.build(), size.example(Some(10.into())).build()]
    }
}

impl IntoParams for IdempotencyKeyHeader {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let what = "Makes a retry safe: for 72 hours, the same key with the same body returns the same response, and the record is created once.";
        let key = text().min_length(Some(1)).max_length(Some(Self::MAX));
        let key = parameter("Idempotency-Key", ParameterIn::Header, Some(what), key);
        vec![key.build()]
    }
}

pub(super) fn of_list(
    filters: &[QueryFilter],
    order: OrderBy,
    fields: &[&Field],
) -> impl Iterator<Item = Parameter> {
    let pages = PageRequest::into_params(|| None).into_iter();
    let of_fields = fields.iter().flat_map(|field| of_field(field));
    let filters: Vec<_> = filters.iter().map(filter).chain(of_fields).collect();
    pages.chain(filters).chain([ordering(order, fields)])
}

fn filter(filter: &QueryFilter) -> Parameter {
    let schema = match filter.kind {
        FilterKind::Words => text().max_length(Some(MAX_SEARCH)),
        FilterKind::Truth => ObjectBuilder::new().schema_type(Type::Boolean),
        FilterKind::Day => text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Date))),
    };
    let example = (filter.kind == FilterKind::Words).then(|| "arroz".into());
    query(filter.name, filter.about, schema)
        .example(example)
        .build()
}

/// The filters of a list by the values of a field.
fn of_field(field: &Field) -> Vec<Parameter> {
    let label = field.label.1;
    if field.kind == Kind::Reference {
        let about = format!("Only this {}.", field.name);
        return vec![query(field.name, &about, integer().minimum(Some(1))).build()];
    }
    let bound = |name, which| {
        let about = format!("{label} of at {which} this.");
        query(name, &about, text().pattern(Some(PRICE))).build()
    };
    let bounds = field.bounds.into_iter();
    bounds
        .flat_map(|(least, greatest)| [bound(least, "least"), bound(greatest, "most")])
        .collect()
}

fn ordering(order: OrderBy, fields: &[&Field]) -> Parameter {
    let sign = if order.descending { "-" } else { "" };
    let references: Vec<_> = fields
        .iter()
        .filter(|field| field.kind == Kind::Reference)
        .map(|field| format!("`{}`", field.name))
        .collect();
    let by_name = match references.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} orders by what it is called"),
        several => format!("; {} order by what they are called", several.join(" and ")),
    };
    let about = format!(
        "Fields by comma, `-` for descending: any field of the record{by_name}. Default `{sign}{}`. Unknown names are ignored.",
        order.field
    );
    query("ordering", &about, text().pattern(Some(ORDERING)))
        .example(Some("-created_at".into()))
        .build()
}

fn query(name: &str, about: &str, schema: impl Into<RefOr<Schema>>) -> ParameterBuilder {
    parameter(name, ParameterIn::Query, Some(about), schema)
}

/// A query parameter that only one list has.
pub fn only_here(name: &str, about: &str, pattern: &str) -> Parameter {
    query(name, about, text().pattern(Some(pattern))).build()
}
