//! Strict checks of a rendered page: valid HTML5, labelled fields, one `h1`, and nothing that the
//! content security policy would block or that would have to come from another server.
//! How a page looks and behaves is not checked here but in the browser.

mod tree;

use std::collections::BTreeSet;

use tree::{Element, Node, Tree};

/// Panics with every problem of the page. See [`problems`].
#[track_caller]
pub fn check(html: &str) {
    nothing_is_wrong(html, &problems(html));
}

/// As [`check`], for a mail, which needs no description.
#[track_caller]
pub fn check_mail(html: &str) {
    nothing_is_wrong(html, &problems_of_document(&Tree::parse(html)));
}

/// Fails unless a page has every one of these texts.
#[track_caller]
pub fn has(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(page.contains(text), "“{text}” is missing:\n{page}");
    }
}

/// Fails if a page has one of these texts.
#[track_caller]
pub fn has_not(page: &str, texts: &[&str]) {
    for text in texts {
        assert!(!page.contains(text), "“{text}” is there:\n{page}");
    }
}

#[track_caller]
fn nothing_is_wrong(html: &str, problems: &[String]) {
    assert!(
        problems.is_empty(),
        "the page has {} problem(s):\n{}\n\nThe page:\n{html}",
        problems.len(),
        problems.join("\n")
    );
}

/// Every problem of a whole page, each with its line: parse errors, `lang`, `title`, a description,
/// exactly one `h1`, unique ids, references to ids, labels of fields, types and names of buttons,
/// `alt` of images, inline scripts, styles and handlers, `javascript:` addresses, resources from
/// elsewhere.
pub fn problems(html: &str) -> Vec<String> {
    let tree = Tree::parse(html);
    let mut problems = problems_of_document(&tree);
    let descriptions = tree.elements().filter(|(_, element)| {
        let is_description = element.attribute("name") == Some("description");
        element.tag() == "meta" && is_description
    });
    let texts: Vec<_> = descriptions
        .map(|(_, element)| element.attribute("content").unwrap_or_default())
        .collect();
    if texts.len() != 1 || texts.contains(&"") {
        problems.push("a page needs one description that is not empty".to_owned());
    }
    problems
}

/// The problems of a document, page or mail.
fn problems_of_document(tree: &Tree) -> Vec<String> {
    let mut page = Page {
        problems: tree
            .errors
            .iter()
            .map(|error| format!("parse error, {error}"))
            .collect(),
        tree,
    };
    page.outline();
    page.ids();
    for (node, element) in tree.elements() {
        page.field(node, element);
        page.button(node, element);
        page.link(node, element);
        page.inline_code(element);
        page.resources(element);
        if element.tag() == "img" && element.attribute("alt").is_none() {
            page.problem(
                element,
                "an image needs an alt attribute, empty for a decoration",
            );
        }
    }
    page.problems
}

struct Page<'a> {
    tree: &'a Tree,
    problems: Vec<String>,
}

