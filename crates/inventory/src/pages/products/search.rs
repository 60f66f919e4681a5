//! The search of the product list: products whose titles match, alternative interpretations, and
//! links to other matches.

use super::{ARCHIVED, address};
use crate::{
    catalogue::{
        named::{self, Kind},
        products::{
            self, ProductRecord,
            lookup::{self, Interpretation, SerieNumberMatches},
        },
    },
    page::{
        Frame,
        list_page::{Chip, ListPage},
    },
    rest::{Refusal, page::PageRequest, query::Parameters},
};

type Found = crate::rest::page::Page<ProductRecord>;

/// The most links of each kind.
const ALSO: i64 = 3;

/// The products that the list shows. Adds a note and links to the list.
pub(super) async fn found(
    frame: &Frame,
    list: &mut ListPage,
    parameters: &Parameters,
) -> Result<Found, Refusal> {
    let state = &frame.state;
    let (interpreted, interpretation) = lookup::interpret(state, parameters).await?;
    if let Some(interpretation) = &interpretation {
        list.note = interpretation_note(frame, interpretation);
    }
    if let Some(matches) = SerieNumberMatches::find(state, &interpreted).await? {
        list.note = note(frame, &matches);
        let page_request = PageRequest::parse(state, parameters)?;
        let (number, offset) = page_request.within(matches.count)?;
        return Ok(Found {
            count: matches.count,
            number,
            size: page_request.size,
            results: matches.part(state, page_request.limit(), offset).await?,
        });
    }
    let found = products::list(state, &interpreted).await?;
    if let Some(search) = parameters.get("search") {
        list.also = also(frame, search, interpretation.as_ref()).await?;
    }
    if found.count == 0 && parameters.get(ARCHIVED) == Some("false") {
        list.also.extend(archived(frame, list, interpreted).await?);
    }
    Ok(found)
}

/// A link to the archived products, if the filters select any: who finds nothing may make a product
/// again that is archived.
async fn archived(
    frame: &Frame,
    list: &ListPage,
    mut parameters: Parameters,
) -> Result<Option<Chip>, Refusal> {
    parameters.set(ARCHIVED, "true");
    let count = products::list(&frame.state, &parameters).await?.count;
    let words = frame.text("Produtos arquivados", "Archived products");
    Ok((count > 0).then(|| Chip {
        text: format!("{words}: {}", frame.locale.number(count)),
        address: list.address.with(&[(ARCHIVED, "true")]),
    }))
}

fn interpretation_note(frame: &Frame, interpretation: &Interpretation) -> String {
    let (text, what) = match interpretation {
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

fn note(frame: &Frame, matches: &SerieNumberMatches) -> String {
    let text = frame.text(
        "Nenhum título corresponde. Produtos cujo número de série começa com",
        "No title matches. Products whose serial number begins with",
    );
    let more = if matches.is_cut {
        frame.text(
            " (os primeiros 10.000; digite mais para encontrar os outros)",
            " (the first 10,000; type more to find the others)",
        )
    } else {
        ""
    };
    format!("{text} {}{more}:", matches.text)
}

/// Links to other matches of a search: products whose serie number begins with it, and brands and
/// categories with that name.
async fn also(
    frame: &Frame,
    search: &str,
    interpretation: Option<&Interpretation>,
) -> Result<Vec<Chip>, Refusal> {
    let (state, mut chips) = (&frame.state, Vec::new());
    for product in lookup::numbered_like(state, search, (ALSO, 0)).await? {
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
            let is_shown = matches!(
                interpretation,
                Some(Interpretation::Named { kind: other, id, .. })
                    if (*other, *id) == (kind, record.id)
            );
            if !is_shown {
                chips.push(Chip {
                    text: format!("{text}: {}", record.name),
                    address: format!("/products/?{}={}", kind.name(), record.id),
                });
            }
        }
    }
    Ok(chips)
}

/// The address of the product whose serie number was searched for, as a scanner types it.
pub(crate) async fn jump(
    frame: &Frame,
    parameters: &Parameters,
) -> Result<Option<String>, Refusal> {
    let search = parameters.get("search").unwrap_or_default();
    if search.is_empty() || search.contains('\0') {
        return Ok(None);
    }
    if let Some(product) = products::with_serie_number(&frame.state, search).await? {
        return Ok(Some(address(product.id)));
    }
    // A number that is typed only in part leads to a product if it begins a single serie number and
    // matches no title.
    let candidates = lookup::numbered_like(&frame.state, search, (2, 0)).await?;
    let is_title = !products::first_matches(&frame.state, &Parameters::of("search", search), 1)
        .await?
        .is_empty();
    Ok(match candidates.as_slice() {
        [product] if !is_title => Some(address(product.id)),
        _ => None,
    })
}
