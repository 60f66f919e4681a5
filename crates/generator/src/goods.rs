//! The table of goods (`goods.txt`) and the products built from it. Products take category, good,
//! brand, variant and size in turn, so that even a small catalogue has some of everything.

use db::Money;

use crate::{calendar::Season, chance::Chance};

const TABLE: &str = include_str!("goods.txt");

/// The suppliers.
pub(crate) const SUPPLIERS: [&str; 16] = [
    "Atacado Três Irmãos Ltda.",
    "Distribuidora Norte Sul S.A.",
    "Comercial Boa Safra",
    "Cooperativa Agrícola do Vale",
    "Importadora Porto Novo",
    "Distribuidora Alvorada",
    "Central de Compras Paulista",
    "Armazém Geral Santos & Filhos",
    "Indústrias Reunidas Ipê",
    "Logística São Jorge",
    "Atacadão da Praça",
    "Representações Farol da Barra",
    "Fornecedora Minas Gerais",
    "Casa do Lojista",
    "Mercantil Rio Claro",
    "Suprimentos Guarani",
];

/// A category with its goods.
#[derive(Debug)]
struct Category {
    name: &'static str,
    season: Season,
    /// Indexes into the table's list of brands.
    brands: Vec<usize>,
    goods: Vec<Good>,
}

#[derive(Debug)]
struct Good {
    name: &'static str,
    variants: Vec<&'static str>,
    /// The sizes, each with the cost of one unit.
    sizes: Vec<(&'static str, Money)>,
}

/// Everything that the shop can sell.
#[derive(Debug)]
pub(crate) struct Goods {
    categories: Vec<Category>,
    brands: Vec<&'static str>,
}

/// The parts of a product.
#[derive(Debug, Clone, Copy)]
struct Combination {
    /// The index of the category, from 0.
    category: usize,
    /// The index of the brand, from 0.
    brand: usize,
    season: Season,
    good: &'static str,
    variant: &'static str,
    size: &'static str,
    brand_name: &'static str,
    /// The cost of one unit.
    cost: Money,
    /// How many earlier products have the same parts.
    edition: u64,
}

/// A generated product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Product {
    pub(crate) title: String,
    /// The index of the category, from 0.
    pub(crate) category: usize,
    /// The index of the brand, from 0.
    pub(crate) brand: usize,
    pub(crate) season: Season,
    pub(crate) description: Option<String>,
    pub(crate) serie_number: Option<String>,
    pub(crate) cost_price: Money,
    pub(crate) selling_price: Money,
}

impl Goods {
    /// Parses the table. Invalid lines are skipped; a test checks that there are none.
    pub(crate) fn read() -> Self {
        let mut goods = Self {
            categories: Vec::new(),
            brands: Vec::new(),
        };
        for line in TABLE.lines() {
            if let Some(heading) = line.strip_prefix("# ") {
                goods.begin(heading);
            } else if let (Some(good), Some(category)) =
                (Good::parse(line), goods.categories.last_mut())
            {
                category.goods.push(good);
            }
        }
        goods
            .categories
            .retain(|category| !category.goods.is_empty());
        goods
    }

    fn begin(&mut self, heading: &'static str) {
        let mut parts = heading.split(" | ");
        let (Some(name), Some(season), Some(brands)) = (
            parts.next(),
            parts.next().and_then(Season::parse),
            parts.next(),
        ) else {
            return;
        };
        let first = self.brands.len();
        self.brands.extend(brands.split(", "));
        self.categories.push(Category {
            name,
            season,
            brands: (first..self.brands.len()).collect(),
            goods: Vec::new(),
        });
    }

