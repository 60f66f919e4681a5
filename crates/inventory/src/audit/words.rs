//! The log in the reader's language: the names of fields, and each entry as a sentence.

use web::locale::Locale;

use super::{Done, Entry};

/// Each field's name in Portuguese and in English.
const FIELDS: &[(&str, &str, &str)] = &[
    ("action", "Ação", "Action"),
    ("active", "Ativo", "Active"),
    ("address", "Endereço", "Address"),
    ("agent", "Navegador", "Browser"),
    ("attempt", "Tentativa", "Attempt"),
    ("attempts", "Tentativas", "Attempts"),
    ("balance_after", "Saldo depois", "Balance after"),
    ("brand", "Marca", "Brand"),
    ("category", "Categoria", "Category"),
    ("change", "Mudança", "Change"),
    ("cost_price", "Preço de custo", "Cost price"),
    ("created_at", "Criado em", "Created at"),
    ("date_joined", "Cadastrado em", "Date joined"),
    ("deliveries", "Entregas", "Deliveries"),
    ("description", "Descrição", "Description"),
    ("email", "E-mail", "Email address"),
    ("enabled", "Ligado", "Enabled"),
    ("endpoint", "Destino", "Endpoint"),
    ("expires_at", "Expira em", "Expires at"),
    ("fields", "Campos", "Fields"),
    ("finished_at", "Concluído em", "Finished at"),
    ("first_name", "Nome", "First name"),
    ("groups", "Grupos", "Groups"),
    ("id", "ID", "ID"),
    ("inflows", "Entradas", "Inflows"),
    ("kind", "Tipo", "Kind"),
    ("language_model", "Modelo de linguagem", "Language model"),
    ("last_login", "Último acesso", "Last login"),
    ("last_name", "Sobrenome", "Last name"),
    ("last_outcome", "Último resultado", "Last outcome"),
    ("last_seen_at", "Última visita", "Last seen"),
    ("members", "Membros", "Members"),
    ("model", "Registro de", "Model"),
    ("name", "Nome", "Name"),
    ("object", "Objeto", "Object"),
    ("outcome", "Resultado do modelo", "Model outcome"),
    ("password", "Senha", "Password"),
    ("password1", "Senha", "Password"),
    ("password2", "Confirmação da senha", "Password confirmation"),
    ("payload", "Corpo", "Body"),
    ("permissions", "Permissões", "Permissions"),
    ("product", "Produto", "Product"),
    ("quantity", "Quantidade", "Quantity"),
    ("reference", "Referência", "Reference"),
    ("renew", "Renovar o segredo", "Renew the secret"),
    ("result", "Resultado", "Result"),
    ("revoked", "Revogado", "Revoked"),
    ("secret", "Segredo", "Secret"),
    ("selling_price", "Preço de venda", "Selling price"),
    ("serie_number", "Número de série", "Serie number"),
    ("sessions", "Sessões", "Sessions"),
    ("source", "Origem", "Source"),
    ("staff", "Equipe", "Staff status"),
    ("state", "Situação", "State"),
    (
        "suggested_quantity",
        "Quantidade sugerida",
        "Suggested quantity",
    ),
    ("superuser", "Superusuário", "Superuser status"),
    ("supplier", "Fornecedor", "Supplier"),
    (
        "threshold",
        "Limite de estoque baixo",
        "Low-stock threshold",
    ),
    ("title", "Título", "Title"),
    (
        "tokens_valid_from",
        "Tokens valem desde",
        "Tokens valid from",
    ),
    ("type", "Tipo", "Type"),
    ("types", "Eventos", "Events"),
    ("updated_at", "Alterado em", "Updated at"),
    ("url", "URL", "URL"),
    ("user", "Usuário", "User"),
    ("username", "Usuário", "Username"),
];

/// What people call a field; its own name when the table does not have it.
pub fn field(locale: Locale, name: &str) -> &str {
    FIELDS
        .iter()
        .find(|(known, ..)| *known == name)
        .map_or(name, |(_, portuguese, english)| {
            locale.text(portuguese, english)
        })
}

/// Texts as one enumeration: `A, B and C`.
pub(crate) fn enumeration(locale: Locale, texts: &[&str]) -> String {
    match texts {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => {
            format!("{} {} {last}", first.join(", "), locale.text("e", "and"))
        }
    }
}

impl Entry {
    /// What was done, as a sentence: `Added.`, `Changed Title and Quantity.`, `Deleted.`
    pub fn sentence(&self, locale: Locale) -> String {
        let names: Vec<&str> = self.fields.iter().map(|name| field(locale, name)).collect();
        match self.done {
            Done::Added => locale.text("Adicionado.", "Added.").to_owned(),
            Done::Deleted => locale.text("Excluído.", "Deleted.").to_owned(),
            Done::Imported => locale.text("Importado.", "Imported.").to_owned(),
            Done::Changed if names.is_empty() => locale
                .text("Nenhum campo alterado.", "No fields changed.")
                .to_owned(),
            Done::Changed => format!(
                "{} {}.",
                locale.text("Alterado:", "Changed"),
                enumeration(locale, &names)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use db::Timestamp;

    use super::*;

    fn changed(fields: &[&str]) -> Entry {
        Entry {
            id: 1,
            user: None,
            done: Done::Changed,
            model: "product".to_owned(),
            object: Some(1),
            text: "Arroz".to_owned(),
            fields: fields.iter().map(|&name| name.to_owned()).collect(),
            created_at: Timestamp::from_micros(0),
        }
    }

    #[test]
    fn a_change_names_its_fields_in_the_readers_language() {
        let entry = changed(&["title", "quantity"]);
        assert_eq!(entry.sentence(Locale::En), "Changed Title and Quantity.");
        assert_eq!(
            entry.sentence(Locale::PtBr),
            "Alterado: Título e Quantidade."
        );
        assert_eq!(changed(&[]).sentence(Locale::En), "No fields changed.");
    }

    #[test]
    fn the_table_is_sorted_and_names_each_field_once() {
        assert!(FIELDS.is_sorted_by(|(left, ..), (right, ..)| left < right));
    }
}
