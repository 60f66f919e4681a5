//! What the list of products shows for a search: the products whose titles match, alternatives, and
//! where else to look.

use super::address;
use crate::{
    State,
    catalogue::{
        named::{self, Kind},
        products::{
            self, ProductRecord,
            lookup::{self, Interpretation, SerieNumberMatches},
        },
    },
    page::{
        Frame, PageState,
        list_page::{Chip, ListPage},
    },
    rest::{Refusal, page::PageRequest, query::Parameters},
};

type Found = crate::rest::page::Page<ProductRecord>;

/// As many of each kind are named beside what a search finds.
const ALSO: i64 = 3;

/// The products that the list shows, and in the list what it shows beside them and instead of them.
pub(super) async fn found(
    state: &State,
    frame: &Frame,
    list: &mut ListPage,
    parameters: &Parameters,
) -> Result<Found, Refusal> {
    let (understood, meant) = lookup::interpret(state, parameters).await?;
    if let Some(meant) = &meant {
        list.note = interpretation_note(frame, meant);
    }
    if let Some(numbered) = SerieNumberMatches::find(state, &understood).await? {
        list.note = note(frame, &numbered);
        let wanted = PageRequest::parse(state, parameters)?;
        let (number, offset) = wanted.within(numbered.count)?;
        return Ok(Found {
            count: numbered.count,
            number,
            size: wanted.size,
            results: numbered.part(state, wanted.limit(), offset).await?,
        });
    }
    let found = products::list(state, &understood).await?;
    if let Some(search) = parameters.get("search") {
        list.also = also(state, frame, search, meant.as_ref()).await?;
    }
    Ok(found)
}

fn interpretation_note(frame: &Frame, meant: &Interpretation) -> String {
    let (text, what) = match meant {
        Interpretation::Named {
            kind: Kind::Brand,
            name,
            ..
        } => (
            frame.text(
                "Nenhum título tem todas estas palavras. Produtos da marca",
                "No title has all these words. Products of the brand",
            ),
            name.clone(),
        ),
        Interpretation::Named { name, .. } => (
            frame.text(
                "Nenhum título tem todas estas palavras. Produtos da categoria",
                "No title has all these words. Products of the category",
            ),
            name.clone(),
        ),
        Interpretation::Respelled(words) => (
            frame.text(
                "Nenhum título tem todas estas palavras. Produtos com",
                "No title has all these words. Products with",
            ),
            format!("“{words}”"),
        ),
    };
    format!("{text} {what}:")
}

fn note(frame: &Frame, numbered: &SerieNumberMatches) -> String {
    let text = frame.text(
        "Nenhum título corresponde. Produtos cujo número de série começa com",
        "No title matches. Products whose serial number begins with",
    );
    let more = if numbered.is_cut {
        frame.text(
            " (os primeiros 10.000; digite mais para encontrar os outros)",
            " (the first 10,000; type more to find the others)",
        )
    } else {
        ""
    };
    format!("{text} {}{more}:", numbered.text)
}

/// Where else a search may lead: to the product of a serie number that begins so, to the products
/// of a brand or category of that name.
async fn also(
    state: &State,
    frame: &Frame,
    search: &str,
    meant: Option<&Interpretation>,
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
            let is_meant = matches!(meant, Some(Interpretation::Named { kind: other, id, .. })
                if (*other, *id) == (kind, record.id));
            if !is_meant {
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
pub(crate) async fn jump(
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
    // A number that is typed by hand is long enough when it begins one product's alone, and no
    // title.
    let begun = lookup::numbered_like(&page.state, search, 2).await?;
    let is_title = !products::part(&page.state, &Parameters::of("search", search), 1, 0)
        .await?
        .is_empty();
    Ok(match begun.as_slice() {
        [product] if !is_title => Some(address(product.id)),
        _ => None,
    })
}
