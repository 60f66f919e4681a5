//! The names of months.

use web::locale::Locale;

/// The name of a month, from 1.
pub(crate) fn name(locale: Locale, month: i8) -> String {
    const NAMES: [(&str, &str); 12] = [
        ("janeiro", "January"),
        ("fevereiro", "February"),
        ("março", "March"),
        ("abril", "April"),
        ("maio", "May"),
        ("junho", "June"),
        ("julho", "July"),
        ("agosto", "August"),
        ("setembro", "September"),
        ("outubro", "October"),
        ("novembro", "November"),
        ("dezembro", "December"),
    ];
    let index = usize::try_from(month).unwrap_or_default().saturating_sub(1);
    let name = NAMES.get(index).map(|names| locale.say(*names).to_owned());
    name.unwrap_or_else(|| month.to_string())
}
