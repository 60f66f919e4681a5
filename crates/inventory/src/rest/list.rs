//! The query parameters of every list: `page`, `page_size`, `search` and `ordering`, and the
//! parsing of filter values. Each resource defines which fields it orders and filters by.

use std::{collections::HashSet, time::Duration};

use db::{Money, Timestamp};
use http::StatusCode;
use resource::Field;

use super::{
    fields::FieldErrors,
    message::Message,
    number::{Decimal, MAX_NUMBER_LENGTH, is_integer},
    query::Parameters,
    refusal::{InvalidPage, Refusal},
};

/// The most different words of a search. Each word costs a condition in SQL.
pub const MAX_SEARCH_WORDS: usize = 16;

/// Filters accept numbers up to ten to this power.
const MAX_FILTER_EXPONENT: i64 = 50;

const NOT_A_NUMBER: Message = Message::fixed("Digite um número.", "Enter a number.");

pub(crate) const DAY: Duration = Duration::from_secs(86_400);

/// The requested page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageNumber {
    /// A page number, from 1.
    Number(u64),
    /// `last`
    Last,
}

/// A filter that belongs to no field. The list parses it, and the API's document describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryFilter {
    /// The parameter's name.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: FilterKind,
    /// Its description in the API's document: which records it selects.
    pub about: &'static str,
}

/// The kind of a filter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterKind {
    /// Search words.
    Words,
    /// A day.
    Day,
    /// `true` or `false`.
    Truth,
}

impl QueryFilter {
    /// The `search` parameter of a list.
    pub const SEARCH: Self = Self {
        name: "search",
        kind: FilterKind::Words,
        about: "Up to sixteen different words, parted by blanks or commas, each of which must occur in the name (title); case \
                and accents do not matter. Quotes keep a phrase together.",
    };
}

/// One sort key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderBy {
    /// The name of the output field.
    pub field: &'static str,
    /// Whether the name has a `-` before it.
    pub descending: bool,
}

impl PageNumber {
    /// Parses `page`. An empty value counts as absent, a blank one is an error. An error unless it
    /// is a number from 1 or `last`.
    pub fn parse(parameters: &Parameters) -> Result<Self, InvalidPage> {
        match parameters.sent("page").unwrap_or_default() {
            "" => Ok(Self::Number(1)),
            "last" => Ok(Self::Last),
            page => match page.trim().parse() {
                Ok(number @ 1..) => Ok(Self::Number(number)),
                _ => Err(InvalidPage),
            },
        }
    }
}

/// The number of the last page. An empty list has one page.
pub(crate) fn last_page(count: u64, page_size: u64) -> u64 {
    count.div_ceil(page_size.max(1)).max(1)
}

/// Parses `page_size`. An invalid value means `default`; a value above `max` means `max`.
pub fn page_size(parameters: &Parameters, default: u64, max: u64) -> u64 {
    let requested = parameters
        .get("page_size")
        .map(str::trim)
        .filter(|size| size.bytes().all(|byte| byte.is_ascii_digit()));
    match requested.map(str::parse::<u64>) {
        None | Some(Ok(0)) => default,
        Some(Ok(size)) => size.min(max),
        // A number that does not fit into 64 bits.
        Some(Err(_)) => max,
    }
}

