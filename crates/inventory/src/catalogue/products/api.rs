//! Products as a resource of the API.

use http::Method;
use resource::{Field, Record as _, schema::example};
use serde_json::json;

use super::{ARCHIVED, BY_TITLE, ProductRecord, WORDS, write};
use crate::{
    State,
    access::Model,
    rest::{
        Refusal,
        fields::Draft,
        list::{QueryFilter, check_search},
        openapi::Description,
        query::Parameters,
        resource::{MUTABLE, Page, Resource},
    },
    work::Work,
};

/// The resource at `/api/v1/products/`.
#[derive(Debug, Clone, Copy)]
pub struct Products;

impl Resource for Products {
    type Record = ProductRecord;

    fn path(self) -> &'static str {
        "products"
    }

    fn model(self) -> Model {
        Model::Product
    }

    fn methods(self) -> &'static [Method] {
        MUTABLE
    }

    fn fields(self) -> &'static [&'static Field] {
        ProductRecord::FIELDS
    }

    fn description(self) -> Description {
        let said = [
            ("title", json!("Arroz 5 kg")),
            ("category", json!({"id": 1, "name": "Grãos"})),
            ("brand", json!({"id": 1, "name": "Tio João"})),
            ("serie_number", json!("7891234567895")),
            ("cost_price", json!("18.90")),
            ("selling_price", json!("24.90")),
            ("quantity", json!(40)),
        ];
        Description {
            words: &WORDS,
            bodies: "Product".to_owned(),
            filters: &[QueryFilter::SEARCH, ARCHIVED],
            order: BY_TITLE,
            deletion: " Refused while inflows or outflows refer to it; its ledger stays.",
            example: example(self.fields(), &said),
        }
    }

    async fn list(
        self,
        state: &State,
        parameters: &Parameters,
    ) -> Result<Page<ProductRecord>, Refusal> {
        check_search(parameters)?;
        super::list(state, parameters).await
    }

    async fn read(self, state: &State, id: i64) -> Result<Option<ProductRecord>, Refusal> {
        super::read(state, id).await
    }

    async fn create(
        self,
        work: &mut Work<'_>,
        draft: &Draft<ProductRecord>,
    ) -> Result<ProductRecord, Refusal> {
        write::create(work, draft).await
    }

    async fn change(
        self,
        work: &mut Work<'_>,
        id: i64,
        draft: &Draft<ProductRecord>,
    ) -> Result<Option<ProductRecord>, Refusal> {
        write::change(work, id, draft).await
    }

    async fn delete(self, work: &mut Work<'_>, id: i64) -> Result<bool, Refusal> {
        write::delete(work, id).await
    }
}
