//! Property tests: for any figures, the advice of a text is consistent with the reasons that the
//! same text shows.

use db::Timestamp;
use proptest::prelude::*;
use web::locale::Locale;

use super::{AnalysisText, reason};
use crate::analysis::model::{Day, Demand, Figures, Terms};

/// The first number after `words`, if the text contains them.
fn after(text: &str, words: &str) -> Option<i64> {
    let (_, rest) = text.split_once(words)?;
    let digits = rest
        .chars()
        .take_while(|sign| sign.is_ascii_digit() || *sign == '.');
    digits
        .filter(char::is_ascii_digit)
        .collect::<String>()
        .parse()
        .ok()
}

fn figures() -> impl Strategy<Value = Figures> {
    let often = prop_oneof![Just(0), 0..4_i64, 0..60_i64, 500..900_i64];
    let seldom = prop_oneof![9 => Just(0), 1 => 1..20_i64];
    let days = prop_oneof![
        prop::collection::vec(often, 0..90),
        prop::collection::vec(seldom, 0..200),
    ];
    let terms = (1..60_i32, 0..9_i32, 50.0..99.9_f64, 1..40_i32, 1..30_i64);
    let stock = prop_oneof![Just(0), 0..40_i64, 0..20_000_i64];
    let threshold = prop_oneof![Just(10), 0..400_i64, 0..9_000_i64];
    (days, terms, stock, threshold).prop_map(|(days, terms, quantity, threshold)| {
        let (lead, deviation, service_level, review, pack_multiple) = terms;
        let terms = Terms {
            lead_time: f64::from(lead),
            lead_time_deviation: f64::from(deviation),
            service_level,
            review_interval: f64::from(review),
            pack_multiple,
        };
        let demand = Demand::of(&Day::all_in_stock(&days));
        Figures::of(&demand, quantity, threshold, terms)
    })
}

fn text(figures: &Figures) -> String {
    let text = AnalysisText {
        locale: Locale::PtBr,
        title: "Arroz",
        figures,
        now: Timestamp::parse("2026-11-20T12:00:00Z").unwrap(),
    };
    text.computed()
}

/// Fails unless the advice is consistent with the reorder point, threshold and level in the text.
fn advice_follows(figures: &Figures, text: &str) -> Result<(), TestCaseError> {
    let stock = figures.quantity;
    let point = after(text, "Ponto de pedido: ").unwrap();
    let level = after(text, "Nível a alcançar: ").unwrap();
    let is_below_minimum = text.contains("abaixo do mínimo definido pela loja");
    if let Some(ordered) = after(text, "Peça agora ") {
        prop_assert!(stock <= point || is_below_minimum, "no reason to order");
        prop_assert!(stock + ordered >= level, "the level is not reached");
        let too_many = stock + ordered - level;
        prop_assert!(
            too_many < figures.terms.pack_multiple,
            "more than a pack too many"
        );
    } else {
        prop_assert!(stock > point && !is_below_minimum, "a reason to order");
        prop_assert!(!text.contains("até hoje"), "not now, and by today");
        prop_assert!(
            !text.contains("antes que um pedido de hoje chegue"),
            "too late, and not now"
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_is_advised_follows_from_the_reasons_that_are_given(figures in figures()) {
        let text = text(&figures);
        prop_assert!(!text.contains(": 0 por dia"), "sold, and never: {text}");
        if figures.forecast.is_some() {
            advice_follows(&figures, &text)?;
            let level = after(&text, "Nível a alcançar: ").unwrap();
            let is_minimum = text.contains("o mínimo definido pela loja.");
            prop_assert_eq!(is_minimum, level == figures.threshold && figures.is_level_threshold());
            prop_assert_eq!(text.contains("até a próxima revisão"), !is_minimum);
            prop_assert!(level >= figures.threshold);
        } else {
            prop_assert!(text.contains("não há histórico suficiente"));
        }
    }

    #[test]
    fn the_sentence_of_the_list_agrees_with_the_quantity_and_the_analysis(figures in figures()) {
        let sentence = reason(Locale::PtBr, &figures);
        let text = text(&figures);
        let (minimum, level) = (after(&sentence, "até o mínimo de "), after(&sentence, "Repõe até "));
        prop_assert_eq!(minimum.is_some(), figures.is_level_threshold());
        let aimed = minimum.or(level).unwrap();
        if figures.forecast.is_some() {
            prop_assert_eq!(Some(aimed), after(&text, "Nível a alcançar: "));
        }
        if figures.quantity < figures.threshold {
            let reached = figures.quantity + figures.order_quantity();
            prop_assert!(reached >= aimed && reached - aimed < figures.terms.pack_multiple);
        }
    }
}
