//! Texts of the pages about inflows and outflows that cannot be derived from their names.

use resource::Both;

use crate::movement::Movement;

/// The texts for one kind of movement.
pub(crate) struct Texts {
    pub(crate) icon: &'static str,
    pub(crate) submit: Both,
    pub(crate) booked: Both,
    pub(crate) undone: Both,
    pub(crate) sentence: Both,
}

pub(crate) const fn texts(movement: Movement) -> Texts {
    match movement {
        Movement::Inflow => Texts {
            icon: "inflow",
            submit: ("Registrar entrada", "Book in"),
            booked: ("Entrada registrada", "Booked in"),
            undone: ("Entrada desfeita", "Inflow undone"),
            sentence: (
                "As unidades saem do estoque. O extrato guarda as duas linhas: a entrada e a que a desfaz.",
                "The units leave the stock. The ledger keeps both rows: the inflow and the one that undoes it.",
            ),
        },
        Movement::Outflow => Texts {
            icon: "outflow",
            submit: ("Registrar saída", "Book out"),
            booked: ("Saída registrada", "Booked out"),
            undone: ("Saída desfeita", "Outflow undone"),
            sentence: (
                "As unidades voltam ao estoque. O extrato guarda as duas linhas: a saída e a que a desfaz.",
                "The units return to the stock. The ledger keeps both rows: the outflow and the one that undoes it.",
            ),
        },
    }
}

/// The short name of a movement: `12 × Arroz`.
pub(crate) fn movement_text(quantity: i64, title: &str) -> String {
    format!("{quantity} × {title}")
}
