//! The kinds of named records. A new kind needs an entry here and a table in both migrations.

use resource::{Words, stored_enum};

use super::Model;

stored_enum! {
    /// A kind of named records, in display order. The name is that of messages, permissions and
    /// references.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Kind {
        /// The manufacturer of products.
        Brand = "brand";
        /// The category of products.
        Category = "category";
        /// The supplier of goods.
        Supplier = "supplier";
    }
}

/// The properties of a kind.
#[derive(Debug)]
pub struct KindDescription {
    /// The path, the name of files, and the table.
    pub path: &'static str,
    /// The names of its records.
    pub(crate) words: Words,
    /// The icon in `icons.svg`.
    pub icon: &'static str,
    /// An example name for the OpenAPI document.
    pub example: &'static str,
    /// The table of the records that refer to this kind, and their model. They prevent deletions.
    pub(crate) referrer: (&'static str, Model),
}

const BRAND: KindDescription = KindDescription {
    path: "brands",
    words: Words::feminine(("marca", "brand"), ("marcas", "brands")),
    icon: "tag",
    example: "Tio João",
    referrer: ("products", Model::Product),
};
const CATEGORY: KindDescription = KindDescription {
    path: "categories",
    words: Words::feminine(("categoria", "category"), ("categorias", "categories")),
    icon: "folder",
    example: "Grãos",
    referrer: ("products", Model::Product),
};
const SUPPLIER: KindDescription = KindDescription {
    path: "suppliers",
    words: Words::masculine(("fornecedor", "supplier"), ("fornecedores", "suppliers")),
    icon: "truck",
    example: "Atacado Sul",
    referrer: ("inflows", Model::Inflow),
};

impl Kind {
    /// The properties of the kind.
    pub const fn about(self) -> &'static KindDescription {
        match self {
            Self::Brand => &BRAND,
            Self::Category => &CATEGORY,
            Self::Supplier => &SUPPLIER,
        }
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
