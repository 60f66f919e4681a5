//! The navigation.

use web::page::Layout;

use crate::{
    access::{Caller, Model, Permission, Verb},
    accounts::session::SavedView,
    catalogue::named::Kind,
};

/// An entry of the navigation.
pub(crate) struct Place {
    /// The icon in `icons.svg`.
    icon: &'static str,
    address: &'static str,
    portuguese: &'static str,
    english: &'static str,
    /// Whether it is in the bottom bar of phones. The others are below "More".
    is_main: bool,
    /// Whether the user sees the entry.
    is_for: fn(&Caller) -> bool,
    /// Whether it is shown only with a configured checkout.
    needs_checkout: bool,
}

const fn place(
    icon: &'static str,
    address: &'static str,
    portuguese: &'static str,
    english: &'static str,
) -> Place {
    Place {
        icon,
        address,
        portuguese,
        english,
        is_main: false,
        is_for: |_| true,
        needs_checkout: false,
    }
}

/// An entry of the bottom bar.
const fn main_place(
    icon: &'static str,
    address: &'static str,
    portuguese: &'static str,
    english: &'static str,
) -> Place {
    Place {
        is_main: true,
        ..place(icon, address, portuguese, english)
    }
}

/// The entries before the named records.
const FIRST: &[Place] = &[
    main_place("home", "/", "Início", "Home"),
    main_place("box", "/products/", "Produtos", "Products"),
    main_place("inflow", "/inflows/", "Entradas", "Inflows"),
    main_place("outflow", "/outflows/", "Saídas", "Outflows"),
    Place {
        is_for: |caller| caller.may(Permission::new(Verb::Add, Model::Inflow)),
        ..place(
            "receipt",
            "/receiving/",
            "Receber mercadoria",
            "Receive goods",
        )
    },
    Place {
        is_for: |caller| caller.may(Permission::new(Verb::Change, Model::Product)),
        ..place("count", "/counts/", "Contagem de estoque", "Stock count")
    },
    Place {
        is_for: |caller| caller.may(Permission::new(Verb::View, Model::Order)),
        needs_checkout: true,
        ..place("card", "/payments/", "Pagamentos", "Payments")
    },
    place("bell", "/low-stock/", "Estoque baixo", "Low stock"),
    place("chart", "/analyses/", "Análises", "Analyses"),
];

/// The entries after the named records.
const LAST: &[Place] = &[
    Place {
        is_for: |caller| caller.may(Permission::new(Verb::View, Model::Delivery)),
        ..place("external", "/webhooks/", "Webhooks", "Webhooks")
    },
    Place {
        is_for: |caller| caller.is_staff,
        ..place("settings", "/admin/", "Administração", "Administration")
    },
];

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
pub(super) fn shown(
    layout: &Layout,
    caller: &Caller,
    has_checkout: bool,
    (views, here): (&[SavedView], Option<String>),
) -> Vec<PlaceLink> {
    let mut places = without_views(layout, caller, has_checkout);
    for view in views {
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

fn without_views(layout: &Layout, caller: &Caller, has_checkout: bool) -> Vec<PlaceLink> {
    let path = layout.path.split('?').next().unwrap_or("/");
    let show = |icon, address: String, text, is_main| PlaceLink {
        is_current: path == address || (address != "/" && path.starts_with(&address)),
        icon,
        address,
        text,
        is_main,
        views: Vec::new(),
    };
    let written = |place: &Place| {
        let text = layout.locale.text(place.portuguese, place.english);
        show(
            place.icon,
            place.address.to_owned(),
            text.to_owned(),
            place.is_main,
        )
    };
    let named = Kind::ALL.map(|kind| {
        let text = kind.about().words.title(layout.locale);
        show(kind.about().icon, format!("/{}/", kind.path()), text, false)
    });
    let of = |places: &'static [Place]| {
        let is_there = move |place: &&Place| has_checkout || !place.needs_checkout;
        let places = places.iter().filter(is_there);
        let places = places.filter(move |place| (place.is_for)(caller));
        places.map(written)
    };
    of(FIRST).chain(named).chain(of(LAST)).collect()
}
