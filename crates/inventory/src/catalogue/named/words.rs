//! The names of brands, categories and suppliers in the texts of pages, in both languages.

use super::Kind;

/// A text in Portuguese and in English.
pub(super) type Both = (&'static str, &'static str);

/// The words of one kind.
pub(super) struct Words {
    pub(super) icon: &'static str,
    pub(super) plural: Both,
    pub(super) new: Both,
    pub(super) edit: Both,
    pub(super) search: Both,
    pub(super) empty: Both,
    pub(super) added: Both,
    pub(super) changed: Both,
    pub(super) deleted: Both,
    pub(super) ask: Both,
    pub(super) confirm: Both,
    /// What refers to it: what the link says, and where it leads, up to the id.
    pub(super) referring: (Both, &'static str),
}

/// The words of a kind.
pub(super) const fn words(kind: Kind) -> Words {
    match kind {
        Kind::Brand => Words {
            icon: "tag",
            plural: ("Marcas", "Brands"),
            new: ("Nova marca", "New brand"),
            edit: ("Editar marca", "Edit brand"),
            search: ("Buscar marca", "Search brands"),
            empty: ("Ainda não há marcas.", "There are no brands yet."),
            added: ("Marca criada", "Brand added"),
            changed: ("Marca alterada", "Brand changed"),
            deleted: ("Marca excluída", "Brand deleted"),
            ask: ("Excluir a marca?", "Delete the brand?"),
            confirm: ("Sim, excluir a marca", "Yes, delete the brand"),
            referring: (
                ("Produtos desta marca", "Products of this brand"),
                "/products/?brand=",
            ),
        },
        Kind::Category => Words {
            icon: "folder",
            plural: ("Categorias", "Categories"),
            new: ("Nova categoria", "New category"),
            edit: ("Editar categoria", "Edit category"),
            search: ("Buscar categoria", "Search categories"),
            empty: ("Ainda não há categorias.", "There are no categories yet."),
            added: ("Categoria criada", "Category added"),
            changed: ("Categoria alterada", "Category changed"),
            deleted: ("Categoria excluída", "Category deleted"),
            ask: ("Excluir a categoria?", "Delete the category?"),
            confirm: ("Sim, excluir a categoria", "Yes, delete the category"),
            referring: (
                ("Produtos desta categoria", "Products of this category"),
                "/products/?category=",
            ),
        },
        Kind::Supplier => Words {
            icon: "truck",
            plural: ("Fornecedores", "Suppliers"),
            new: ("Novo fornecedor", "New supplier"),
            edit: ("Editar fornecedor", "Edit supplier"),
            search: ("Buscar fornecedor", "Search suppliers"),
            empty: ("Ainda não há fornecedores.", "There are no suppliers yet."),
            added: ("Fornecedor criado", "Supplier added"),
            changed: ("Fornecedor alterado", "Supplier changed"),
            deleted: ("Fornecedor excluído", "Supplier deleted"),
            ask: ("Excluir o fornecedor?", "Delete the supplier?"),
            confirm: ("Sim, excluir o fornecedor", "Yes, delete the supplier"),
            referring: (
                ("Entradas deste fornecedor", "Inflows from this supplier"),
                "/inflows/?supplier=",
            ),
        },
    }
}