/// Parses `ordering`. Names of other fields than `fields` are ignored. If none is left, the order is `default`.
pub fn ordering(
    parameters: &Parameters,
    fields: &[&'static Field],
    default: OrderBy,
) -> Vec<OrderBy> {
    let mut order: Vec<OrderBy> = Vec::new();
    for item in parameters.get("ordering").unwrap_or_default().split(',') {
        let item = item.trim();
        let (name, descending) = item
            .strip_prefix('-')
            .map_or((item, false), |name| (name, true));
        let known = fields.iter().find(|field| field.name == name);
        if let Some(field) = known
            && !order.iter().any(|by| by.field == field.name)
        {
            order.push(OrderBy {
                field: field.name,
                descending,
            });
        }
    }
    if order.is_empty() {
        order.push(default);
    }
    order
}

/// Parses `search` into different folded words, each of which must match. White space and commas
/// separate words; quotes keep a phrase together. Of more than [`MAX_SEARCH_WORDS`], which
/// [`search_problem`] reports, these are the first.
pub fn search_words(parameters: &Parameters) -> Vec<String> {
    let mut words = different_words(parameters);
    words.truncate(MAX_SEARCH_WORDS);
    words
}

fn different_words(parameters: &Parameters) -> Vec<String> {
    let mut known = HashSet::new();
    let text = db::fold(parameters.get("search").unwrap_or_default());
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches(is_separator);
    while let Some(first) = rest.chars().next() {
        let quoted = matches!(first, '"' | '\'')
            .then(|| rest.get(1..).and_then(|inside| inside.split_once(first)))
            .flatten();
        let (word, after) = match quoted {
            Some((phrase, after)) if after.is_empty() || after.starts_with(is_separator) => {
                (phrase, after)
            }
            _ => rest.split_at(rest.find(is_separator).unwrap_or(rest.len())),
        };
        // A lone quotation mark is the beginning of a phrase that is still being typed.
        if !matches!(word, "" | "\"" | "'") && known.insert(word) {
            words.push(word.to_owned());
        }
        rest = after.trim_start_matches(is_separator);
    }
    words
}

/// Why a search is refused: it has the null character, or too many words.
pub fn search_problem(parameters: &Parameters) -> Option<Message> {
    if parameters.get("search")?.contains('\0') {
        return Some(Message::NULL_CHARACTERS);
    }
    (different_words(parameters).len() > MAX_SEARCH_WORDS).then(|| {
        Message::new(
            format!("Busque no máximo {MAX_SEARCH_WORDS} palavras diferentes."),
            format!("Search for at most {MAX_SEARCH_WORDS} different words."),
        )
    })
}

/// Refuses a search that has a [`search_problem`]. 400; for the null character with the
/// conventional body, which is a list of messages.
pub fn check_search(parameters: &Parameters) -> Result<(), Refusal> {
    match search_problem(parameters) {
        None => Ok(()),
        Some(message) if message == Message::NULL_CHARACTERS => {
            let message = message.to_string();
            let error = web::Error::new(StatusCode::BAD_REQUEST, message.clone());
            Err(error.body(&[message]).into())
        }
        Some(message) => Err(FieldErrors::of("search", message).into()),
    }
}

fn is_separator(character: char) -> bool {
    character.is_whitespace() || character == ',' || character == '\0'
}

/// Parses the filters of one list and collects all their errors.
#[derive(Debug)]
pub struct Filters<'query> {
    parameters: &'query Parameters,
    errors: FieldErrors,
}

impl<'query> Filters<'query> {
    /// A reader of one query string.
    pub fn new(parameters: &'query Parameters) -> Self {
        Self {
            parameters,
            errors: FieldErrors::default(),
        }
    }

    /// The id of a referenced record. An unknown id is valid and matches nothing.
    pub fn id(&mut self, name: &'static str) -> Option<i64> {
        let text = self.parameters.get(name)?.trim();
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        if digits.len() > MAX_NUMBER_LENGTH || !is_integer(text) {
            self.errors.add(name, NOT_A_NUMBER);
            return None;
        }
        Some(text.parse().unwrap_or(0))
    }

    /// `true` or `false`, in whatever case a client's language writes them.
    pub fn truth(&mut self, name: &'static str) -> Option<bool> {
        match self.parameters.get(name)?.trim().to_lowercase().as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                self.errors.add(name, Message::NOT_A_TRUTH);
                None
            }
        }
    }

    /// A lower bound of prices. A bound with more than two decimals is rounded up.
    pub fn least_price(&mut self, name: &'static str) -> Option<Money> {
        self.bound(name, Decimal::to_bound_above)
    }

    /// An upper bound of prices. A bound with more than two decimals is rounded down.
    pub fn greatest_price(&mut self, name: &'static str) -> Option<Money> {
        self.bound(name, Decimal::to_bound_below)
    }

    /// The start of a day in UTC.
    pub fn day_start(&mut self, name: &'static str) -> Option<Timestamp> {
        let day = self.parameters.get(name)?.trim();
        let start = parse_day(day);
        if start.is_none() {
            let message = Message::fixed("Digite uma data válida.", "Enter a valid date.");
            self.errors.add(name, message);
        }
        start
    }

    /// The errors of all filters, in the order in which the filters were parsed.
    pub fn finish(self) -> FieldErrors {
        self.errors
    }

    fn bound(
        &mut self,
        name: &'static str,
        round: impl FnOnce(&Decimal) -> Money,
    ) -> Option<Money> {
        let text = self.parameters.get(name)?;
        let number = Some(text)
            .filter(|text| text.len() <= MAX_NUMBER_LENGTH)
            .and_then(Decimal::parse);
        let Some(number) = number else {
            self.errors.add(name, NOT_A_NUMBER);
            return None;
        };
        if number.is_above_power_of_ten(MAX_FILTER_EXPONENT) {
            let message = Message::new(
                format!("O valor deve ser no máximo 1e+{MAX_FILTER_EXPONENT}."),
                format!("Ensure this value is less than or equal to 1e+{MAX_FILTER_EXPONENT}."),
            );
            self.errors.add(name, message);
            return None;
        }
        Some(round(&number))
    }
}

