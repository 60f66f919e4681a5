//! The kinds of named records. A new kind needs an entry here and a table in both migrations.

use resource::Words;

use super::Model;

/// The properties of a kind.
#[derive(Debug)]
pub struct KindDescription {
    /// The name in messages, permissions and references.
    pub name: &'static str,
    /// The path, the name of files, and the table.
    pub path: &'static str,
    /// The names of its records.
    pub(crate) words: Words,
    /// The icon in `icons.svg`.
    pub icon: &'static str,
    /// An example name for the OpenAPI document.
    pub example: &'static str,
    /// The records that refer to this kind and prevent deletions.
    pub(crate) referrer: Option<Referrer>,
}

/// Records that refer to a kind. The reference is named after the kind.
#[derive(Debug)]
pub(crate) struct Referrer {
    /// The path, which is also the table.
    pub(crate) path: &'static str,
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

/// Declares the enum of the kinds, in display order.
macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident { $($about:tt)+ })+) => {
        /// A kind of named records.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$doc])* $kind,)+
        }

        impl Kind {
            /// Every kind.
            pub const ALL: [Self; [$(stringify!($kind)),+].len()] = [$(Self::$kind),+];

            /// The properties of the kind.
            pub const fn about(self) -> &'static KindDescription {
                match self {
                    $(Self::$kind => const { &KindDescription { $($about)+ } },)+
                }
            }
        }
    };
}

kinds! {
    /// The manufacturer of products.
    Brand {
        name: "brand",
        path: "brands",
        words: Words::feminine(("marca", "brand"), ("marcas", "brands")),
        icon: "tag",
        example: "Tio João",
        referrer: PRODUCTS,
    }
    /// The category of products.
    Category {
        name: "category",
        path: "categories",
        words: Words::feminine(("categoria", "category"), ("categorias", "categories")),
        icon: "folder",
        example: "Grãos",
        referrer: PRODUCTS,
    }
    /// The supplier of goods.
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
    /// The name in messages.
    pub const fn name(self) -> &'static str {
        self.about().name
    }

    /// The kind with this name.
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The path, the name of files, and the table.
    pub const fn path(self) -> &'static str {
        self.about().path
    }

    /// The model whose permissions apply.
    pub const fn model(self) -> Model {
        Model::Named(self)
    }
}
