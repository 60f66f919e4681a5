//! The navigation.

use super::Frame;
use crate::{
    access::{Model, Verb},
    catalogue::named::Kind,
};

/// The addresses in the bottom bar of phones. The others are below "More".
const MAIN: [&str; 4] = ["/", "/products/", "/inflows/", "/outflows/"];

/// An entry as a page shows it.
#[derive(Debug)]
pub(crate) struct PlaceLink {
    pub(crate) icon: &'static str,
    pub(crate) address: String,
    pub(crate) text: String,
    pub(crate) is_current: bool,
    /// Whether it is in the bottom bar of phones.
    pub(crate) is_main: bool,
    /// The saved views below it.
    pub(crate) views: Vec<ViewLink>,
}

/// A saved view as a page shows it.
#[derive(Debug)]
pub(crate) struct ViewLink {
    pub(crate) address: String,
    /// The name that the user gave it.
    pub(crate) name: String,
    pub(crate) is_current: bool,
}

impl PlaceLink {
    /// Whether the path is below this entry.
    pub(crate) fn is_above(&self, path: &str) -> bool {
        self.address != "/" && path.starts_with(&self.address)
    }

    /// The value of `aria-current`: `true` if a saved view below is the current page, else `page`.
    pub(crate) fn current(&self) -> &'static str {
        if self.views.iter().any(|view| view.is_current) {
            "true"
        } else {
            "page"
        }
    }
}

/// The entries that the user sees, each with its saved views.
pub(super) fn shown(frame: &Frame) -> Vec<PlaceLink> {
    let here = frame.saved_address(&frame.path);
    let mut places = without_views(frame);
    for view in frame.views() {
        if let Some(place) = places.iter_mut().find(|place| place.is_above(view.path())) {
            place.views.push(ViewLink {
                address: view.address.clone(),
                name: view.name.clone(),
                is_current: here.as_ref() == Some(&view.address),
            });
        }
    }
    places
}

fn without_views(frame: &Frame) -> Vec<PlaceLink> {
    let path = frame.address();
    let link = |icon, address: String, text| PlaceLink {
        is_current: path == address || (address != "/" && path.starts_with(&address)),
        is_main: MAIN.contains(&address.as_str()),
        icon,
        address,
        text,
        views: Vec::new(),
    };
    let place = |is_shown: bool, icon, address: &str, portuguese, english| {
        let text = frame.text(portuguese, english);
        is_shown.then(|| link(icon, address.to_owned(), text.to_owned()))
    };
    let (receives, counts) = (
        frame.may(Verb::Add, Model::Inflow),
        frame.may(Verb::Change, Model::Product),
    );
    let pays = frame.has_checkout() && frame.may(Verb::View, Model::Order);
    let first = [
        place(true, "home", "/", "Início", "Home"),
        place(true, "box", "/products/", "Produtos", "Products"),
        place(true, "inflow", "/inflows/", "Entradas", "Inflows"),
        place(true, "outflow", "/outflows/", "Saídas", "Outflows"),
        place(
            receives,
            "receipt",
            "/receiving/",
            "Receber mercadoria",
            "Receive goods",
        ),
        place(
            counts,
            "count",
            "/counts/",
            "Contagem de estoque",
            "Stock count",
        ),
        place(pays, "card", "/payments/", "Pagamentos", "Payments"),
        place(true, "bell", "/low-stock/", "Estoque baixo", "Low stock"),
        place(true, "chart", "/analyses/", "Análises", "Analyses"),
    ];
    let named = Kind::ALL.map(|kind| {
        let text = kind.about().words.title(frame.locale);
        Some(link(kind.about().icon, format!("/{}/", kind.path()), text))
    });
    let delivers = frame.may(Verb::View, Model::Delivery);
    let last = [
        place(delivers, "external", "/webhooks/", "Webhooks", "Webhooks"),
        place(
            frame.caller.is_staff,
            "settings",
            "/admin/",
            "Administração",
            "Administration",
        ),
    ];
    first
        .into_iter()
        .chain(named)
        .chain(last)
        .flatten()
        .collect()
}
