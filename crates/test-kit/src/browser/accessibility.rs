//! What axe-core (<https://github.com/dequelabs/axe-core>) finds wrong with a page: the rules of
//! WCAG 2.2, levels A and AA, and good practice. It is a tool of the tests, downloaded by `./test`;
//! nothing of it is in the program or in this repository.

use std::fs;

use serde_json::Value;

use super::{Browser, string};
use crate::environment;

/// Which rules a page is checked by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Rules {
    /// Every rule that is on by default.
    All,
    /// All but the contrast of colours.
    AllButContrast,
}

impl Rules {
    /// The rules for a page in this language. Contrast takes most of the time and does not depend
    /// on the language, so it is checked in Portuguese alone.
    pub fn in_language(language: &str) -> Self {
        if language == "en" {
            Self::AllButContrast
        } else {
            Self::All
        }
    }
}

/// Runs the rules, and returns each violation with its elements. Transitions of colours are
/// finished first.
const RUN: &str = "
for (const moving of document.getAnimations()) {
  if (moving.effect.getComputedTiming().endTime !== Infinity) moving.finish();
}
return axe.run(document, {resultTypes: ['violations'], rules: {'color-contrast': {enabled: CONTRAST}}}).then(found => found.violations.flatMap(rule => rule.nodes.map(node =>
  `${rule.id}: ${rule.help}\\n    ${node.target.join(' ')}\\n    ${node.html.slice(0, 300)}\\n    ${(node.failureSummary || '').replace(/\\s+/g, ' ')}`)));
";

impl Browser {
    /// Loads axe-core with every page from now on, which is quicker than to send it to each.
    pub async fn load_checker_with_pages(&self) {
        let source = serde_json::json!({"source": axe()});
        self.devtools("Page.addScriptToEvaluateOnNewDocument", source)
            .await;
    }

    /// Panics with everything that axe-core finds wrong with the page as it is shown now.
    pub async fn check_accessibility(&self) {
        let problems = self.accessibility_problems(Rules::All).await;
        assert!(
            problems.is_empty(),
            "{} has {} problem(s) of accessibility:\n{}",
            self.url().await,
            problems.len(),
            problems.join("\n")
        );
    }

    /// Everything that axe-core finds wrong with the page as it is shown now, in this size and
    /// these colours.
    pub async fn accessibility_problems(&self, rules: Rules) -> Vec<String> {
        if self.script("return typeof axe").await != "object" {
            self.script(&axe()).await;
        }
        let is_contrast_checked = (rules == Rules::All).to_string();
        let found = self
            .script(&RUN.replace("CONTRAST", &is_contrast_checked))
            .await;
        let found = found.as_array().map(Vec::as_slice).unwrap_or_default();
        found.iter().map(string).collect()
    }

    /// The problems of the HTML that the server sends for the page's address. It is requested with
    /// a browser's `Accept`, since some addresses answer programs with JSON.
    pub async fn html_problems(&self) -> Vec<String> {
        let script = "return fetch(location.href, {headers: {Accept: 'text/html'}}).then(answer => answer.text())";
        let html = self.script(script).await;
        match html {
            Value::String(html) => crate::html::problems(&html),
            other => vec![format!("the page cannot be fetched again: {other}")],
        }
    }
}

/// The source of axe-core.
fn axe() -> String {
    let path = environment("BALCAO_TEST_AXE").unwrap_or_else(|| {
        panic!(
            "BALCAO_TEST_AXE does not name the file axe.min.js of axe-core. Run the tests by ./test, which downloads it to \
             target/tools, or name the file of the npm package axe-core"
        )
    });
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
