//! A kind of records: its name, its fields, and how its records are read and written.

use std::future::Future;

use http::Method;
use resource::{Field, Record};
use serde::Serialize;

use super::openapi::Description;
use crate::{
    State,
    access::Model,
    rest::{fields::Draft, page::Page, query::Parameters, refusal::Refusal},
    work::{Author, Work},
};

/// The methods of a list.
pub const LIST: &[Method] = &[Method::GET, Method::POST, Method::HEAD, Method::OPTIONS];

/// The methods of a record that can be edited.
pub const MUTABLE: &[Method] = &[
    Method::GET,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::HEAD,
    Method::OPTIONS,
];
/// The methods of a record that cannot be edited.
pub const IMMUTABLE: &[Method] = &[Method::GET, Method::DELETE, Method::HEAD, Method::OPTIONS];

/// A kind of records: its name, who may do what with it, and how one is read.
pub trait Resource: Copy + Send + Sync + 'static {
    /// The record, with its fields in the resource's order.
    type Record: Record;

    /// The path of the list: below `/` of the pages, and below `/api/v1/` of the API.
    fn path(self) -> &'static str;
    /// The records whose permissions are required.
    fn model(self) -> Model;
    /// The methods of one record, in the order of the `Allow` header.
    fn methods(self) -> &'static [Method];
    /// The fields, in the order of responses and errors.
    fn fields(self) -> &'static [&'static Field];

    /// Reads one record.
    fn read(
        self,
        state: &State,
        id: i64,
    ) -> impl Future<Output = Result<Option<Self::Record>, Refusal>> + Send;
}

/// A resource of the API.
pub trait ApiResource: Resource<Record: Serialize> {
    /// The OpenAPI description, without the fields.
    fn description(self) -> Description;

    /// Whether a creation accepts an `Idempotency-Key`.
    fn is_repeatable(self) -> bool {
        false
    }

    /// Reads the records of one page. Filters are checked before the page number.
    fn list(
        self,
        state: &State,
        parameters: &Parameters,
    ) -> impl Future<Output = Result<Page<Self::Record>, Refusal>> + Send;
    /// Creates a record.
    fn create(
        self,
        work: &mut Work<'_>,
        draft: &Draft<Self::Record>,
    ) -> impl Future<Output = Result<Self::Record, Refusal>>;
    /// Creates a record in a batch with other pending creations. `None` if it cannot be batched;
    /// nothing is written then.
    fn create_batched(
        self,
        _state: &State,
        _author: &Author,
        _draft: &Draft<Self::Record>,
    ) -> impl Future<Output = Result<Option<Self::Record>, Refusal>> + Send {
        async { Ok(None) }
    }
    /// Changes a record; `None` if it does not exist. Only resources with PUT and PATCH implement
    /// this.
    fn change(
        self,
        _work: &mut Work<'_>,
        _id: i64,
        _draft: &Draft<Self::Record>,
    ) -> impl Future<Output = Result<Option<Self::Record>, Refusal>> {
        async { Err(Refusal::forbidden()) }
    }
    /// Deletes a record. Returns whether it existed.
    fn delete(self, work: &mut Work<'_>, id: i64) -> impl Future<Output = Result<bool, Refusal>>;
}
