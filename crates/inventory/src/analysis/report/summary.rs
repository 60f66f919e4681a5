//! What a report comes to, and its text.

use db::{Money, Timestamp};
use serde::Serialize;
use web::locale::Locale;

use super::{
    super::{
        model::portfolio::{self, Abc},
        text::{clean, decimal},
    },
    Line,
    line::{DEAD_AFTER, SLOW_BEYOND},
};

/// Products that each list of the text names.
const NAMED: usize = 10;

/// The sums of all lines.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    #[serde(serialize_with = "crate::rest::json::time")]
    created_at: Timestamp,
    window_days: i64,
    products: i64,
    classes: [Class; 4],
    #[serde(serialize_with = "crate::rest::json::price")]
    stock_value: Money,
    #[serde(serialize_with = "crate::rest::json::price")]
    opening_value: Money,
    #[serde(serialize_with = "crate::rest::json::price")]
    yearly_value: Money,
    out_of_stock: i64,
    low: i64,
    due: Pile,
    dead: Pile,
    slow: Pile,
    excess: Pile,
    /// Products with too little history for a forecast.
    unforeseen: i64,
    covered: [i64; 4],
}

/// One class of products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Class {
    name: Abc,
    products: i64,
    #[serde(serialize_with = "crate::rest::json::price")]
    yearly_value: Money,
    #[serde(serialize_with = "crate::rest::json::price")]
    stock_value: Money,
}

/// Products that have something in common: how many, what they are worth, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Pile {
    products: i64,
    #[serde(serialize_with = "crate::rest::json::price")]
    value: Money,
    first: Vec<Named>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Named {
    product: i64,
    title: String,
    units: i64,
    #[serde(serialize_with = "crate::rest::json::price")]
    value: Money,
}

impl Pile {
    /// Adds a product; the dearest are named.
    fn add(&mut self, line: &Line, units: i64, value: Money) {
        self.products += 1;
        self.value = sum(self.value, value);
        let place = self.first.partition_point(|named| named.value >= value);
        if place < NAMED {
            let named = Named {
                product: line.product,
                title: clean(&line.title, 120),
                units,
                value,
            };
            self.first.insert(place, named);
            self.first.truncate(NAMED);
        }
    }
}

fn sum(left: Money, right: Money) -> Money {
    left.checked_add(right).unwrap_or(left)
}

impl Summary {
    pub(super) fn new(created_at: Timestamp, window_days: i64) -> Self {
        Self {
            created_at,
            window_days,
            products: 0,
            classes: Abc::ALL.map(|name| Class {
                name,
                products: 0,
                yearly_value: Money::ZERO,
                stock_value: Money::ZERO,
            }),
            stock_value: Money::ZERO,
            opening_value: Money::ZERO,
            yearly_value: Money::ZERO,
            out_of_stock: 0,
            low: 0,
            due: Pile::default(),
            dead: Pile::default(),
            slow: Pile::default(),
            excess: Pile::default(),
            unforeseen: 0,
            covered: [0; 4],
        }
    }

    pub(super) fn add(&mut self, line: &Line) {
        self.products += 1;
        self.stock_value = sum(self.stock_value, line.stock_value);
        self.opening_value = sum(self.opening_value, line.opening_value);
        self.yearly_value = sum(self.yearly_value, line.yearly_value);
        self.out_of_stock += i64::from(line.quantity == 0);
        self.low += i64::from(line.quantity < line.threshold);
        if let Some(class) = self.classes.iter_mut().find(|class| class.name == line.abc) {
            class.products += 1;
            class.yearly_value = sum(class.yearly_value, line.yearly_value);
            class.stock_value = sum(class.stock_value, line.stock_value);
        }
        if let Some(units @ 1..) = line.suggested_quantity {
            self.due.add(line, units, line.yearly_value);
        }
        if line.is_dead {
            self.dead.add(line, line.quantity, line.stock_value);
        }
        if line.is_slow {
            self.slow.add(line, line.quantity, line.stock_value);
        }
        if line.excess_units > 0 {
            self.excess.add(line, line.excess_units, line.excess_value);
        }
        match line.days_of_cover {
            None => self.unforeseen += 1,
            Some(days) => {
                let place = [7.0, 30.0, 90.0]
                    .iter()
                    .take_while(|end| days >= **end)
                    .count();
                if let Some(count) = self.covered.get_mut(place) {
                    *count += 1;
                }
            }
        }
    }

