//! One page of a list, and which page a request asks for.

use super::{
    list::{InvalidPage, PageNumber, page_size},
    query::Parameters,
};
use crate::State;

/// One page of a list.
#[derive(Debug)]
pub struct Page<T> {
    /// How many records there are on all pages.
    pub count: u64,
    /// The page's number, from 1.
    pub number: u64,
    /// Records a page.
    pub size: u64,
    /// The records of this page.
    pub results: Vec<T>,
}

impl<T> Page<T> {
    /// The same page of other values, one for each record.
    pub fn map<U>(self, value: impl FnMut(T) -> U) -> Page<U> {
        Page {
            count: self.count,
            number: self.number,
            size: self.size,
            results: self.results.into_iter().map(value).collect(),
        }
    }
}

/// A page that ends here or before is a few rows from the beginning of its list.
const NEAR: u64 = 200;

/// The page of a list that a request asks for.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest {
    /// The page's number.
    pub page: PageNumber,
    /// Records a page.
    pub size: u64,
}

impl PageRequest {
    /// Reads `page` and `page_size`.
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

    /// The page's number and the offset of its first record, once the length of the list is known.
    ///
    /// # Errors
    ///
    /// [`InvalidPage`] past the end.
    pub fn within(self, count: u64) -> Result<(u64, i64), InvalidPage> {
        let number = self.page.within(count, self.size)?;
        Ok((
            number,
            i64::try_from((number - 1).saturating_mul(self.size)).unwrap_or(i64::MAX),
        ))
    }

    /// The page of this number, of a list of so many records.
    pub fn page<T>(self, count: u64, number: u64, results: Vec<T>) -> Page<T> {
        Page {
            count,
            number,
            size: self.size,
            results,
        }
    }

    /// Whether it ends among the first few hundred of its list, so that nothing long stands before
    /// it.
    pub fn is_near(self) -> bool {
        matches!(self.page, PageNumber::Number(number) if number.saturating_mul(self.size) <= NEAR)
    }

    /// The most records of one answer.
    pub fn limit(self) -> i64 {
        i64::try_from(self.size).unwrap_or(i64::MAX)
    }
}
