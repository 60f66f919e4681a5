//! One page of a list, and the request for a page.

use super::{
    list::{PageNumber, last_page, page_size},
    query::Parameters,
    refusal::InvalidPage,
};
use crate::State;

/// One page of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// The number of records on all pages.
    pub count: u64,
    /// The page's number, from 1.
    pub number: u64,
    /// The number of records a page.
    pub size: u64,
    /// The records of this page.
    pub results: Vec<T>,
}

impl<T> Page<T> {
    /// The number of the last page.
    pub(crate) fn last(&self) -> u64 {
        last_page(self.count, self.size)
    }

    /// Maps every record of the page.
    pub fn map<U>(self, value: impl FnMut(T) -> U) -> Page<U> {
        Page {
            count: self.count,
            number: self.number,
            size: self.size,
            results: self.results.into_iter().map(value).collect(),
        }
    }
}

/// A page that ends within this many rows counts as near the beginning of the list.
const NEAR: u64 = 200;

/// The request for one page of a list.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest {
    /// The requested page.
    pub page: PageNumber,
    /// The number of records a page.
    pub size: u64,
}

impl PageRequest {
    /// Parses `page` and `page_size`.
    pub fn parse(state: &State, parameters: &Parameters) -> Result<Self, InvalidPage> {
        let size = page_size(
            parameters,
            state.config.page_size,
            state.config.max_page_size,
        );
        Ok(Self {
            page: PageNumber::parse(parameters)?,
            size,
        })
    }

    /// The page's number and the offset of its first record, given the number of records. An error
    /// for a page after the last one.
    pub fn within(self, count: u64) -> Result<(u64, i64), InvalidPage> {
        let last = last_page(count, self.size);
        let number = match self.page {
            PageNumber::Last => last,
            PageNumber::Number(number) if number <= last => number,
            PageNumber::Number(_) => return Err(InvalidPage),
        };
        let offset = (number - 1).saturating_mul(self.size);
        Ok((number, i64::try_from(offset).unwrap_or(i64::MAX)))
    }

    /// The page with this number of a list of `count` records.
    pub fn page<T>(self, count: u64, number: u64, results: Vec<T>) -> Page<T> {
        Page {
            count,
            number,
            size: self.size,
            results,
        }
    }

    /// Whether the page ends within the first rows of its list, so that skipping to it is cheap.
    pub fn is_near(self) -> bool {
        matches!(self.page, PageNumber::Number(number) if number.saturating_mul(self.size) <= NEAR)
    }

    /// The page size as the `LIMIT` of a query.
    pub fn limit(self) -> i64 {
        i64::try_from(self.size).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_has_one_page() {
        let within = |page, count| PageRequest { page, size: 10 }.within(count);
        assert_eq!(within(PageNumber::Number(1), 0), Ok((1, 0)));
        assert_eq!(within(PageNumber::Last, 0), Ok((1, 0)));
        assert_eq!(within(PageNumber::Number(2), 10), Err(InvalidPage));
        assert_eq!(within(PageNumber::Number(2), 11), Ok((2, 10)));
    }
}
