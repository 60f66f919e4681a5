//! The kinds of named records. A new kind is described here; its permissions are a model of `accounts`, its table is in the migrations.

use resource::Words;

use crate::{access::Model, catalogue::products, movement};

/// Which kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Who makes a product.
    Brand,
    /// What sort of product it is.
    Category,
    /// Who delivers goods.
    Supplier,
}

/// What differs between the kinds.
#[derive(Debug)]
pub struct KindDescription {
    /// Its place in addresses and files, and its table.
    pub path: &'static str,
    /// Whose permissions count.
    pub model: Model,
    /// What its records are called.
    pub(crate) words: Words,
    /// Its icon in `icons.svg`.
    pub icon: &'static str,
    /// A name that the API's document shows.
    pub example: &'static str,
    /// What refers to its records, and keeps them from being deleted.
    pub(crate) referrer: Option<Referrer>,
}

/// Records that refer to those of a kind.
#[derive(Debug)]
pub(crate) struct Referrer {
    /// Their place in addresses, and their table. The reference has the name of the kind.
    pub(crate) path: &'static str,
    /// What they are called.
    pub(crate) words: &'static Words,
}

const PRODUCTS: Option<Referrer> = Some(Referrer {
    path: "products",
    words: &products::WORDS,
});
const BRAND: KindDescription = KindDescription {
    path: "brands",
    model: Model::Brand,
    words: Words::feminine(("marca", "brand"), ("marcas", "brands")),
    icon: "tag",
    example: "Tio João",
    referrer: PRODUCTS,
};
const CATEGORY: KindDescription = KindDescription {
    path: "categories",
    model: Model::Category,
    words: Words::feminine(("categoria", "category"), ("categorias", "categories")),
    icon: "folder",
    example: "Grãos",
    referrer: PRODUCTS,
};
const SUPPLIER: KindDescription = KindDescription {
    path: "suppliers",
    model: Model::Supplier,
    words: Words::masculine(("fornecedor", "supplier"), ("fornecedores", "suppliers")),
    icon: "truck",
    example: "Atacado Sul",
    referrer: Some(Referrer {
        path: "inflows",
        words: &movement::INFLOW_WORDS,
    }),
};

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Brand, Self::Category, Self::Supplier];

    /// What it is.
    pub const fn about(self) -> &'static KindDescription {
        match self {
            Self::Brand => &BRAND,
            Self::Category => &CATEGORY,
            Self::Supplier => &SUPPLIER,
        }
    }

    /// What one is called in messages.
    pub const fn name(self) -> &'static str {
        self.model().code()
    }

    /// The kind that one is called so of.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Its place in addresses and files, and its table.
    pub const fn path(self) -> &'static str {
        self.about().path
    }

    /// Whose permissions count.
    pub const fn model(self) -> Model {
        self.about().model
    }
}
