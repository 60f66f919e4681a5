//! The names of inflows and outflows in the texts of pages, in both languages.

use super::Movement;

/// A text in Portuguese and in English.
pub(super) type Both = (&'static str, &'static str);

/// The words of one way that goods move.
pub(super) struct Words {
    pub(super) icon: &'static str,
    pub(super) plural: Both,
    pub(super) one: Both,
    pub(super) new: Both,
    pub(super) submit: Both,
    pub(super) booked: Both,
    pub(super) undone: Both,
    pub(super) empty: Both,
    pub(super) ask: Both,
    pub(super) confirm: Both,
    pub(super) sentence: Both,
}

/// The words of a movement.
pub(super) const fn words(movement: Movement) -> Words {
    match movement {
        Movement::Inflow => Words {
            icon: "inflow",
            plural: ("Entradas", "Inflows"),
            one: ("Entrada", "Inflow"),
            new: ("Nova entrada", "New inflow"),
            submit: ("Registrar entrada", "Book in"),
            booked: ("Entrada registrada", "Booked in"),
            undone: ("Entrada desfeita", "Inflow undone"),
            empty: ("Ainda não há entradas.", "There are no inflows yet."),
            ask: ("Excluir a entrada?", "Delete the inflow?"),
            confirm: ("Sim, excluir a entrada", "Yes, delete the inflow"),
            sentence: (
                "As unidades saem do estoque. O extrato guarda as duas linhas: a entrada e a que a desfaz.",
                "The units leave the stock. The ledger keeps both rows: the inflow and the one that undoes it.",
            ),
        },
        Movement::Outflow => Words {
            icon: "outflow",
            plural: ("Saídas", "Outflows"),
            one: ("Saída", "Outflow"),
            new: ("Nova saída", "New outflow"),
            submit: ("Registrar saída", "Book out"),
            booked: ("Saída registrada", "Booked out"),
            undone: ("Saída desfeita", "Outflow undone"),
            empty: ("Ainda não há saídas.", "There are no outflows yet."),
            ask: ("Excluir a saída?", "Delete the outflow?"),
            confirm: ("Sim, excluir a saída", "Yes, delete the outflow"),
            sentence: (
                "As unidades voltam ao estoque. O extrato guarda as duas linhas: a saída e a que a desfaz.",
                "The units return to the stock. The ledger keeps both rows: the outflow and the one that undoes it.",
            ),
        },
    }
}
