//! The forms in which a text may say a date. A day alone is none: the text may go on with another
//! month.

use jiff::civil::Date;
use web::locale::Locale;

use crate::months;

/// The forms of a date in lower case, those with a year first.
pub(super) fn written(date: Date, locale: Locale) -> Vec<String> {
    let (year, month, day) = (date.year(), date.month(), date.day());
    let name = months::name(locale, month).to_lowercase();
    let short: String = name.chars().take(3).collect();
    let names = [format!("{short}."), name, short];
    let both = |number: i8| [format!("{number:02}"), number.to_string()];
    let years = [format!("{year}"), format!("{:02}", year.rem_euclid(100))];
    let (mut dated, mut undated) = (vec![date.to_string()], Vec::new());
    for (day, month) in both(day)
        .iter()
        .flat_map(|day| both(month).map(|month| (day, month)))
    {
        let numeric = locale.choose(format!("{day}/{month}"), format!("{month}/{day}"));
        dated.extend(years.iter().map(|year| format!("{numeric}/{year}")));
        undated.push(numeric);
    }
    let joints: &[&str] = locale.choose(&[" de "], &[" ", ", "]);
    for day in both(day).into_iter().chain(ordinal(day, locale)) {
        for name in &names {
            let forms = locale.choose(
                vec![format!("{day} de {name}")],
                vec![
                    format!("{day} {name}"),
                    format!("{day} of {name}"),
                    format!("{name} {day}"),
                ],
            );
            for form in forms {
                dated.extend(joints.iter().map(|joint| format!("{form}{joint}{year}")));
                undated.push(form);
            }
        }
    }
    dated.extend(undated);
    dated
}

/// A day as an ordinal. Portuguese has one for the first of a month only.
fn ordinal(day: i8, locale: Locale) -> Option<String> {
    let ending = match (locale, day) {
        (Locale::PtBr, 1) => "º",
        (Locale::PtBr, _) => return None,
        (Locale::En, 1 | 21 | 31) => "st",
        (Locale::En, 2 | 22) => "nd",
        (Locale::En, 3 | 23) => "rd",
        (Locale::En, _) => "th",
    };
    Some(format!("{day}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_written_with_and_without_a_zero_and_as_an_ordinal() {
        let first = Date::constant(2026, 12, 1);
        for text in [
            "1º de dezembro",
            "1/12/2026",
            "01/12",
            "01 de dezembro de 2026",
        ] {
            assert!(
                written(first, Locale::PtBr).contains(&text.to_owned()),
                "{text}"
            );
        }
        for text in ["dec. 1st, 2026", "1st december", "12/1/26"] {
            assert!(
                written(first, Locale::En).contains(&text.to_owned()),
                "{text}"
            );
        }
    }
}
