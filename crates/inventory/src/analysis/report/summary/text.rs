//! Renders the report as text: a heading, an introduction, and sections with a line for each item.

use web::locale::Locale;

use super::{
    super::line::{DEAD_AFTER, SLOW_BEYOND},
    ClassTotals, ProductGroup, ReportSummary,
};
use crate::{
    aggregates::Sum,
    analysis::{
        model::portfolio,
        text::{ASSUMPTIONS, decimal, products, units},
    },
    events::mail::{ReportSection, ReportText},
};

impl ReportSummary {
    /// The report as plain text. Its first line is a heading, as in an analysis.
    pub fn text(&self, locale: Locale) -> String {
        self.report_text(locale).text()
    }

    pub(crate) fn report_text(&self, locale: Locale) -> ReportText {
        let section = |heading: &str, items| ReportSection {
            heading: heading.to_owned(),
            items,
        };
        let classes = locale.text(
            "Curva ABC (saídas de um ano, a preço de custo)",
            "ABC classes (a year's outflows, at cost)",
        );
        let covered = locale.text("Cobertura do estoque", "How long the stock lasts");
        let mut sections = vec![
            section(classes, self.abc(locale)),
            section(covered, self.coverage(locale)),
        ];
        let groups = [
            (
                &self.due,
                locale.text("Pedir agora (a preço de custo)", "Order now (at cost)"),
            ),
            (&self.dead, locale.text("Estoque parado", "Dead stock")),
            (&self.excess, locale.text("Estoque em excesso", "Overstock")),
        ];
        let groups = groups.into_iter().filter(|(group, _)| group.products > 0);
        sections.extend(groups.map(|(group, heading)| section(heading, items(locale, group))));
        // In a shop without usage, the section of classes is empty.
        sections.retain(|section| !section.items.is_empty());
        let assumptions = locale.text(ASSUMPTIONS.0, ASSUMPTIONS.1);
        sections.push(section(assumptions, self.notes(locale)));
        let heading = locale.text("Relatório da loja de", "Shop report of");
        ReportText {
            heading: format!("{heading} {}", locale.date(self.created_at)),
            opening: self.opening(locale),
            sections,
        }
    }

    fn opening(&self, locale: Locale) -> String {
        let products = products(locale, self.products);
        let value = money(locale, self.stock_value);
        let (empty, low) = (locale.number(self.out_of_stock), locale.number(self.low));
        let turnover = portfolio::turnover(self.yearly_value, self.opening_value, self.stock_value);
        let mut text = locale.choose(
            format!("{products}, {value} em estoque a preço de custo; {empty} sem estoque, {low} com estoque baixo."),
            format!("{products}, {value} in stock at cost; {empty} out of stock, {low} low on stock."),
        );
        if let Some(turnover) = turnover {
            let turns = decimal(locale, turnover, 1);
            let (vezes, times) = match turns.as_str() {
                "1" => ("vez", "time"),
                _ => ("vezes", "times"),
            };
            text.push_str(&locale.choose(
                format!(" O estoque girou {turns} {vezes} em um ano."),
                format!(" The stock turned {turns} {times} in a year."),
            ));
        }
        text
    }

    fn abc(&self, locale: Locale) -> Vec<String> {
        let row = |class: &ClassTotals| {
            let letter = class.name;
            let products = products(locale, class.products);
            let (used, stock) = (
                money(locale, class.yearly_value),
                money(locale, class.stock_value),
            );
            locale.choose(
                format!("{letter:?}: {products}, saídas de {used}, estoque de {stock}"),
                format!("{letter:?}: {products}, outflows of {used}, stock of {stock}"),
            )
        };
        let filled = self.classes.iter().filter(|class| class.products > 0);
        filled.map(row).collect()
    }

    fn coverage(&self, locale: Locale) -> Vec<String> {
        let ranges = [
            locale.text("menos de 7 dias", "less than 7 days"),
            locale.text("de 7 a 30 dias", "7 to 30 days"),
            locale.text("de 30 a 90 dias", "30 to 90 days"),
            locale.text("90 dias ou mais", "90 days or more"),
        ];
        let mut rows: Vec<String> = ranges
            .iter()
            .zip(self.covered)
            .map(|(range, count)| format!("{range}: {}", products(locale, count)))
            .collect();
        let without_forecast = locale.text("sem histórico para prever", "not enough history");
        rows.push(format!(
            "{without_forecast}: {}",
            products(locale, self.without_forecast)
        ));
        rows
    }

    fn notes(&self, locale: Locale) -> Vec<String> {
        let (window, slow) = (
            locale.number(self.window_days),
            products(locale, self.slow.products),
        );
        vec![
            locale.choose(
                format!("A previsão usa até {window} dias de histórico e o prazo de entrega presumido de cada produto."),
                format!("Forecasts use up to {window} days of history and each product's assumed lead time."),
            ),
            locale.choose(
                format!("Parado: em estoque e sem saída há {DEAD_AFTER} dias ou mais. Em excesso: acima do nível a alcançar. Lento: dura mais de {SLOW_BEYOND} dias ({slow})."),
                format!("Dead: in stock, with no outflow for {DEAD_AFTER} days or more. Overstock: above the target level. Slow: lasts more than {SLOW_BEYOND} days ({slow})."),
            ),
            locale.text(
                "A: os produtos que somam 80% do valor das saídas; B: até 95%; C: o resto; D: sem saída.",
                "A: the products that make up 80% of the outflows' value; B: up to 95%; C: the rest; D: no outflows.",
            ).to_owned(),
            locale.text(
                "Produtos arquivados e o estoque deles não entram.",
                "Archived products and their stock are left out.",
            ).to_owned(),
        ]
    }
}

fn money(locale: Locale, cents: Sum) -> String {
    locale.hundredths(&cents.to_string())
}

/// The lines of a group: its totals, then one line for each named product. The first line says if
/// the group has more products than are named.
fn items(locale: Locale, group: &ProductGroup) -> Vec<String> {
    let named = i64::try_from(group.first.len()).unwrap_or(i64::MAX);
    let suffix = match locale {
        _ if named >= group.products => String::new(),
        Locale::PtBr => format!("; os {named} de maior valor:"),
        Locale::En => format!("; the {named} of the highest value:"),
    };
    let total = format!(
        "{}, {}{suffix}",
        products(locale, group.products),
        money(locale, group.value)
    );
    let each = group.first.iter().map(|named| {
        let units = units(locale, named.units);
        format!("{}: {units}, {}", named.title, money(locale, named.value))
    });
    [total].into_iter().chain(each).collect()
}