impl Page<'_> {
    fn problem(&mut self, element: &Element, what: &str) {
        self.problems.push(format!(
            "line {}: {}: {what}",
            element.line,
            element.shown()
        ));
    }

    fn outline(&mut self) {
        let of_tag = |tag: &str| {
            let tag = tag.to_owned();
            self.tree
                .elements()
                .filter(move |(_, element)| element.tag() == tag)
        };
        let mut missing = Vec::new();
        let lang = of_tag("html")
            .next()
            .and_then(|(_, html)| html.attribute("lang"));
        if lang.is_none_or(str::is_empty) {
            missing.push("<html> needs a lang".to_owned());
        }
        let in_head = |node: Node| self.tree.ancestors(node).any(|outer| outer.tag() == "head");
        let titles: Vec<_> = of_tag("title").filter(|(node, _)| in_head(*node)).collect();
        if titles.len() != 1
            || titles
                .iter()
                .any(|(node, _)| self.tree.text(*node).is_empty())
        {
            missing.push("a page needs one title that is not empty".to_owned());
        }
        let headings: Vec<_> = of_tag("h1").collect();
        if headings.len() != 1 {
            missing.push(format!(
                "a page needs exactly one h1, not {}",
                headings.len()
            ));
        }
        if of_tag("main").count() != 1 {
            missing.push("a page needs exactly one main".to_owned());
        }
        self.problems.extend(missing);
    }

    fn ids(&mut self) {
        let mut ids = BTreeSet::new();
        for (_, element) in self.tree.elements() {
            if let Some(id) = element.attribute("id")
                && (id.is_empty() || id.contains(char::is_whitespace) || !ids.insert(id))
            {
                self.problem(element, "the id is empty, has white space or stands twice");
            }
        }
        for (_, element) in self.tree.elements() {
            for name in [
                "for",
                "list",
                "form",
                "aria-labelledby",
                "aria-describedby",
                "aria-controls",
                "aria-errormessage",
            ] {
                let named = element.attribute(name).unwrap_or_default();
                for id in named.split_whitespace().filter(|id| !ids.contains(id)) {
                    self.problem(
                        element,
                        &format!("{name} names the id {id}, which is not on the page"),
                    );
                }
            }
        }
    }

    fn field(&mut self, node: Node, element: &Element) {
        let kind = element.attribute("type").unwrap_or("text");
        let is_field = match element.tag() {
            "input" => !["hidden", "submit", "button", "reset", "image"].contains(&kind),
            "select" | "textarea" => true,
            _ => false,
        };
        if is_field && !self.is_labelled(node, element) {
            self.problem(element, "a field needs a label");
        }
    }

    fn is_labelled(&self, node: Node, element: &Element) -> bool {
        let by_label = element.attribute("id").is_some_and(|id| {
            self.tree.elements().any(|(label, found)| {
                found.tag() == "label"
                    && found.attribute("for") == Some(id)
                    && !self.tree.text(label).is_empty()
            })
        });
        by_label
            || has_accessible_name(element)
            || self
                .tree
                .ancestors(node)
                .any(|outer| outer.tag() == "label")
    }

    fn button(&mut self, node: Node, element: &Element) {
        if element.tag() != "button" {
            return;
        }
        if !["submit", "button", "reset"].contains(&element.attribute("type").unwrap_or_default()) {
            self.problem(element, "a button needs a type");
        }
        if !self.has_name(node, element) {
            self.problem(element, "a button needs a text or an aria-label");
        }
    }

    fn link(&mut self, node: Node, element: &Element) {
        if element.tag() == "a"
            && element.attribute("href").is_some()
            && !self.has_name(node, element)
        {
            self.problem(element, "a link needs a text or an aria-label");
        }
        if element.tag() == "a" && element.attribute("href").is_none() {
            self.problem(element, "a link needs an href; what acts is a button");
        }
    }

    fn has_name(&self, node: Node, element: &Element) -> bool {
        has_accessible_name(element)
            || !self.tree.text(node).is_empty()
            || self.tree.below(node).any(|inner| {
                inner.attribute("alt").is_some_and(|alt| !alt.is_empty())
                    || has_accessible_name(inner)
            })
    }

    fn inline_code(&mut self, element: &Element) {
        match element.tag() {
            "style" => self.problem(element, "no inline styles"),
            "script" => {
                let kind = element.attribute("type").unwrap_or_default();
                let is_data = ["application/json", "application/ld+json"].contains(&kind);
                if element.attribute("src").is_none() && !is_data {
                    self.problem(element, "no inline scripts");
                }
            }
            _ => {}
        }
        for (name, value) in &element.attributes {
            if name == "style" {
                self.problem(element, "no style attributes");
            }
            if name.starts_with("on") {
                self.problem(element, &format!("no inline handlers ({name})"));
            }
            if value
                .trim_start()
                .to_ascii_lowercase()
                .starts_with("javascript:")
            {
                self.problem(element, &format!("no javascript: addresses ({name})"));
            }
        }
    }

    fn resources(&mut self, element: &Element) {
        let loads: &[&str] = match element.tag() {
            "a" | "area" => &[],
            "link" | "image" | "use" => &["href"],
            "form" => &["action"],
            "button" | "input" => &["formaction", "src"],
            "object" => &["data"],
            _ => &["src", "srcset", "poster"],
        };
        for name in loads {
            let Some(value) = element.attribute(name) else {
                continue;
            };
            let addresses = value
                .split(',')
                .filter_map(|one| one.split_whitespace().next());
            let addresses: Vec<_> = if *name == "srcset" {
                addresses.collect()
            } else {
                vec![value]
            };
            if addresses.into_iter().any(is_elsewhere) {
                self.problem(
                    element,
                    &format!("nothing is loaded from elsewhere ({name}=\"{value}\")"),
                );
            }
        }
    }
}

