//! The computed text of an analysis, for a shopkeeper to read: what to do, why, and under which assumptions. Plain text; pages escape it.
//! All figures are written here, whoever words the rest.

mod words;

use db::Timestamp;
use web::locale::Locale;

use super::model::{Figures, Forecast, figures::LEAST_DAYS, figures::LEAST_DEMAND_DAYS};
pub(super) use words::{clean, decimal};
use words::{count, days, moment, percent, units};

/// What the first line of a text begins with, in Portuguese and in English.
pub(super) const RESTOCK: (&str, &str) = ("Reposição", "Restock");

/// What a language model said, checked: plain lines without figures of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Worded {
    /// A few sentences.
    pub(super) summary: String,
    /// Why, one line each.
    pub(super) reasons: Vec<String>,
}

/// The text of one product's figures.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) locale: Locale,
    pub(super) title: &'a str,
    pub(super) figures: &'a Figures,
    pub(super) now: Timestamp,
}

impl Text<'_> {
    /// The text without a model.
    pub(super) fn computed(&self) -> String {
        let mut lines = vec![self.heading(), String::new()];
        if let Some(forecast) = &self.figures.forecast {
            lines.push(self.advice(forecast));
            lines.push(self.standing(forecast));
            lines.push(String::new());
            lines.push(self.say("Por quê", "Why").to_owned());
            lines.extend(self.reasons(forecast));
        } else {
            lines.push(self.no_suggestion().to_owned());
            lines.extend(self.known_so_far());
        }
        lines.push(String::new());
        lines.extend(self.assumptions());
        lines.join("\n")
    }

    /// The text with a model's words in place of our own; the figures are ours.
    pub(super) fn worded(&self, worded: &Worded) -> String {
        let (advice, figures) = if let Some(forecast) = &self.figures.forecast {
            let mut figures = vec![format!("- {}", self.standing(forecast))];
            figures.extend(self.reasons(forecast));
            (self.advice(forecast), figures)
        } else {
            let known = self.known_so_far().into_iter();
            let figures = known.map(|line| format!("- {line}")).collect();
            (self.no_suggestion().to_owned(), figures)
        };
        let mut lines = vec![self.heading(), String::new(), advice];
        lines.push(worded.summary.clone());
        if !worded.reasons.is_empty() {
            lines.push(String::new());
            lines.extend(worded.reasons.iter().map(|reason| format!("- {reason}")));
        }
        lines.push(String::new());
        lines.push(
            self.say("Números calculados", "Computed figures")
                .to_owned(),
        );
        lines.extend(figures);
        lines.push(String::new());
        lines.extend(self.assumptions());
        lines.join("\n")
    }

    fn heading(&self) -> String {
        let title = clean(self.title, 500);
        format!("{}: {title}", self.say(RESTOCK.0, RESTOCK.1))
    }

    fn say<'t>(&self, portuguese: &'t str, english: &'t str) -> &'t str {
        self.locale.text(portuguese, english)
    }

    /// The one line that says what to do.
    fn advice(&self, forecast: &Forecast) -> String {
        let suggested = units(self.locale, forecast.suggested_quantity);
        if forecast.suggested_quantity > 0 {
            return match self.locale {
                Locale::PtBr => format!("Peça agora {suggested}."),
                Locale::En => format!("Order {suggested} now."),
            };
        }
        if forecast.is_due {
            return self
                .say(
                    "Não é preciso pedir: o estoque alcança o nível desejado.",
                    "No order is needed: the stock reaches the level aimed for.",
                )
                .to_owned();
        }
        let by = moment(self.locale, self.now, forecast.order_in);
        match self.locale {
            Locale::PtBr => format!("Não é preciso pedir agora; faça o pedido até {by}."),
            Locale::En => format!("No order is needed now; place it by {by}."),
        }
    }

    /// What is there, and how long it lasts.
    fn standing(&self, forecast: &Forecast) -> String {
        let locale = self.locale;
        let quantity = self.figures.quantity;
        if quantity == 0 {
            return self
                .say("O estoque acabou.", "Nothing is left in stock.")
                .to_owned();
        }
        let left = units(locale, quantity);
        let cover = days(locale, forecast.days_of_cover);
        let end = moment(locale, self.now, forecast.runs_out_in);
        let lead = days(locale, self.figures.terms.lead_time);
        let is_late = forecast.order_in < 0;
        match (locale, is_late) {
            (Locale::PtBr, false) => format!(
                "Em estoque: {left}, para cerca de {cover}; acaba por volta de {end}. A entrega leva {lead}."
            ),
            (Locale::PtBr, true) => format!(
                "Em estoque: {left}, para cerca de {cover}; acaba por volta de {end}, antes que um pedido de hoje chegue ({lead})."
            ),
            (Locale::En, false) => format!(
                "In stock: {left}, enough for about {cover}; they run out around {end}. Delivery takes {lead}."
            ),
            (Locale::En, true) => format!(
                "In stock: {left}, enough for about {cover}; they run out around {end}, before an order of today arrives ({lead})."
            ),
        }
    }

    fn reasons(&self, forecast: &Forecast) -> Vec<String> {
        vec![
            self.demand(forecast),
            self.kind(forecast),
            self.point(forecast),
            self.level(forecast),
        ]
    }

    fn demand(&self, forecast: &Forecast) -> String {
        let locale = self.locale;
        let per_day = decimal(locale, forecast.per_day, 1);
        let sold = units(locale, self.figures.units);
        let selling = count(
            locale,
            self.figures.demand_days,
            ("dia", "dias"),
            ("day", "days"),
        );
        let available = count(
            locale,
            self.figures.available_days,
            ("dia", "dias"),
            ("day", "days"),
        );
        match locale {
            Locale::PtBr => format!(
                "- Demanda prevista: {per_day} por dia. Saíram {sold} em {available} com estoque; houve saída em {selling}."
            ),
            Locale::En => format!(
                "- Expected demand: {per_day} a day. {sold} went out in {available} with stock, on {selling} of them."
            ),
        }
    }

    fn kind(&self, forecast: &Forecast) -> String {
        let kind = words::class(self.locale, forecast.class);
        let method = words::method(self.locale, forecast.method);
        let confidence = words::confidence(self.locale, forecast.class);
        match self.locale {
            Locale::PtBr => format!("- {kind}; a previsão usa {method}. Confiança: {confidence}."),
            Locale::En => {
                format!("- {kind}; the forecast uses {method}. Confidence: {confidence}.")
            }
        }
    }

    fn point(&self, forecast: &Forecast) -> String {
        let point = units(self.locale, super::model::round_up(forecast.reorder_point));
        let safety = self
            .locale
            .number(super::model::round_up(forecast.safety_stock));
        let level = percent(self.locale, self.figures.terms.service_level);
        let quantity = super::model::real(self.figures.quantity);
        let why = if forecast.is_due && quantity > forecast.reorder_point {
            let threshold = self.locale.number(self.figures.threshold);
            match self.locale {
                Locale::PtBr => {
                    format!(
                        " O estoque ainda não chegou a ele, mas está abaixo do mínimo definido pela loja ({threshold})."
                    )
                }
                Locale::En => {
                    format!(
                        " The stock is still above it, but below the shop's own minimum ({threshold})."
                    )
                }
            }
        } else {
            String::new()
        };
        match self.locale {
            Locale::PtBr => format!(
                "- Ponto de pedido: {point}, das quais {safety} de segurança, para que o estoque dure até a entrega em {level} das vezes.{why}"
            ),
            Locale::En => format!(
                "- Reorder point: {point}, {safety} of them for safety, so that the stock lasts until delivery {level} of the time.{why}"
            ),
        }
    }

    fn level(&self, forecast: &Forecast) -> String {
        let terms = &self.figures.terms;
        let level = units(self.locale, super::model::round_up(forecast.order_up_to));
        let lead = days(self.locale, terms.lead_time);
        let review = days(self.locale, terms.review_interval);
        let is_wish = forecast.order_up_to <= super::model::real(self.figures.threshold);
        let pack = match (terms.pack_multiple, self.locale) {
            (..=1, _) => String::new(),
            (pack, Locale::PtBr) => {
                format!(" Pedidos em múltiplos de {}.", self.locale.number(pack))
            }
            (pack, Locale::En) => format!(" Orders in multiples of {}.", self.locale.number(pack)),
        };
        match self.locale {
            Locale::PtBr if is_wish => {
                format!("- Nível a alcançar: {level}, o mínimo definido pela loja.{pack}")
            }
            Locale::En if is_wish => {
                format!("- Level to reach: {level}, the shop's own minimum.{pack}")
            }
            Locale::PtBr => format!(
                "- Nível a alcançar: {level}, para {lead} de entrega e {review} até a próxima revisão.{pack}"
            ),
            Locale::En => format!(
                "- Level to reach: {level}, for {lead} of delivery and {review} until the next review.{pack}"
            ),
        }
    }

    /// What is said instead of advice.
    fn no_suggestion(&self) -> &'static str {
        self.say(
            "Ainda não há histórico suficiente para sugerir uma quantidade.",
            "There is not enough history yet to suggest a quantity.",
        )
    }

    /// What is known without a forecast.
    fn known_so_far(&self) -> Vec<String> {
        let locale = self.locale;
        let figures = self.figures;
        let selling = count(
            locale,
            figures.demand_days,
            ("dia", "dias"),
            ("day", "days"),
        );
        let available = count(
            locale,
            figures.available_days,
            ("dia", "dias"),
            ("day", "days"),
        );
        let left = units(locale, figures.quantity);
        let threshold = units(locale, figures.threshold);
        let missing = units(locale, figures.missing_to_threshold());
        let mut lines = match locale {
            Locale::PtBr => vec![format!(
                "Houve saída em {selling}, de {available} com estoque; a previsão precisa de saídas em pelo menos {LEAST_DEMAND_DAYS} dias, de pelo menos {LEAST_DAYS}."
            )],
            Locale::En => vec![format!(
                "Something went out on {selling} of {available} with stock; a forecast needs outflows on at least {LEAST_DEMAND_DAYS} days of at least {LEAST_DAYS}."
            )],
        };
        if figures.missing_to_threshold() > 0 {
            lines.push(match locale {
                Locale::PtBr => format!(
                    "Em estoque: {left}. Faltam {missing} para o mínimo definido pela loja ({threshold})."
                ),
                Locale::En => format!(
                    "In stock: {left}. {missing} are missing to the shop's own minimum ({threshold})."
                ),
            });
        }
        lines
    }

    fn assumptions(&self) -> Vec<String> {
        let locale = self.locale;
        let figures = self.figures;
        let window = count(locale, figures.days, ("dia", "dias"), ("day", "days"));
        let empty_days = figures.days - figures.available_days;
        let empty = count(locale, empty_days, ("dia", "dias"), ("day", "days"));
        let history = match (locale, empty_days) {
            (Locale::PtBr, 0) => format!("- Histórico de {window}, sempre com estoque."),
            (Locale::PtBr, 1) => format!(
                "- Histórico de {window}; {empty} sem estoque não conta, pois sem estoque não há saída, mas pode haver procura."
            ),
            (Locale::PtBr, _) => format!(
                "- Histórico de {window}; {empty} sem estoque não contam, pois sem estoque não há saída, mas pode haver procura."
            ),
            (Locale::En, 0) => format!("- History of {window}, always with stock."),
            (Locale::En, 1) => format!(
                "- History of {window}; {empty} without stock does not count, since without stock nothing goes out, though somebody may ask."
            ),
            (Locale::En, _) => format!(
                "- History of {window}; {empty} without stock do not count, since without stock nothing goes out, though somebody may ask."
            ),
        };
        let lead = days(locale, figures.terms.lead_time);
        let varies = figures.terms.lead_time_deviation > 0.0;
        let deviation = days(locale, figures.terms.lead_time_deviation);
        match locale {
            Locale::PtBr => vec![
                "Premissas".to_owned(),
                history,
                if varies {
                    format!(
                        "- Prazo de entrega de {lead}, com desvio de {deviation}: suposto, pois pedidos de compra não são registrados."
                    )
                } else {
                    format!(
                        "- Prazo de entrega de {lead}: suposto, pois pedidos de compra não são registrados."
                    )
                },
            ],
            Locale::En => vec![
                "Assumptions".to_owned(),
                history,
                if varies {
                    format!(
                        "- A lead time of {lead}, give or take {deviation}: assumed, since purchase orders are not recorded."
                    )
                } else {
                    format!(
                        "- A lead time of {lead}: assumed, since purchase orders are not recorded."
                    )
                },
            ],
        }
    }
}
