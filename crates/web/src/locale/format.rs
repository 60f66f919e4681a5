//! Numbers, money, dates and times as people read them. Times are those of São Paulo, where the
//! shops are.

use std::fmt;

use db::{Money, Timestamp};
use jiff::Zoned;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

use super::Locale;

/// The time zone of dates on pages, compiled in: a bare server has no zone files.
static SAO_PAULO: TimeZone = jiff::tz::get!("America/Sao_Paulo");

/// How files for readers write times; spreadsheets may leave the seconds out.
const FILE_TIMES: [&str; 4] = [
    "%d/%m/%Y %H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%Y-%m-%d %H:%M",
];

/// Reads a time of [`Locale::file_time`], in either language. A year has four digits.
pub fn read_file_time(text: &str) -> Option<Timestamp> {
    let mut formats = FILE_TIMES.into_iter();
    let read = formats.find_map(|format| DateTime::strptime(format, text).ok())?;
    let read = Some(read).filter(|read| read.year() >= 1000)?;
    let zoned = read.to_zoned(SAO_PAULO.clone()).ok()?;
    Some(Timestamp::from_jiff(zoned.timestamp()))
}

impl Locale {
    /// An amount in reais: `R$ 1.234,56`, or `R$ 1,234.56` in English. The space does not break.
    pub fn money(self, amount: Money) -> String {
        self.hundredths(&amount.cents().to_string())
    }

    /// An amount of any size, given by the digits of its hundredths.
    pub fn hundredths(self, number: &str) -> String {
        let (sign, digits) = signed(number);
        format!("{sign}R$\u{a0}{}", self.decimals(digits))
    }

    /// A number with two decimals: `1.234,56`, or `1,234.56` in English.
    pub fn decimal(self, number: Money) -> String {
        let hundredths = number.cents().to_string();
        let (sign, digits) = signed(&hundredths);
        format!("{sign}{}", self.decimals(digits))
    }

    /// The digits of hundredths, the last two behind the decimal mark.
    fn decimals(self, digits: &str) -> String {
        let digits = format!("{digits:0>3}");
        let (whole, rest) = digits.split_at(digits.len().saturating_sub(2));
        let point = self.text(",", ".");
        format!("{}{point}{rest}", self.grouped(whole))
    }

    /// A whole number, of any type: `1.234.567`, or `1,234,567` in English.
    pub fn number(self, number: impl fmt::Display) -> String {
        let number = number.to_string();
        let (sign, digits) = signed(&number);
        format!("{sign}{}", self.grouped(digits))
    }

    /// A change of a number, with its sign: `+5`, `−2`.
    pub fn signed(self, change: i64) -> String {
        let digits = self.number(change.unsigned_abs());
        match change {
            1.. => format!("+{digits}"),
            0 => digits,
            _ => format!("−{digits}"),
        }
    }

    /// A date in São Paulo: `20/11/2026`, or `20 Nov 2026` in English (day and month are never to
    /// be mistaken).
    pub fn date(self, time: Timestamp) -> String {
        self.written(in_sao_paulo(time).date())
    }

    /// A day (`2026-11-20`) as a date. `None` if it is none.
    pub fn day(self, text: &str) -> Option<String> {
        text.parse().ok().map(|day| self.written(day))
    }

    fn written(self, day: Date) -> String {
        let format = self.text("%d/%m/%Y", "%-d %b %Y");
        day.strftime(format).to_string()
    }

    /// A date and time in São Paulo, to the minute: `20/11/2026 14:05`, or `20 Nov 2026, 14:05` in
    /// English.
    pub fn date_time(self, time: Timestamp) -> String {
        let clock = in_sao_paulo(time).strftime("%H:%M").to_string();
        format!("{}{}{clock}", self.date(time), self.text(" ", ", "))
    }

