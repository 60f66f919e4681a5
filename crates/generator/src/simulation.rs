//! The history of a shop: which product moves next, how many units, and when it is restocked. Needs
//! a few dozen bytes of memory per product and none per movement. Does not use the database.

use db::{Money, Timestamp};
use inventory::stock::movements::Movement;

use crate::{
    calendar::{Day, Season},
    chance::{Chance, Popularity},
    goods::Product,
};

/// The stock of a product at some time of the history.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shelf {
    pub(crate) category: u32,
    pub(crate) brand: u32,
    pub(crate) cost_price: Money,
    pub(crate) selling_price: Money,
    pub(crate) quantity: i64,
    pub(crate) last_moved: Timestamp,
    season: Season,
    supplier: u32,
    /// The quantity below which it may be restocked.
    reorder_at: i64,
    /// The units of one delivery.
    delivery: i64,
}

/// A generated movement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) movement: Movement,
    /// The index of the product, from 0.
    pub(crate) product: usize,
    /// The index of the supplier, from 0. For inflows only.
    pub(crate) supplier: u32,
    pub(crate) quantity: i64,
    /// The change of the product's quantity.
    pub(crate) change: i64,
    pub(crate) balance: i64,
    pub(crate) at: Timestamp,
    /// A random number that selects the movement's note.
    pub(crate) note: u64,
}

/// The state of the shop during its history.
#[derive(Debug)]
pub(crate) struct Shop {
    chance: Chance,
    popularity: Popularity,
    /// The product of each rank of popularity.
    ranked: Vec<u32>,
    pub(crate) shelves: Vec<Shelf>,
}

/// The average units of a sale, in hundredths.
const MEAN_SALE: u64 = 230;

impl Shop {
    /// An empty shop for `products` products.
    pub(crate) fn new(products: u64, seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let mut ranked: Vec<u32> = (0..u32::try_from(products).unwrap_or(u32::MAX)).collect();
        for place in (1..ranked.len()).rev() {
            let other = chance.below(place as u64 + 1);
            ranked.swap(place, usize::try_from(other).unwrap_or(0));
        }
        Self {
            chance,
            popularity: Popularity::new(products),
            ranked,
            shelves: Vec::new(),
        }
    }

    pub(crate) fn chance(&mut self) -> &mut Chance {
        &mut self.chance
    }

    /// The rank of popularity of each product.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![0; self.ranked.len()];
        for (rank, product) in (0..).zip(&self.ranked) {
            if let Some(place) = ranks.get_mut(*product as usize) {
                *place = rank;
            }
        }
        ranks
    }

    /// Adds a product's stock, sized by its popularity. `movements` is the number of movements in
    /// the whole history of `days` days.
    pub(crate) fn open(
        &mut self,
        product: &Product,
        rank: u32,
        movements: u64,
        days: u64,
        at: Timestamp,
        suppliers: u64,
    ) -> Shelf {
        let sales = self.popularity.expected_hundredths(rank.into(), movements);
        let in_days = |count: u64| sales.saturating_mul(MEAN_SALE) / 10_000 * count / days.max(1);
        let delivery = in_days(30).div_ceil(12).clamp(1, 1_000_000) * 12;
        let reorder_at = in_days(8).clamp(4, 1_000_000);
        let opening = if self.chance.percent(4) {
            0
        } else {
            reorder_at + self.chance.below(delivery)
        };
        let place = Shelf {
            category: u32::try_from(product.category).unwrap_or(0),
            brand: u32::try_from(product.brand).unwrap_or(0),
            cost_price: product.cost_price,
            selling_price: product.selling_price,
            quantity: whole(opening),
            last_moved: at,
            season: product.season,
            supplier: u32::try_from(self.chance.below(suppliers)).unwrap_or(0),
            reorder_at: whole(reorder_at),
            delivery: whole(delivery),
        };
        self.shelves.push(place);
        place
    }

    /// The next movement: a sale, or a delivery when the stock is too low or it is time to restock.
    /// So a quantity never falls below zero.
    pub(crate) fn step(&mut self, day: &Day, number: u64) -> Option<Step> {
        let product = self.pick(day.month)?;
        let wanted = sale(&mut self.chance);
        let restocks = self.chance.percent(40);
        let note = self.chance.next();
        let at = day.moment(number, note);
        let place = self.shelves.get_mut(product)?;
        let is_due = place.quantity < place.reorder_at && restocks;
        let (movement, quantity) = if place.quantity < wanted || is_due {
            (Movement::Inflow, place.delivery.max(wanted))
        } else {
            (Movement::Outflow, wanted)
        };
        let change = match movement {
            Movement::Inflow => quantity,
            Movement::Outflow => -quantity,
        };
        place.quantity += change;
        place.last_moved = at;
        Some(Step {
            movement,
            product,
            supplier: place.supplier,
            quantity,
            change,
            balance: place.quantity,
            at,
            note,
        })
    }

    /// Draws a product by popularity. Out of its season it is mostly rejected.
    fn pick(&mut self, month: i8) -> Option<usize> {
        let mut product = None;
        for _ in 0..4 {
            let rank = self.popularity.draw(&mut self.chance);
            let drawn = *self.ranked.get(rank)? as usize;
            product = Some(drawn);
            let season = self.shelves.get(drawn)?.season;
            if self.chance.percent(season.percent(month)) {
                break;
            }
        }
        product
    }
}

/// The units of a sale: mostly one, rarely a carton.
fn sale(chance: &mut Chance) -> i64 {
    let units = match chance.below(100) {
        0..58 => 1,
        58..80 => 2,
        80..90 => 3,
        90..97 => 4 + chance.below(3),
        _ => 6 + chance.below(19),
    };
    whole(units)
}

fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