/// The start in UTC of a day that is written as YYYY-MM-DD. Other date formats are refused.
pub fn parse_day(text: &str) -> Option<Timestamp> {
    let shape = text.len() == 10
        && text.bytes().enumerate().all(|(at, byte)| {
            if at == 4 || at == 7 {
                byte == b'-'
            } else {
                byte.is_ascii_digit()
            }
        });
    // Python's calendar, which clients of the conventions expect, has no year 0.
    if !shape || text.starts_with("0000") {
        return None;
    }
    // This day starts after the latest time that `Timestamp::parse` accepts.
    if text == "9999-12-31" {
        let day_before = Timestamp::parse("9999-12-30T00:00:00Z").ok()?;
        return Some(day_before + DAY);
    }
    Timestamp::parse(&format!("{text}T00:00:00Z")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(query: &str) -> Parameters {
        Parameters::parse(query)
    }

    #[test]
    fn pages_are_numbers_from_one_or_last() {
        for (query, page) in [
            ("", 1),
            ("page=", 1),
            ("page=2", 2),
            ("page=%2B2", 2),
            ("page=02", 2),
            ("page=1&page=3", 3),
        ] {
            assert_eq!(
                PageNumber::parse(&parameters(query)),
                Ok(PageNumber::Number(page)),
                "{query}"
            );
        }
        assert_eq!(
            PageNumber::parse(&parameters("page=last")),
            Ok(PageNumber::Last)
        );
        let refused = PageNumber::parse(&parameters("page=%20"));
        assert_eq!(refused, Err(InvalidPage));
    }

    #[test]
    fn unknown_order_names_are_dropped() {
        const ID: &Field = &resource::id().named("id");
        const NAME: &Field = &resource::token::<String>("Nome", "Name").named("name");
        let default = OrderBy {
            field: "name",
            descending: false,
        };
        let order = |query: &str| ordering(&parameters(query), &[ID, NAME], default);
        assert_eq!(
            order("ordering=-id,%20name"),
            [
                OrderBy {
                    field: "id",
                    descending: true
                },
                default
            ]
        );
        assert_eq!(order("ordering=pk,--name,NAME,-"), [default]);
    }

    #[test]
    fn search_parts_words_and_keeps_phrases() {
        let words = |query: &str| search_words(&parameters(query));
        assert_eq!(words("search=Caf%C3%A9,%20PRETO"), ["cafe", "preto"]);
        assert_eq!(words("search=%22two+alpha%22+x"), ["two alpha", "x"]);
        assert_eq!(words("search=it's+\"open"), ["it's", "\"open"]);
        assert!(words("search=,+,").is_empty());
        assert!(words("search=%22").is_empty());
        assert_eq!(words("search='+tv+%22"), ["tv"]);
        assert_eq!(words("search=ch%C3%A1+Cha+mate+cha"), ["cha", "mate"]);
    }

    #[test]
    fn price_bounds_are_exact_beyond_two_decimals() {
        let parameters = parameters("min_price=10.005&max_price=10.005");
        let mut filters = Filters::new(&parameters);
        assert_eq!(
            filters.least_price("min_price"),
            Some(Money::from_cents(1001))
        );
        assert_eq!(
            filters.greatest_price("max_price"),
            Some(Money::from_cents(1000))
        );
    }
}