    /// A date and time in São Paulo as a spreadsheet reads it, to the second:
    /// `20/11/2026 14:05:09`, or `2026-11-20 14:05:09` in English.
    pub fn file_time(self, time: Timestamp) -> String {
        let format = match self {
            Self::PtBr => FILE_TIMES[0],
            Self::En => FILE_TIMES[1],
        };
        in_sao_paulo(time).strftime(format).to_string()
    }

    /// The digits in groups of three.
    fn grouped(self, digits: &str) -> String {
        let separator = self.text(".", ",");
        let mut text = String::with_capacity(digits.len() / 3 * 4 + 1);
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                text.push_str(separator);
            }
            text.push(digit);
        }
        text
    }
}

/// The sign, if there is one, and the digits behind it.
fn signed(number: &str) -> (&'static str, &str) {
    number
        .strip_prefix('-')
        .map_or(("", number), |digits| ("-", digits))
}

/// The local time in São Paulo.
pub fn in_sao_paulo(time: Timestamp) -> Zoned {
    time.to_jiff().to_zoned(SAO_PAULO.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn money(cents: i128) -> (String, String) {
        let amount = Money::from_cents(cents);
        (Locale::PtBr.money(amount), Locale::En.money(amount))
    }

    #[test]
    fn money_is_written_as_each_language_writes_it() {
        let cases = [
            (0, "R$\u{a0}0,00", "R$\u{a0}0.00"),
            (1999, "R$\u{a0}19,99", "R$\u{a0}19.99"),
            (123_456, "R$\u{a0}1.234,56", "R$\u{a0}1,234.56"),
            (-5, "-R$\u{a0}0,05", "-R$\u{a0}0.05"),
            (
                100_000_000_005,
                "R$\u{a0}1.000.000.000,05",
                "R$\u{a0}1,000,000,000.05",
            ),
        ];
        for (cents, portuguese, english) in cases {
            assert_eq!(money(cents), (portuguese.to_owned(), english.to_owned()));
        }
    }

    #[test]
    fn a_time_in_a_file_has_a_year_of_four_digits() {
        for text in ["28/11/2026 05:00", "2026-11-28 05:00:00"] {
            assert!(read_file_time(text).is_some(), "{text}");
        }
        for text in ["28/11/26 05:00", "0026-11-28 05:00"] {
            assert_eq!(read_file_time(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(Locale::PtBr.number(1_234_567), "1.234.567");
        assert_eq!(Locale::En.number(-1_001), "-1,001");
        assert_eq!(Locale::En.number(i64::MIN), "-9,223,372,036,854,775,808");
        assert_eq!(Locale::PtBr.number(100), "100");
        assert_eq!(
            [-1_200, 0, 3].map(|change| Locale::PtBr.signed(change)),
            ["−1.200", "0", "+3"]
        );
    }

    #[test]
    fn numbers_and_amounts_of_any_size_are_written_whole() {
        let digits = "922337203685477500799907766279631";
        assert_eq!(
            Locale::En.number(digits),
            "922,337,203,685,477,500,799,907,766,279,631"
        );
        assert_eq!(
            Locale::PtBr.hundredths("-92233720368547750079990776627963146061628"),
            "-R$\u{a0}922.337.203.685.477.500.799.907.766.279.631.460.616,28"
        );
        assert_eq!(Locale::PtBr.hundredths("-5"), "-R$\u{a0}0,05");
    }

    #[test]
    fn dates_are_those_of_sao_paulo() {
        let time = Timestamp::parse("2026-11-20T02:30:00Z").unwrap();
        assert_eq!(Locale::PtBr.date_time(time), "19/11/2026 23:30");
        assert_eq!(Locale::En.date_time(time), "19 Nov 2026, 23:30");
        assert_eq!(Locale::En.day("2026-11-05").as_deref(), Some("5 Nov 2026"));
        assert_eq!(Locale::PtBr.day("2026-11-31"), None);
    }

    #[test]
    fn summer_time_of_its_years_is_known() {
        let time = Timestamp::parse("2018-12-25T12:00:00Z").unwrap();
        assert_eq!(Locale::PtBr.date_time(time), "25/12/2018 10:00");
    }
}
