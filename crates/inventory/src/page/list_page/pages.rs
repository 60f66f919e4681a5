//! The links to the pages of a list.

use std::collections::BTreeSet;

/// A link to a page. Without an address it is a gap.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PageLink {
    /// The page number; for a gap, the first number that is left out.
    pub(crate) number: u64,
    pub(crate) address: Option<String>,
    pub(crate) is_current: bool,
}

/// Links to the first page, the last page, and the pages around the current one.
pub(crate) fn page_links(
    current: u64,
    last: u64,
    address: impl Fn(u64) -> String,
) -> Vec<PageLink> {
    let near = current.saturating_sub(2).max(1)..=current.saturating_add(2).min(last);
    let mut links = Vec::new();
    let mut before = 0;
    for number in near.chain([1, last]).collect::<BTreeSet<_>>() {
        if number > before + 1 {
            links.push(PageLink {
                number: before + 1,
                address: None,
                is_current: false,
            });
        }
        links.push(PageLink {
            number,
            address: Some(address(number)),
            is_current: number == current,
        });
        before = number;
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_page_the_last_and_those_beside_the_current_one_are_linked() {
        let shown = |current, last| {
            let links = page_links(current, last, |number| number.to_string());
            let texts = links.into_iter().map(|link| match link.address {
                Some(address) if link.is_current => format!("[{address}]"),
                address => address.unwrap_or("…".to_owned()),
            });
            texts.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(1, 1), "[1]");
        assert_eq!(shown(3, 5), "1 2 [3] 4 5");
        assert_eq!(shown(5, 9), "1 … 3 4 [5] 6 7 … 9");
        assert_eq!(shown(1, 20), "[1] 2 3 … 20");
    }
}
