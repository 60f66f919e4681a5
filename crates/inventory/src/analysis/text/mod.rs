//! The text of an analysis for a shopkeeper: what to do, why, and under which assumptions. Plain
//! text, which pages escape. All figures are rendered here, even if a model writes the rest.

#[cfg(test)]
mod agreement;
mod words;

use db::Timestamp;
use web::locale::Locale;

use super::model::{
    Figures, Forecast,
    figures::{LEAST_DAYS, LEAST_DEMAND_DAYS},
    round_down, round_up,
};
pub(super) use words::clean;
use words::{days, moment, percent, whole_days};
pub(crate) use words::{decimal, products, units};

/// The first word of every text, in Portuguese and English.
pub(super) const RESTOCK: (&str, &str) = ("Reposição", "Restock");

/// The heading of the assumptions, the last section of a text.
pub(crate) const ASSUMPTIONS: (&str, &str) = ("Premissas", "Assumptions");

/// The checked text of a language model: plain lines that contain only computed figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelText {
    pub(super) summary: String,
    /// The reasons, one line each.
    pub(super) reasons: Vec<String>,
}

/// The inputs of the text of one product.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnalysisText<'a> {
    pub(super) locale: Locale,
    pub(super) title: &'a str,
    pub(super) figures: &'a Figures,
    pub(super) now: Timestamp,
}