    pub(crate) fn categories(&self) -> impl Iterator<Item = &'static str> {
        self.categories.iter().map(|category| category.name)
    }

    pub(crate) fn brands(&self) -> &[&'static str] {
        &self.brands
    }

    /// The title of the product with this number.
    pub(crate) fn title(&self, number: u64) -> Option<String> {
        self.combination(number).map(|one| one.title())
    }

    /// The product with this number. Category, good, brand, variant and size change in this order,
    /// each after the one before has taken all its values. After all combinations, each is used
    /// again with another edition.
    pub(crate) fn product(&self, number: u64, chance: &mut Chance) -> Option<Product> {
        let one = self.combination(number)?;
        let (cost_price, selling_price) = prices(one.cost, chance);
        let Combination {
            good,
            variant,
            size,
            brand_name,
            ..
        } = one;
        Some(Product {
            title: one.title(),
            category: one.category,
            brand: one.brand,
            season: one.season,
            description: chance
                .percent(60)
                .then(|| format!("{good} ({variant}), {size}. Marca {brand_name}.")),
            serie_number: chance.percent(70).then(|| article_number(number)),
            cost_price,
            selling_price,
        })
    }

    fn combination(&self, number: u64) -> Option<Combination> {
        let mut rest = number;
        let category_number = take(&mut rest, self.categories.len())?;
        let category = self.categories.get(category_number)?;
        let good = category.goods.get(take(&mut rest, category.goods.len())?)?;
        let brand = *category
            .brands
            .get(take(&mut rest, category.brands.len())?)?;
        let variant = *good.variants.get(take(&mut rest, good.variants.len())?)?;
        let (size, cost) = *good.sizes.get(take(&mut rest, good.sizes.len())?)?;
        Some(Combination {
            category: category_number,
            brand,
            season: category.season,
            good: good.name,
            variant,
            size,
            brand_name: self.brands.get(brand)?,
            cost,
            edition: rest,
        })
    }
}

impl Combination {
    fn title(&self) -> String {
        let Self {
            good,
            variant,
            size,
            brand_name,
            ..
        } = self;
        let edition = if self.edition == 0 {
            String::new()
        } else {
            format!(" – edição {}", self.edition + 1)
        };
        format!("{good} {variant} {brand_name} {size}{edition}")
    }
}

impl Good {
    fn parse(line: &'static str) -> Option<Self> {
        let mut parts = line.split(" ; ");
        let (name, variants, sizes) = (parts.next()?, parts.next()?, parts.next()?);
        // The last word of a size is its cost. The comma in `1,5 l` has no space after it.
        let sizes: Option<Vec<_>> = sizes
            .split(", ")
            .map(|size| {
                let (size, cost) = size.rsplit_once(' ')?;
                Some((size, Money::parse(cost).ok()?))
            })
            .collect();
        Some(Self {
            name,
            variants: variants.split(", ").collect(),
            sizes: sizes?,
        })
    }
}

/// Takes one digit of a number in a mixed base.
fn take(rest: &mut u64, base: usize) -> Option<usize> {
    let base = u64::try_from(base).ok().filter(|base| *base > 0)?;
    let digit = *rest % base;
    *rest /= base;
    usize::try_from(digit).ok()
}

/// A cost near the table's, and a price with a margin of 25 to 95 % that ends in 9.
fn prices(cost: Money, chance: &mut Chance) -> (Money, Money) {
    let share = |money: i128, percent: u64| money * i128::from(percent) / 100;
    let cost = share(cost.cents(), 85 + chance.below(31)).max(5);
    let price = share(cost, 125 + chance.below(71));
    (
        Money::from_cents(cost),
        Money::from_cents(price / 10 * 10 + 9),
    )
}

/// An article number like those on packages: Brazil's prefix 789, nine digits, a check digit (GS1
/// General Specifications, 7.9).
fn article_number(number: u64) -> String {
    let digits = format!("789{:09}", 100_000_000 + number);
    let sum: u32 = digits
        .bytes()
        .zip([1, 3].into_iter().cycle())
        .map(|(digit, weight)| u32::from(digit - b'0') * weight)
        .sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_line_of_the_table_is_read() {
        let goods = Goods::read();
        let read: usize = goods
            .categories
            .iter()
            .map(|category| category.goods.len())
            .sum();
        let headings = goods.categories.len();
        // The first two lines of the file explain it.
        assert_eq!(read + headings + 2, TABLE.lines().count());
        assert!(headings >= 15 && goods.brands.len() > 50);
    }

    #[test]
    fn a_small_catalogue_has_something_of_everything_and_nothing_twice() {
        let (goods, mut chance) = (Goods::read(), Chance::new(1));
        let products: Vec<Product> = (0..300)
            .map(|number| goods.product(number, &mut chance).unwrap())
            .collect();
        let titles: BTreeSet<&str> = products
            .iter()
            .map(|product| product.title.as_str())
            .collect();
        assert_eq!(titles.len(), 300);
        let categories: BTreeSet<usize> = products.iter().map(|product| product.category).collect();
        assert_eq!(categories.len(), goods.categories.len());
        assert!(
            products
                .iter()
                .all(|product| product.selling_price > product.cost_price)
        );
    }

    #[test]
    fn an_article_number_has_its_check_digit() {
        assert_eq!(article_number(0), "7891000000007");
        assert_eq!(article_number(1).len(), 13);
    }
}
