//! Formats numbers, days and dates in the language of the text.

use db::Timestamp;
use web::locale::Locale;

use super::super::model::{Class, ForecastMethod};
use crate::aggregates::DAY;

/// A date this many days away or more is not told exactly.
const FAR: i64 = 3650;

/// A text as one line of at most `longest` characters, without control characters and without
/// characters that change the writing direction.
pub(in super::super) fn clean(text: &str, longest: usize) -> String {
    let is_unfit = |character: &char| {
        character.is_control()
            || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let spaced = text.chars().map(|character| {
        if character.is_whitespace() {
            ' '
        } else {
            character
        }
    });
    let cleaned: String = spaced
        .filter(|character| !is_unfit(character))
        .take(longest)
        .collect();
    cleaned.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A number with at most `places` decimals and no trailing zeros.
pub(crate) fn decimal(locale: Locale, value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    let (integer, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let fraction = fraction.trim_end_matches('0');
    let integer = integer
        .parse::<i64>()
        .map_or_else(|_| integer.to_owned(), |integer| locale.number(integer));
    if fraction.is_empty() {
        integer
    } else {
        format!("{integer}{}{fraction}", locale.text(",", "."))
    }
}

pub(super) fn percent(locale: Locale, value: f64) -> String {
    format!("{}%", decimal(locale, value, 2))
}

/// A number with its noun, in the singular or plural.
fn counted(locale: Locale, number: i64, portuguese: (&str, &str), english: (&str, &str)) -> String {
    let (one, many) = locale.choose(portuguese, english);
    let noun = if number == 1 { one } else { many };
    format!("{} {noun}", locale.number(number))
}

pub(crate) fn units(locale: Locale, number: i64) -> String {
    counted(locale, number, ("unidade", "unidades"), ("unit", "units"))
}

pub(crate) fn products(locale: Locale, number: i64) -> String {
    counted(
        locale,
        number,
        ("produto", "produtos"),
        ("product", "products"),
    )
}

pub(super) fn whole_days(locale: Locale, number: i64) -> String {
    counted(locale, number, ("dia", "dias"), ("day", "days"))
}

/// A number of days, with one decimal below 10.
pub(super) fn days(locale: Locale, length: f64) -> String {
    let places = usize::from(length < 10.0);
    let number = decimal(locale, length, places);
    let noun = if number == "1" {
        locale.text("dia", "day")
    } else {
        locale.text("dias", "days")
    };
    format!("{number} {noun}")
}

/// How long the stock lasts.
pub(super) fn cover(locale: Locale, length: f64) -> String {
    if length < 0.05 {
        return locale.text("menos de 1 dia", "less than a day").to_owned();
    }
    format!(
        "{} {}",
        locale.text("cerca de", "about"),
        days(locale, length)
    )
}

/// How fast a product sells: units per day, or the days between two sales.
pub(super) fn pace(locale: Locale, per_day: f64) -> String {
    if per_day < 0.5 {
        let interval = days(locale, per_day.recip());
        return format!("{} {interval}", locale.text("1 a cada", "1 every"));
    }
    let units = decimal(locale, per_day, 1);
    format!("{units} {}", locale.text("por dia", "a day"))
}

/// The date in `in_days` days, "today", or a date in ten years "or later".
pub(super) fn moment(locale: Locale, now: Timestamp, in_days: i64) -> String {
    match in_days {
        ..=0 => locale.text("hoje", "today").to_owned(),
        FAR.. => {
            let far = moment(locale, now, FAR - 1);
            format!("{far} {}", locale.text("ou depois", "or later"))
        }
        days => locale.date(now + DAY * u32::try_from(days).unwrap_or(0)),
    }
}

pub(super) fn class(locale: Locale, class: Class) -> &'static str {
    match class {
        Class::Smooth => locale.text(
            "Sai quase todo dia, em quantidades parecidas",
            "It sells nearly every day, in similar quantities",
        ),
        Class::Erratic => locale.text(
            "Sai quase todo dia, em quantidades muito variadas",
            "It sells nearly every day, in very different quantities",
        ),
        Class::Intermittent => locale.text(
            "Sai de vez em quando, em quantidades parecidas",
            "It sells now and then, in similar quantities",
        ),
        Class::Lumpy => locale.text(
            "Sai de vez em quando, em quantidades muito variadas",
            "It sells now and then, in very different quantities",
        ),
    }
}

pub(super) fn method(locale: Locale, method: ForecastMethod) -> &'static str {
    match method {
        ForecastMethod::Mean => locale.text(
            "a média dos dias com estoque",
            "the mean of the days with stock",
        ),
        ForecastMethod::Smoothing => locale.text(
            "uma média que dá mais peso aos dias recentes",
            "a mean that gives more weight to recent days",
        ),
        ForecastMethod::CrostonCorrected => locale.text(
            "um método próprio para vendas esporádicas",
            "a method made for sporadic sales",
        ),
    }
}

/// The confidence in a forecast for this class of demand.
pub(super) fn confidence(locale: Locale, class: Class) -> &'static str {
    match class {
        Class::Smooth => locale.text("boa", "good"),
        Class::Erratic | Class::Intermittent => locale.text("média", "fair"),
        Class::Lumpy => locale.text("baixa", "low"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_each_language_writes_them() {
        assert_eq!(decimal(Locale::PtBr, 1234.56, 1), "1.234,6");
        assert_eq!(decimal(Locale::En, 1234.56, 1), "1,234.6");
        assert_eq!(decimal(Locale::PtBr, 3.0, 1), "3");
        assert_eq!(days(Locale::PtBr, 1.0), "1 dia");
        assert_eq!(days(Locale::En, 33.4), "33 days");
        assert_eq!(cover(Locale::PtBr, 0.04), "menos de 1 dia");
        assert_eq!(cover(Locale::En, 0.05), "about 0.1 days");
        assert_eq!(units(Locale::PtBr, 1), "1 unidade");
        assert_eq!(percent(Locale::PtBr, 97.5), "97,5%");
        assert_eq!(pace(Locale::PtBr, 2.68), "2,7 por dia");
        assert_eq!(pace(Locale::En, 0.04), "1 every 25 days");
    }

    #[test]
    fn what_people_named_becomes_one_line_without_tricks() {
        let title = "Arroz\r\n\u{202e}5kg\u{0}\t  extra\u{200b}";
        assert_eq!(clean(title, 120), "Arroz 5kg extra");
        assert_eq!(clean(&"x".repeat(300), 120).len(), 120);
    }

    #[test]
    fn a_day_far_away_is_not_told_exactly() {
        let now = Timestamp::parse("2026-11-20T12:00:00Z").unwrap();
        assert_eq!(moment(Locale::PtBr, now, -3), "hoje");
        assert_eq!(moment(Locale::PtBr, now, 3), "23/11/2026");
        let far = moment(Locale::En, now, i64::MAX);
        assert_eq!(far, "16 Nov 2036 or later");
    }
}
