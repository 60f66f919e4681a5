//! The navigation: every place of the application in one table.

use web::page::Layout;

use crate::accounts::{Caller, Model, Permission, Verb};

/// A place that the navigation leads to.
pub(crate) struct Place {
    /// Its icon in `icons.svg`.
    icon: &'static str,
    address: &'static str,
    portuguese: &'static str,
    english: &'static str,
    /// Whether it stands in the bottom bar of phones; the others are behind "More".
    is_main: bool,
    /// Who is led there.
    is_for: fn(&Caller) -> bool,
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
    }
}

/// A place of the bottom bar.
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

/// Every place, in the order of the navigation.
const PLACES: &[Place] = &[
    main_place("home", "/", "Início", "Home"),
    main_place("box", "/products/", "Produtos", "Products"),
    main_place("inflow", "/inflows/", "Entradas", "Inflows"),
    main_place("outflow", "/outflows/", "Saídas", "Outflows"),
    place("bell", "/low-stock/", "Estoque baixo", "Low stock"),
    place("chart", "/analyses/", "Análises", "Analyses"),
    place("truck", "/suppliers/", "Fornecedores", "Suppliers"),
    place("tag", "/brands/", "Marcas", "Brands"),
    place("folder", "/categories/", "Categorias", "Categories"),
    Place {
        is_for: |caller| caller.may(Permission::new(Verb::View, Model::Delivery)),
        ..place("external", "/webhooks/", "Webhooks", "Webhooks")
    },
    Place {
        is_for: |caller| caller.is_staff,
        ..place("settings", "/admin/", "Administração", "Administration")
    },
];

/// A place as one page shows it.
#[derive(Debug)]
pub(crate) struct Shown {
    /// Its icon.
    pub(crate) icon: &'static str,
    /// Where it is.
    pub(crate) address: &'static str,
    /// What it is called.
    pub(crate) text: &'static str,
    /// Whether the reader is there.
    pub(crate) is_current: bool,
    /// Whether it stands in the bottom bar of phones.
    pub(crate) is_main: bool,
}

/// The places of a reader.
pub(super) fn shown(layout: &Layout, caller: &Caller) -> Vec<Shown> {
    let path = layout.path.split('?').next().unwrap_or("/");
    PLACES
        .iter()
        .filter(|place| (place.is_for)(caller))
        .map(|place| Shown {
            icon: place.icon,
            address: place.address,
            text: layout.locale.text(place.portuguese, place.english),
            is_current: path == place.address
                || (place.address != "/" && path.starts_with(place.address)),
            is_main: place.is_main,
        })
        .collect()
}
