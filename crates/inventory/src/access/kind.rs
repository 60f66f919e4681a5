//! The kinds of named records. A new kind is one entry here, and its table in both migrations.

use resource::Words;

use super::Model;

/// What differs between the kinds.
#[derive(Debug)]
pub struct KindDescription {
    /// What one is called in messages, permissions and references.
    pub name: &'static str,
    /// Its place in addresses and files, and its table.
    pub path: &'static str,
    /// What its records are called.
    pub(crate) words: Words,
    /// Its icon in `icons.svg`.
    pub icon: &'static str,
    /// A name that the API's document shows.
    pub example: &'static str,
    /// What refers to its records, and keeps them from being deleted.
    pub(crate) referrer: Option<Referrer>,
}

/// Records that refer to those of a kind. The reference has the name of the kind.
#[derive(Debug)]
pub(crate) struct Referrer {
    /// Their place in addresses, and their table.
    pub(crate) path: &'static str,
    /// What they are.
    pub(crate) model: Model,
}

const PRODUCTS: Option<Referrer> = Some(Referrer {
    path: "products",
    model: Model::Product,
});
const INFLOWS: Option<Referrer> = Some(Referrer {
    path: "inflows",
    model: Model::Inflow,
});

/// Makes the enum of the kinds, in the order that lists show them.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident { $($about:tt)+ })+) => {
        /// Which kind.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$doc])* $kind,)+
        }

        impl Kind {
            /// Every kind.
            pub const ALL: [Self; [$(stringify!($kind)),+].len()] = [$(Self::$kind),+];

            /// What it is.
            pub const fn about(self) -> &'static KindDescription {
                match self {
                    $(Self::$kind => const { &KindDescription { $($about)+ } },)+
                }
            }
        }
    };
}

kinds! {
    /// Who makes a product.
    Brand {
        name: "brand",
        path: "brands",
        words: Words::feminine(("marca", "brand"), ("marcas", "brands")),
        icon: "tag",
        example: "Tio João",
        referrer: PRODUCTS,
    }
    /// What sort of product it is.
    Category {
        name: "category",
        path: "categories",
        words: Words::feminine(("categoria", "category"), ("categorias", "categories")),
        icon: "folder",
        example: "Grãos",
        referrer: PRODUCTS,
    }
    /// Who delivers goods.
    Supplier {
        name: "supplier",
        path: "suppliers",
        words: Words::masculine(("fornecedor", "supplier"), ("fornecedores", "suppliers")),
        icon: "truck",
        example: "Atacado Sul",
        referrer: INFLOWS,
    }
}

impl Kind {
    /// What one is called in messages.
    pub const fn name(self) -> &'static str {
        self.about().name
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
        Model::Named(self)
    }
}