    /// The report as text, for people. Its first line is a heading, as an analysis has one.
    pub fn text(&self, locale: Locale) -> String {
        let say =
            |portuguese: &'static str, english: &'static str| locale.text(portuguese, english);
        let mut lines = vec![
            format!(
                "{} {}",
                say("Relatório da loja de", "Shop report of"),
                locale.date(self.created_at)
            ),
            String::new(),
        ];
        lines.push(self.opening(locale));
        let covered = self.coverage(locale);
        self.section(
            &mut lines,
            say(
                "Curva ABC (saídas de um ano, a preço de custo)",
                "ABC classes (a year's outflows, at cost)",
            ),
            self.abc(locale),
        );
        self.section(
            &mut lines,
            say("Cobertura do estoque", "How long the stock lasts"),
            covered,
        );
        let piles = [
            (&self.due, say("Pedir agora", "Order now")),
            (&self.dead, say("Estoque parado", "Dead stock")),
            (&self.excess, say("Estoque em excesso", "Overstock")),
        ];
        for (pile, heading) in piles {
            if pile.products > 0 {
                let items = named(locale, pile);
                self.section(&mut lines, heading, items);
            }
        }
        let notes = self.notes(locale);
        self.section(&mut lines, say("Premissas", "Assumptions"), notes);
        lines.join("\n")
    }

    #[expect(clippy::unused_self, reason = "sections are the report's")]
    fn section(&self, lines: &mut Vec<String>, heading: &str, items: Vec<String>) {
        lines.push(String::new());
        lines.push(heading.to_owned());
        lines.extend(items.into_iter().map(|item| format!("- {item}")));
    }

    fn opening(&self, locale: Locale) -> String {
        let (products, value) = (locale.number(self.products), locale.money(self.stock_value));
        let (empty, low) = (locale.number(self.out_of_stock), locale.number(self.low));
        let turnover = portfolio::turnover(self.yearly_value, self.opening_value, self.stock_value);
        let turned = turnover.map(|turnover| decimal(locale, turnover, 1));
        let mut text = match locale {
            Locale::PtBr => format!(
                "{products} produtos, {value} em estoque a preço de custo; {empty} sem estoque, {low} com estoque baixo."
            ),
            Locale::En => format!(
                "{products} products, {value} in stock at cost; {empty} out of stock, {low} low."
            ),
        };
        if let Some(turned) = turned {
            let turned = match locale {
                Locale::PtBr => format!(" O estoque girou {turned} vezes em um ano."),
                Locale::En => format!(" The stock turned {turned} times in a year."),
            };
            text.push_str(&turned);
        }
        text
    }

    fn abc(&self, locale: Locale) -> Vec<String> {
        let row = |class: &Class| {
            let letter = class.name.letter();
            let products = locale.number(class.products);
            let (used, stock) = (
                locale.money(class.yearly_value),
                locale.money(class.stock_value),
            );
            match locale {
                Locale::PtBr => {
                    format!("{letter}: {products} produtos, saídas de {used}, estoque de {stock}")
                }
                Locale::En => {
                    format!("{letter}: {products} products, outflows of {used}, stock of {stock}")
                }
            }
        };
        self.classes.iter().map(row).collect()
    }

    fn coverage(&self, locale: Locale) -> Vec<String> {
        let ranges = [
            locale.text("menos de 7 dias", "less than 7 days"),
            locale.text("de 7 a 30 dias", "7 to 30 days"),
            locale.text("de 30 a 90 dias", "30 to 90 days"),
            locale.text("90 dias ou mais", "90 days or more"),
        ];
        let products = locale.text("produtos", "products");
        let mut rows: Vec<String> = ranges
            .iter()
            .zip(self.covered)
            .map(|(range, count)| format!("{range}: {} {products}", locale.number(count)))
            .collect();
        let unforeseen = locale.text(
            "sem histórico para prever",
            "without enough history to tell",
        );
        rows.push(format!(
            "{unforeseen}: {} {products}",
            locale.number(self.unforeseen)
        ));
        rows
    }

    fn notes(&self, locale: Locale) -> Vec<String> {
        let window = locale.number(self.window_days);
        match locale {
            Locale::PtBr => vec![
                format!("A previsão usa até {window} dias de histórico e os prazos de entrega supostos de cada produto."),
                format!("Parado: em estoque e sem saída há {DEAD_AFTER} dias ou mais. Em excesso: acima do nível a alcançar. Lento: dura mais de {SLOW_BEYOND} dias ({} produtos).", locale.number(self.slow.products)),
                "A: os produtos que somam 80% do valor das saídas; B: até 95%; C: o resto; D: sem saída.".to_owned(),
            ],
            Locale::En => vec![
                format!("Forecasts use up to {window} days of history and the lead times that are assumed of each product."),
                format!("Dead: in stock, and nothing went out for {DEAD_AFTER} days or more. Overstock: above the level to reach. Slow: lasts more than {SLOW_BEYOND} days ({} products).", locale.number(self.slow.products)),
                "A: the products that make up 80% of the outflows' value; B: up to 95%; C: the rest; D: no outflow.".to_owned(),
            ],
        }
    }
}

fn named(locale: Locale, pile: &Pile) -> Vec<String> {
    let products = locale.text("produtos", "products");
    let units = locale.text("unidades", "units");
    let mut rows = vec![format!(
        "{} {products}, {}",
        locale.number(pile.products),
        locale.money(pile.value)
    )];
    rows.extend(pile.first.iter().map(|named| {
        format!(
            "{}: {} {units}, {}",
            named.title,
            locale.number(named.units),
            locale.money(named.value)
        )
    }));
    rows
}
