//! What the list of products shows for what was typed: the products whose titles have it, what may be meant instead, and where else it leads.

use super::address;
use crate::{
    State,
    catalogue::{
        named::{self, Kind},
        products::{self, ProductRecord, lookup},
    },
    page::{
        Frame, PageState,
        index::{Chip, Index},
    },
    rest::{Refusal, query::Parameters},
};

type Found = crate::rest::resource::Page<ProductRecord>;

/// So many products are listed whose serie numbers begin with what was typed: whoever wants others types on.
const MOST_NUMBERED: i64 = 50;
/// As many of each kind are named beside what a search finds.
const ALSO: i64 = 3;

/// The products that the list shows, and in the list what it shows beside them and instead of them.
pub(super) async fn found(
    state: &State,
    frame: &Frame,
    index: &mut Index,
    parameters: &Parameters,
) -> Result<Found, Refusal> {
    let (understood, meant) = lookup::understood(state, parameters).await?;
    if let Some(meant) = &meant {
        let text = match meant.kind {
            Kind::Brand => frame.text(
                "Nenhum título tem tudo isto. Produtos da marca",
                "No title has all of this. Products of the brand",
            ),
            _ => frame.text(
                "Nenhum título tem tudo isto. Produtos da categoria",
                "No title has all of this. Products of the category",
            ),
        };
        index.note = format!("{text} {}:", meant.name);
    }
    let found = products::list(state, &understood).await?;
    let Some(search) = parameters.get("search") else {
        return Ok(found);
    };
    if found.count == 0 && index.address.filtered().count() == 1 {
        let numbered = lookup::numbered_like(state, search, MOST_NUMBERED).await?;
        if !numbered.is_empty() {
            let text = frame.text(
                "Nenhum título tem isto. Produtos cujo número de série começa com",
                "No title has this. Products whose serie number begins with",
            );
            index.note = format!("{text} {}:", search.trim());
            index.is_exported = false;
            return Ok(all_on_one_page(numbered));
        }
    }
    index.also = also(state, frame, search, meant.as_ref()).await?;
    Ok(found)
}

fn all_on_one_page(results: Vec<ProductRecord>) -> Found {
    let count = u64::try_from(results.len()).unwrap_or(u64::MAX);
    Found {
        count,
        number: 1,
        size: count,
        results,
    }
}

/// Where else a search may lead: to the product of a serie number that begins so, to the products of a brand or category of that name.
async fn also(
    state: &State,
    frame: &Frame,
    search: &str,
    meant: Option<&lookup::Meant>,
) -> Result<Vec<Chip>, Refusal> {
    let mut chips = Vec::new();
    for product in lookup::numbered_like(state, search, ALSO).await? {
        let number = product.serie_number.as_deref().unwrap_or_default();
        chips.push(Chip {
            text: format!("{number} · {}", product.title),
            address: address(product.id),
        });
    }
    for (kind, text) in [
        (Kind::Brand, frame.text("Marca", "Brand")),
        (Kind::Category, frame.text("Categoria", "Category")),
    ] {
        for record in named::best(state, kind, search, ALSO).await? {
            if meant.is_none_or(|meant| (meant.kind, meant.id) != (kind, record.id)) {
                chips.push(Chip {
                    text: format!("{text}: {}", record.name),
                    address: format!("/products/?{}={}", kind.name(), record.id),
                });
            }
        }
    }
    Ok(chips)
}

/// Where a search leads that is a serie number, as a scanner types it: to its product.
pub(in crate::catalogue) async fn jump(
    page: &PageState,
    parameters: &Parameters,
) -> Result<Option<String>, Refusal> {
    let search = parameters.get("search").unwrap_or_default();
    if search.is_empty() || search.contains('\0') {
        return Ok(None);
    }
    if let Some(product) = products::with_serie_number(&page.state, search).await? {
        return Ok(Some(address(product.id)));
    }
    // A number that is typed by hand is long enough when it begins one product's alone, and no title.
    let begun = lookup::numbered_like(&page.state, search, 2).await?;
    let is_title = !products::part(&page.state, &Parameters::of("search", search), 1, 0)
        .await?
        .is_empty();
    Ok(match begun.as_slice() {
        [product] if !is_title => Some(address(product.id)),
        _ => None,
    })
}