fn has_accessible_name(element: &Element) -> bool {
    ["aria-label", "aria-labelledby"].iter().any(|name| {
        element
            .attribute(name)
            .is_some_and(|value| !value.trim().is_empty())
    })
}

/// Whether an address leaves this server. `data:` images stay within the page.
fn is_elsewhere(address: &str) -> bool {
    let address = address.trim();
    let before_path = address.split(['/', '?', '#']).next().unwrap_or_default();
    address.starts_with("//") || (before_path.contains(':') && !address.starts_with("data:image/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r##"<!doctype html>
<html lang="pt-BR"><head><meta charset="utf-8"><title>Pagar</title><meta name="description" content="Pague aqui">
<link rel="stylesheet" href="/assets/balcao.css"><script src="/assets/checkout.js" type="module"></script></head>
<body><a href="#main">Pular</a><main id="main"><h1>Pagar</h1>
<form method="post" action="/create_payment">
<label for="email">E-mail</label><input id="email" name="email" type="email" aria-describedby="hint"><p id="hint">Seu e-mail</p>
<label>Parcelas <select name="installments"><option>1</option></select></label>
<button type="submit">Pagar</button></form>
<img src="data:image/png;base64,AA==" alt="">
<svg viewBox="0 0 1 1" aria-hidden="true"><path d="M0 0"/></svg>
<script type="application/json" id="networks">[]</script>
<noscript><p>Sem script</p></noscript>
<a href="https://example.com/">Fora</a></main></body></html>"##;

    #[test]
    fn a_good_page_has_no_problems() {
        check(GOOD);
    }

    /// Each row: a piece of the good page, what stands there instead, and the complaint expected.
    #[track_caller]
    fn check_complaints(rows: &[(&str, &str, &str)]) {
        for (before, after, complaint) in rows {
            assert!(GOOD.contains(before), "{before}");
            let found = problems(&GOOD.replacen(before, after, 1));
            assert!(
                found.iter().any(|problem| problem.contains(complaint)),
                "{before} → {after}: looked for {complaint:?}, found {found:?}"
            );
        }
    }

    #[test]
    fn invalid_html_is_found() {
        check_complaints(&[
            ("<!doctype html>", "", "parse error"),
            ("Seu e-mail", "Seu <div>e-mail</div>", "parse error"),
            ("<h1>", "<h1 id=\"a\" id=\"b\">", "parse error"),
            ("<h1>Pagar</h1>", "<h1>Pagar", "parse error"),
            ("<h1>Pagar", "<h1>Pagar &eacute", "parse error"),
            (" lang=\"pt-BR\"", "", "needs a lang"),
            ("<title>Pagar</title>", "<title> </title>", "one title"),
            ("Pague aqui", "", "one description"),
            ("<h1>Pagar</h1>", "", "exactly one h1, not 0"),
            ("<h1>", "<h1>A</h1><h1>", "exactly one h1, not 2"),
            ("id=\"main\"", "id=\"email\"", "stands twice"),
        ]);
    }

    #[test]
    fn what_a_screen_reader_would_miss_is_found() {
        check_complaints(&[
            ("<label for=\"email\">E-mail</label>", "", "needs a label"),
            ("for=\"email\"", "for=\"mail\"", "for names the id mail"),
            ("=\"hint\"", "=\"hints\"", "names the id hints"),
            ("<button type=\"submit\">", "<button>", "needs a type"),
            (">Pagar</button>", "></button>", "a button needs a text"),
            (">Fora<", "><", "a link needs a text"),
            (" alt=\"\"", "", "needs an alt"),
        ]);
    }

    #[test]
    fn what_the_security_policy_would_block_is_found() {
        let elsewhere = "loaded from elsewhere";
        check_complaints(&[
            ("<h1>", "<h1 style=\"color: red\">", "no style attributes"),
            ("<h1>", "<h1 onclick=\"pay()\">", "handlers (onclick)"),
            ("</head>", "<style>a {}</style></head>", "no inline styles"),
            (
                "<noscript>",
                "<script>a()</script><noscript>",
                "inline scripts",
            ),
            (
                "https://example.com/",
                " JavaScript:pay()",
                "no javascript:",
            ),
            ("/assets/checkout.js", "https://cdn.example/x.js", elsewhere),
            ("/assets/balcao.css", "//cdn.example/x.css", elsewhere),
            ("/create_payment", "http://example.com/", elsewhere),
        ]);
    }
}