impl AnalysisText<'_> {
    /// The text without a model.
    pub(super) fn computed(&self) -> String {
        self.around(match &self.figures.forecast {
            Some(forecast) => {
                let mut lines = vec![self.stock(forecast), String::new()];
                lines.push(self.say("Por quê", "Why").to_owned());
                lines.extend(self.reasons(forecast));
                lines
            }
            None => self.known_so_far(),
        })
    }

    /// The text with a model's sentences and the computed figures.
    pub(super) fn with_model_text(&self, written: &ModelText) -> String {
        let mut lines = vec![written.summary.clone()];
        if !written.reasons.is_empty() {
            lines.push(String::new());
            lines.extend(written.reasons.iter().map(|reason| format!("- {reason}")));
        }
        lines.push(String::new());
        let heading = self.say("Números calculados", "Computed figures");
        lines.push(heading.to_owned());
        match &self.figures.forecast {
            Some(forecast) => {
                lines.push(format!("- {}", self.stock(forecast)));
                lines.extend(self.reasons(forecast));
            }
            None => lines.extend(self.known_so_far().iter().map(|line| format!("- {line}"))),
        }
        self.around(lines)
    }

    /// The text with these lines between the advice and the assumptions.
    fn around(&self, lines: Vec<String>) -> String {
        let advice = match &self.figures.forecast {
            Some(forecast) => self.advice(forecast),
            None => self
                .say(
                    "Ainda não há histórico suficiente para sugerir uma quantidade.",
                    "There is not enough history yet to suggest a quantity.",
                )
                .to_owned(),
        };
        let begin = [self.heading(), String::new(), advice].into_iter();
        let all = begin.chain(lines).chain([String::new()]);
        let all: Vec<_> = all.chain(self.assumptions()).collect();
        all.join("\n")
    }

    fn heading(&self) -> String {
        let title = clean(self.title, 500);
        format!("{}: {title}", self.say(RESTOCK.0, RESTOCK.1))
    }

    fn say<'t>(&self, portuguese: &'t str, english: &'t str) -> &'t str {
        self.locale.text(portuguese, english)
    }

    fn advice(&self, forecast: &Forecast) -> String {
        let suggested = units(self.locale, forecast.suggested_quantity);
        if forecast.suggested_quantity > 0 {
            return self.locale.choose(
                format!("Peça agora {suggested}."),
                format!("Order {suggested} now."),
            );
        }
        let deadline = moment(self.locale, self.now, forecast.order_in);
        self.locale.choose(
            format!("Não é preciso pedir agora; faça o pedido até {deadline}."),
            format!("No need to order now; order by {deadline}."),
        )
    }

    fn stock(&self, forecast: &Forecast) -> String {
        let locale = self.locale;
        let quantity = self.figures.quantity;
        if quantity == 0 {
            return self.say("O estoque acabou.", "Out of stock.").to_owned();
        }
        let left = units(locale, quantity);
        let cover = words::cover(locale, forecast.days_of_cover);
        let end = moment(locale, self.now, forecast.runs_out_in);
        let lead = days(locale, self.figures.terms.lead_time);
        let delivery = if forecast.order_in < 0 {
            locale.choose(
                format!(", antes que um pedido de hoje chegue ({lead})."),
                format!(", before an order placed today arrives ({lead})."),
            )
        } else {
            let delivery = self.say("A entrega leva", "Delivery takes");
            format!(". {delivery} {lead}.")
        };
        let they_run = if quantity == 1 { "it runs" } else { "they run" };
        locale.choose(
            format!("Em estoque: {left}, para {cover}; acaba por volta de {end}{delivery}"),
            format!("In stock: {left}, enough for {cover}; {they_run} out around {end}{delivery}"),
        )
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
        let pace = words::pace(locale, forecast.per_day);
        let sold = units(locale, self.figures.units);
        let selling = whole_days(locale, self.figures.demand_days);
        let available = whole_days(locale, self.figures.available_days);
        locale.choose(
            format!("- Demanda prevista: {pace}. Saíram {sold} em {available} com estoque; houve saída em {selling}."),
            format!("- Expected demand: {pace}. {sold} went out in {available} with stock, on {selling} of them."),
        )
    }

    fn kind(&self, forecast: &Forecast) -> String {
        let kind = words::class(self.locale, forecast.class);
        let confidence = words::confidence(self.locale, forecast.class);
        let trust = self.say("Confiança na previsão", "Confidence in the forecast");
        format!("- {kind}. {trust}: {confidence}.")
    }

    fn point(&self, forecast: &Forecast) -> String {
        // An order is due at or below the reorder point, so the shown point is rounded down.
        let point = round_down(forecast.reorder_point);
        let of_which = if point == 1 { "da qual" } else { "das quais" };
        let safety = round_up(forecast.safety_stock).min(point);
        let shown = units(self.locale, point);
        let safety = self.locale.number(safety);
        let level = percent(self.locale, self.figures.terms.service_level);
        let why = if forecast.is_due && self.figures.quantity > point {
            let threshold = self.locale.number(self.figures.threshold);
            self.locale.choose(
                format!(" O estoque ainda não chegou a ele, mas está abaixo do mínimo definido pela loja ({threshold})."),
                format!(" The stock is still above it, but below the low-stock threshold ({threshold})."),
            )
        } else {
            String::new()
        };
        self.locale.choose(
            format!("- Ponto de pedido: {shown}, {of_which} {safety} de segurança, para que o estoque dure até a entrega em {level} das vezes.{why}"),
            format!("- Reorder point: {shown}, including {safety} of safety stock, so that the stock lasts until delivery {level} of the time.{why}"),
        )
    }

    fn level(&self, forecast: &Forecast) -> String {
        let name = self.say("Nível a alcançar", "Target level");
        let level = units(self.locale, round_up(forecast.order_up_to));
        let because = if self.figures.is_level_threshold() {
            self.say("o mínimo definido pela loja", "the low-stock threshold")
                .to_owned()
        } else {
            self.horizon()
        };
        let orders = self.say("Pedidos em", "Orders in");
        let packs = self.packs().map(|packs| format!(" {orders} {packs}."));
        format!("- {name}: {level}, {because}.{}", packs.unwrap_or_default())
    }

    /// The target level of an order and its reason.
    fn aim(&self) -> String {
        let locale = self.locale;
        let Some(forecast) = self.figures.forecast.as_ref() else {
            let minimum = locale.number(self.figures.threshold);
            return locale.choose(
                format!("Repõe até o mínimo de {minimum}; ainda há poucas saídas para prever"),
                format!("Restocks to the threshold of {minimum}; too little has gone out so far to forecast"),
            );
        };
        let level = locale.number(round_up(forecast.order_up_to));
        let pace = words::pace(locale, forecast.per_day);
        let horizon = self.horizon();
        match (locale, self.figures.is_level_threshold()) {
            (Locale::PtBr, true) => {
                format!("Repõe até o mínimo de {level}; a demanda prevista ({pace}) pede menos")
            }
            (Locale::En, true) => format!(
                "Restocks to the threshold of {level}; expected demand ({pace}) asks for less"
            ),
            (Locale::PtBr, false) => format!("Repõe até {level}, {horizon}, no ritmo de {pace}"),
            (Locale::En, false) => format!("Restocks to {level}, {horizon}, at {pace}"),
        }
    }

    /// The period that the target level covers.
    fn horizon(&self) -> String {
        let terms = &self.figures.terms;
        let lead = days(self.locale, terms.lead_time);
        let review = days(self.locale, terms.review_interval);
        self.locale.choose(
            format!("para {lead} de entrega e {review} até a próxima revisão"),
            format!("covering {lead} for delivery and {review} until the next review"),
        )
    }

    /// The pack size of orders. `None` if single units can be ordered.
    fn packs(&self) -> Option<String> {
        let pack = self.figures.terms.pack_multiple;
        let multiples = self.say("múltiplos de", "multiples of");
        (pack > 1).then(|| format!("{multiples} {}", self.locale.number(pack)))
    }

    /// The figures that are shown if there is no forecast.
    fn known_so_far(&self) -> Vec<String> {
        let locale = self.locale;
        let figures = self.figures;
        let selling = whole_days(locale, figures.demand_days);
        let available = whole_days(locale, figures.available_days);
        let left = units(locale, figures.quantity);
        let threshold = units(locale, figures.threshold);
        let missing = units(locale, figures.missing_to_threshold());
        let mut lines = vec![locale.choose(
            format!("Houve saída em {selling}, de {available} com estoque; a previsão precisa de saídas em pelo menos {LEAST_DEMAND_DAYS} dias, de pelo menos {LEAST_DAYS}."),
            format!("Something went out on {selling} of {available} with stock; a forecast needs outflows on at least {LEAST_DEMAND_DAYS} days of at least {LEAST_DAYS}."),
        )];
        let lack = if figures.missing_to_threshold() == 1 {
            self.say("Falta", "is missing")
        } else {
            self.say("Faltam", "are missing")
        };
        if figures.missing_to_threshold() > 0 {
            lines.push(locale.choose(
                format!("Em estoque: {left}. {lack} {missing} para o mínimo definido pela loja ({threshold})."),
                format!("In stock: {left}. {missing} {lack} to reach the low-stock threshold ({threshold})."),
            ));
        }
        lines
    }

    fn assumptions(&self) -> Vec<String> {
        let locale = self.locale;
        let figures = self.figures;
        let window = whole_days(locale, figures.days);
        let empty_days = figures.days - figures.available_days;
        let empty = whole_days(locale, empty_days);
        let (conta, does) = if empty_days == 1 {
            ("conta", "does")
        } else {
            ("contam", "do")
        };
        let history = match empty_days {
            0 => locale.choose(
                format!("- Histórico de {window}, sempre com estoque."),
                format!("- History of {window}, always with stock."),
            ),
            _ => locale.choose(
                format!("- Histórico de {window}; {empty} sem estoque não {conta}, pois sem estoque não há saída, mas pode haver procura."),
                format!("- History of {window}; {empty} without stock {does} not count: nothing can go out then, though there may be demand."),
            ),
        };
        let lead = days(locale, figures.terms.lead_time);
        let deviation = match (figures.terms.lead_time_deviation, locale) {
            (..=0.0, _) => String::new(),
            (varies, Locale::PtBr) => format!(", com desvio de {}", days(locale, varies)),
            (varies, Locale::En) => format!(", give or take {}", days(locale, varies)),
        };
        let supply = locale.choose(
            format!("- Prazo de entrega de {lead}{deviation}: presumido, pois pedidos de compra não são registrados."),
            format!("- A lead time of {lead}{deviation}: assumed, since purchase orders are not recorded."),
        );
        let forecast = figures.forecast.as_ref().map(|forecast| {
            let method = words::method(locale, forecast.method);
            format!("- {}: {method}.", self.say("Previsão", "Forecast"))
        });
        let title = self.say(ASSUMPTIONS.0, ASSUMPTIONS.1).to_owned();
        let lines = [title, history].into_iter().chain(forecast);
        lines.chain([supply]).collect()
    }
}

/// Why a low product is ordered in this quantity. Consistent with the text of its analysis.
pub(crate) fn reason(locale: Locale, figures: &Figures) -> String {
    let text = AnalysisText {
        locale,
        title: "",
        figures,
        now: Timestamp::from_micros(0),
    };
    let within = locale.text("em", "in");
    let packs = text.packs().map(|packs| format!(", {within} {packs}"));
    format!("{}{}.", text.aim(), packs.unwrap_or_default())
}
