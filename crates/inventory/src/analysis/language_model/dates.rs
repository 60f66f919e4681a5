//! The forms in which a text may say a date.

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
        let numeric = match locale {
            Locale::PtBr => format!("{day}/{month}"),
            Locale::En => format!("{month}/{day}"),
        };
        dated.extend(years.iter().map(|year| format!("{numeric}/{year}")));
        undated.push(numeric);
    }
    let ordinal = ordinal(day, locale);
    for day in both(day).into_iter().chain(ordinal.clone()) {
        for name in &names {
            let (forms, with_year) = match locale {
                Locale::PtBr => {
                    let form = format!("{day} de {name}");
                    (vec![form.clone()], vec![format!("{form} de {year}")])
                }
                Locale::En => (
                    vec![format!("{day} {name}"), format!("{name} {day}")],
                    vec![
                        format!("{day} {name} {year}"),
                        format!("{day} of {name} {year}"),
                        format!("{name} {day}, {year}"),
                        format!("{name} {day} {year}"),
                    ],
                ),
            };
            dated.extend(with_year);
            undated.extend(forms);
        }
        if locale == Locale::PtBr {
            undated.push(format!("dia {day}"));
        }
    }
    undated.extend(ordinal.filter(|_| locale == Locale::En));
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
