//! Names the browser and the system of a `User-Agent` header. Browsers name compatible ones as
//! well, so the order of the tables matters. The result is only displayed.

use web::locale::Locale;

/// Browsers by a part of the header. One that names others as well comes before them.
const BROWSERS: [(&str, &str); 10] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Vivaldi/", "Vivaldi"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
];

/// Systems by a part of the header. One that names others as well comes before them.
const SYSTEMS: [(&str, &str); 8] = [
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Mac OS X", "Mac"),
    ("Linux", "Linux"),
    ("FreeBSD", "FreeBSD"),
];

/// "Chrome no Windows", "Chrome on Windows", or the part that is known.
pub fn words(agent: &str, locale: Locale) -> String {
    let find = |table: &[(&'static str, &'static str)]| {
        let found = table.iter().find(|(word, _)| agent.contains(word));
        found.map(|(_, name)| *name)
    };
    let on = |system| format!("{} {system}", locale.text("no", "on"));
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} {}", on(system)),
        (Some(browser), None) => browser.to_owned(),
        (None, Some(system)) => {
            let browser = locale.text("Navegador", "A browser");
            format!("{browser} {}", on(system))
        }
        (None, None) => locale
            .text("Programa desconhecido", "Unknown program")
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_are_called_by_the_names_that_people_know() {
        for (agent, portuguese) in [
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Safari/537.36 Edg/142.0",
                "Edge no Windows",
            ),
            (
                "Mozilla/5.0 (Linux; Android 15; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Mobile Safari/537.36",
                "Chrome no Android",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1",
                "Safari no iPhone",
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox no Linux",
            ),
            ("curl/8.14.1", "curl"),
            ("Something on Windows", "Navegador no Windows"),
            ("", "Programa desconhecido"),
        ] {
            assert_eq!(words(agent, Locale::PtBr), portuguese);
        }
        assert_eq!(
            words(
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605",
                Locale::En
            ),
            "Safari on Mac"
        );
    }
}
