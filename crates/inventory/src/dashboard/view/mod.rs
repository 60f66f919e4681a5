//! Renders the dashboard's figures as text: numbers, money and days in the user's language.
//! Templates arrange them; figures are not computed here.

mod charts;

use askama::Template;
use db::Timestamp;
use web::locale::Locale;

use super::{
    Dashboard, Shares, StockBreakdown,
    model::{Period, Prices, Sales, SalesChange, SalesTrend},
};
use crate::{
    access::{Model, Verb},
    aggregates::{DAY, StockAggregate, Sum, day_of},
    analysis::AnalysisSummary,
    events::{Delivery, Endpoint},
    page::{Frame, part::PagePart},
    pages::{
        analysis::{Piece, pieces},
        orders::OrderRow,
    },
    stock::orders::WaitingOrders,
};
use charts::{sparkline, tenths};

/// The page `/`.
#[derive(Template)]
#[template(path = "dashboard/home.html")]
pub(super) struct HomePage<'a> {
    pub(super) frame: &'a Frame,
    pub(super) view: View<'a>,
}

/// The fragment `/dashboard/figures/`.
#[derive(Template)]
#[template(path = "dashboard/figures.html")]
pub(super) struct FiguresPage<'a> {
    pub(super) frame: &'a Frame,
    pub(super) view: View<'a>,
}

/// The values for the templates.
pub(super) struct View<'a> {
    frame: &'a Frame,
    pub(super) shown: &'a Dashboard,
}

/// A figure with its trend.
struct FigureCard {
    label: &'static str,
    value: String,
    change: Option<ChangeText>,
    /// The points of a sparkline, or empty for none.
    line: String,
}

/// The change from the previous period, as text.
struct ChangeText {
    tone: &'static str,
    icon: &'static str,
    text: String,
    before: String,
}

/// A link that selects a period or prices.
struct ChoiceLink {
    address: String,
    text: String,
    is_chosen: bool,
}

/// A category, a brand, or the sum of all others.
struct Share {
    name: String,
    /// The URL of the list of its products.
    address: Option<String>,
    products: String,
    /// The number with its noun.
    units: String,
    value: String,
    /// The share of all products in percent, used as the width of the bar.
    width: String,
}

/// The number of failed deliveries with the newest ones, and the failing endpoints, as far as the
/// user may see them.
struct FailedRows<'a> {
    count: Option<i64>,
    newest: &'a [Delivery],
    endpoints: &'a [Endpoint],
}

/// How many lines of an analysis are shown.
const ANALYSIS_LINES: usize = 4;

impl<'a> View<'a> {
    pub(super) const fn new(frame: &'a Frame, shown: &'a Dashboard) -> Self {
        Self { frame, shown }
    }

    fn locale(&self) -> Locale {
        self.frame.layout.locale
    }

    fn text(&self, portuguese: &'static str, english: &'static str) -> &'static str {
        self.locale().text(portuguese, english)
    }

    fn number(&self, number: Sum) -> String {
        self.locale().number(number)
    }

    fn money(&self, cents: Sum) -> String {
        self.locale().hundredths(&cents.to_string())
    }

    /// A UTC day as a date. Noon has the same date in São Paulo, the time zone of pages.
    fn day(&self, day: Timestamp) -> String {
        self.locale().date(day + DAY / 2)
    }

    /// Whether the shop has no products, movements or orders yet.
    pub(super) fn is_new(&self) -> bool {
        let figures = &self.shown.figures;
        figures
            .stock
            .as_ref()
            .is_ok_and(|stock| stock.total.products == 0)
            && figures.movements.as_ref().is_ok_and(Vec::is_empty)
            && matches!(self.orders(), Ok(None))
    }

    pub(super) fn may_book(&self) -> bool {
        self.frame.may(Verb::Add, Model::Inflow) && self.may_book_out()
    }

    pub(super) fn may_book_out(&self) -> bool {
        self.frame.may(Verb::Add, Model::Outflow)
    }

    pub(super) fn as_of(&self) -> String {
        self.locale().date_time(self.shown.now)
    }

    /// The query string of the current page.
    pub(super) fn query(&self) -> String {
        Self::query_of(self.shown.request.period, self.shown.request.prices)
    }

    fn query_of(period: Period, prices: Prices) -> String {
        let prices = match prices {
            Prices::AtSale => "",
            Prices::Present => "&prices=now",
        };
        format!("?period={}{prices}", period.days())
    }

    fn periods(&self) -> Vec<ChoiceLink> {
        let request = self.shown.request;
        let choice = |period: Period| ChoiceLink {
            address: format!("/{}", Self::query_of(period, request.prices)),
            text: match period {
                Period::Year => self.text("1 ano", "1 year").to_owned(),
                _ => format!("{} {}", period.days(), self.text("dias", "days")),
            },
            is_chosen: period == request.period,
        };
        Period::ALL.into_iter().map(choice).collect()
    }

    fn prices(&self) -> Vec<ChoiceLink> {
        let request = self.shown.request;
        let choice = |(prices, text): (Prices, &str)| ChoiceLink {
            address: format!("/{}", Self::query_of(request.period, prices)),
            text: text.to_owned(),
            is_chosen: prices == request.prices,
        };
        [
            (
                Prices::AtSale,
                self.text("Preço da venda", "Price when sold"),
            ),
            (Prices::Present, self.text("Preço atual", "Current price")),
        ]
        .map(choice)
        .into()
    }

    /// The days that are shown, and the days that they are compared with.
    pub(super) fn days_text(&self) -> String {
        let (period, now) = (self.shown.request.period, self.shown.now);
        let (begin, before) = (period.begin(now), period.begin_before(now));
        let noon_of_last = |end: Timestamp| self.locale().date(end - DAY / 2);
        format!(
            "{} {} {} {}, {} {} {} {} (UTC)",
            self.text("De", "From"),
            self.day(begin),
            self.text("a", "to"),
            self.day(day_of(now)),
            self.text("comparado com", "compared with"),
            self.day(before),
            self.text("a", "to"),
            noon_of_last(begin),
        )
    }

    fn change(&self, before: Sum, now: Sum, written: &str) -> ChangeText {
        let share = |share: Option<u64>, word: &str| match share {
            None => format!("{} {word}", self.text("muito", "far")),
            Some(0) => format!("{} {word}", self.text("menos de 1%", "under 1%")),
            Some(share) => format!("{}% {word}", self.locale().number(share)),
        };
        let (tone, icon, text) = match SalesChange::between(before, now) {
            SalesChange::Same => ("", "minus", self.text("igual", "the same").to_owned()),
            _ if before <= Sum::ZERO => {
                let none = self.text("sem comparação", "no comparison");
                ("", "minus", none.to_owned())
            }
            SalesChange::More(by) => (
                "figure-up",
                "arrow-up",
                share(by, self.text("a mais", "more")),
            ),
            SalesChange::Less(by) => (
                "figure-down",
                "arrow-down",
                share(by, self.text("a menos", "less")),
            ),
        };
        ChangeText {
            tone,
            icon,
            text,
            before: format!("{} {written}", self.text("antes", "before")),
        }
    }

    fn sales_cards(&self, trend: &SalesTrend) -> Vec<FigureCard> {
        let card = |label, of: fn(&Sales) -> Sum, write: &dyn Fn(Sum) -> String| {
            let (now, before) = (of(&trend.total), of(&trend.before));
            FigureCard {
                label,
                value: write(now),
                change: Some(self.change(before, now, &write(before))),
                line: sparkline(trend.days.iter().map(|(_, sales)| of(sales))),
            }
        };
        let (number, money) = (|sum| self.number(sum), |sum| self.money(sum));
        vec![
            card(
                self.text("Valor vendido", "Sales value"),
                |sales| sales.value,
                &money,
            ),
            card(self.text("Lucro", "Profit"), Sales::profit, &money),
            card(
                self.text("Saídas", "Outflows"),
                |sales| sales.outflows.into(),
                &number,
            ),
            card(
                self.text("Unidades vendidas", "Units sold"),
                |sales| sales.units,
                &number,
            ),
        ]
    }

    /// A number with its noun: `1 unit`, `1,753 units`.
    fn units(&self, units: Sum) -> String {
        let number = self.number(units);
        let unit = if number == "1" { "unit" } else { "units" };
        format!("{number} {}", self.text("un.", unit))
    }

    fn stock_cards(&self, stock: &StockAggregate) -> Vec<FigureCard> {
        let StockAggregate {
            units, cost, value, ..
        } = *stock;
        let card = |label, value| FigureCard {
            label,
            value,
            change: None,
            line: String::new(),
        };
        vec![
            card(
                self.text("Unidades em estoque", "Units in stock"),
                self.number(units),
            ),
            card(self.text("Valor de custo", "Cost value"), self.money(cost)),
            card(
                self.text("Valor de venda", "Selling value"),
                self.money(value),
            ),
            card(
                self.text("Lucro potencial", "Potential profit"),
                self.money(value - cost),
            ),
        ]
    }

    fn shares(&self, stock: &StockBreakdown, shares: &Shares, filter: &str) -> Vec<Share> {
        let row = |name: String, address: Option<String>, aggregate: &StockAggregate| Share {
            name,
            address,
            products: self.locale().number(aggregate.products),
            units: self.units(aggregate.units),
            value: self.money(aggregate.value),
            width: tenths(aggregate.products, stock.total.products),
        };
        let named = shares.named.iter().map(|(record, aggregate)| {
            // Archived products are counted, too.
            let address = format!("/products/?{filter}={}&archived=all", record.id);
            row(record.name.clone(), Some(address), aggregate)
        });
        let others = shares.others.iter().map(|(count, aggregate)| {
            let name = format!("{} ({count})", self.text("As demais", "All others"));
            row(name, None, aggregate)
        });
        named.chain(others).collect()
    }

    fn sold_text(&self, sold: i64) -> String {
        let sold_units = match sold {
            1 => self.text("vendido em 30 dias", "sold in 30 days"),
            _ => self.text("vendidos em 30 dias", "sold in 30 days"),
        };
        format!("{} {sold_units}", self.locale().number(sold))
    }

    /// Whether there are waiting orders, failed deliveries or an analysis.
    pub(super) fn has_more_needs(&self) -> bool {
        !matches!(self.orders(), Ok(None))
            || !matches!(self.failed(), Ok(None))
            || !matches!(self.shown.analysis, Ok(None))
    }

    /// The waiting orders, for users who may see outflows.
    fn orders(&self) -> PagePart<Option<&WaitingOrders>> {
        if !self.frame.may(Verb::View, Model::Outflow) {
            return Ok(None);
        }
        let waiting = self.shown.orders.as_ref().map_err(|unread| *unread)?;
        Ok((waiting.count > 0).then_some(waiting))
    }

    fn order_rows(&self, waiting: &WaitingOrders) -> Vec<OrderRow> {
        let row = |order| OrderRow::of(order, self.locale());
        waiting.first.iter().map(row).collect()
    }

    /// The first lines of an analysis, up to its first heading.
    fn first_lines(summary: &AnalysisSummary) -> Vec<String> {
        let before_headings = pieces(&summary.result)
            .into_iter()
            .take_while(|piece| !matches!(piece, Piece::Heading(_)));
        let lines = before_headings.flat_map(|piece| match piece {
            Piece::Heading(line) | Piece::Paragraph(line) => vec![line],
            Piece::List(items) => items,
        });
        lines.take(ANALYSIS_LINES).collect()
    }

    /// Failed deliveries and endpoints, for users who may see them.
    fn failed(&self) -> PagePart<Option<FailedRows<'_>>> {
        let sees = |model| self.frame.may(Verb::View, model);
        let (deliveries, endpoints) = (sees(Model::Delivery), sees(Model::WebhookEndpoint));
        if !deliveries && !endpoints {
            return Ok(None);
        }
        let failed = self.shown.failed.as_ref().map_err(|unread| *unread)?;
        let count = Some(failed.count).filter(|count| deliveries && *count > 0);
        let rows = FailedRows {
            count,
            newest: if deliveries { &failed.newest } else { &[] },
            endpoints: if endpoints { &failed.endpoints } else { &[] },
        };
        Ok((count.is_some() || !rows.endpoints.is_empty()).then_some(rows))
    }

    /// The state of an endpoint, and since when it has been failing.
    fn endpoint_state(&self, endpoint: &Endpoint) -> String {
        let since = endpoint.failing_since.filter(|_| endpoint.enabled);
        let since = since.map(|since| {
            let since = self.locale().date_time(since);
            format!(" {} {since}", self.text("desde", "since"))
        });
        let state = self.frame.say(endpoint.state.words());
        format!("{state}{}", since.unwrap_or_default())
    }
}
