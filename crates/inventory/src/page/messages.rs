//! The API's messages in Portuguese. The API speaks English, as the conventions have it; the pages translate its messages.

use web::locale::Locale;

use super::history::field_name;

/// Messages without values.
const FIXED: &[(&str, &str)] = &[
    (
        "This endpoint stands in the configuration and is changed there.",
        "Este destino está na configuração e é alterado lá.",
    ),
    (
        "Enter an address that begins with https:// or http://, without user name and #.",
        "Digite um endereço que comece com https:// ou http://, sem nome de usuário e sem #.",
    ),
    (
        "Ensure this field has no more than 200 characters, on one line.",
        "Use no máximo 200 caracteres, em uma linha.",
    ),
    (
        "A user with that username already exists.",
        "Já existe um usuário com este nome.",
    ),
    (
        "Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.",
        "Digite um nome válido: só letras, algarismos e @ . + - _.",
    ),
    (
        "The two password fields didn’t match.",
        "As duas senhas não são iguais.",
    ),
    (
        "Group with this Name already exists.",
        "Já existe um grupo com este nome.",
    ),
    (
        "You cannot take this from your own account.",
        "Você não pode tirar isto da sua própria conta.",
    ),
    (
        "You cannot give more than you may do yourself.",
        "Você não pode dar mais do que você mesmo pode fazer.",
    ),
    (
        "You cannot delete your own account.",
        "Você não pode excluir a sua própria conta.",
    ),
    (
        "This account may do more than yours.",
        "Esta conta pode mais do que a sua.",
    ),
    (
        "This group may do more than your account.",
        "Este grupo pode mais do que a sua conta.",
    ),
    (
        "This password is entirely numeric.",
        "Esta senha só tem algarismos.",
    ),
    (
        "The password is too similar to the first name.",
        "A senha é parecida demais com o nome.",
    ),
    (
        "The password is too similar to the last name.",
        "A senha é parecida demais com o sobrenome.",
    ),
    (
        "The password is too similar to the email address.",
        "A senha é parecida demais com o e-mail.",
    ),
    ("This password is too common.", "Esta senha é comum demais."),
    (
        "The password is too similar to the username.",
        "A senha é parecida demais com o nome do usuário.",
    ),
    (
        "This password is too short. It must contain at least 12 characters.",
        "A senha é curta demais: use ao menos 12 caracteres.",
    ),
    (
        "This password is too long. It must contain at most 1024 bytes.",
        "A senha é longa demais.",
    ),
    ("This field is required.", "Este campo é obrigatório."),
    (
        "This field may not be blank.",
        "Este campo não pode ficar em branco.",
    ),
    ("This field may not be null.", "Este campo é obrigatório."),
    ("Not a valid string.", "Isto não é um texto válido."),
    (
        "No more units of this product fit into the stock.",
        "O estoque deste produto não comporta mais unidades.",
    ),
    (
        "Null characters are not allowed.",
        "Há um caractere que não é permitido.",
    ),
    ("A valid integer is required.", "Digite um número inteiro."),
    ("A valid number is required.", "Digite um número."),
    ("Enter a number.", "Digite um número."),
    ("Enter a valid date.", "Digite uma data válida."),
    (
        "Enter a valid email address.",
        "Digite um endereço de e-mail válido.",
    ),
    (
        "Enter a valid date/time.",
        "Digite uma data ou um horário válido.",
    ),
    ("String value too large.", "O valor é longo demais."),
    (
        "Ensure that there are no more than 22 digits in total.",
        "O valor pode ter no máximo 22 algarismos.",
    ),
    (
        "Ensure that there are no more than 2 decimal places.",
        "O valor pode ter no máximo 2 casas decimais.",
    ),
    (
        "Ensure that there are no more than 20 digits before the decimal point.",
        "O valor pode ter no máximo 20 algarismos antes da vírgula.",
    ),
    (
        "Ensure this value is from 50 to 99.99.",
        "O valor deve ser de 50 a 99,99.",
    ),
    (
        "Product with this Serie number already exists.",
        "Já existe um produto com este Número de série.",
    ),
    (
        "product with this serie number already exists.",
        "Já existe um produto com este número de série.",
    ),
    (
        "A quotation mark in this row is not closed: perhaps the file was cut off.",
        "Uma aspa desta linha não foi fechada: talvez o arquivo tenha sido cortado.",
    ),
    (
        "Cannot delete this outflow because the product's quantity would be too large.",
        "Não é possível excluir esta saída: a quantidade do produto ficaria grande demais.",
    ),
    (
        "Datetime has wrong format. Use this format instead: YYYY-MM-DDThh:mm:ssZ.",
        "O horário deve ser escrito assim: AAAA-MM-DDThh:mm:ssZ.",
    ),
    (
        "This time is in the future.",
        "Este horário está no futuro.",
    ),
    (
        "This time is before 1970.",
        "Este horário é anterior a 1970.",
    ),
    (
        "A price has one point or one comma, before its decimals: write 1234.56.",
        "Um preço tem um só ponto ou vírgula, antes dos centavos: escreva 1234.56.",
    ),
    (
        "A decimal comma is understood only in files separated by semicolons: write 12.50.",
        "A vírgula decimal só é entendida em arquivos separados por ponto e vírgula: escreva 12.50.",
    ),
    (
        "Prices before this one are written with the other decimal mark: use one in the whole file.",
        "Os preços anteriores usam o outro separador decimal: use um só no arquivo inteiro.",
    ),
    (
        "This is not UTF-8: save the file as \"CSV UTF-8\".",
        "Isto não está em UTF-8: salve o arquivo como “CSV UTF-8”.",
    ),
    (
        "the file is in UTF-16: save it as \"CSV UTF-8\"",
        "O arquivo está em UTF-16: salve-o como “CSV UTF-8”.",
    ),
    (
        "Somebody else changed what the file refers to: check it again.",
        "Alguém alterou algo a que o arquivo se refere: confira-o de novo.",
    ),
    (
        "The import was interrupted; nothing was imported.",
        "A importação foi interrompida; nada foi importado.",
    ),
    (
        "Another import is under way: try again when it has ended.",
        "Outra importação está em andamento: tente de novo quando ela terminar.",
    ),
    (
        "the file is empty: its first row names the columns",
        "O arquivo está vazio: a primeira linha deve nomear as colunas.",
    ),
];

/// What records are called: with the article of "this", and in singular and plural.
const RECORDS: &[(&str, &str, &str, &str)] = &[
    ("brand", "esta marca", "marca", "marcas"),
    ("category", "esta categoria", "categoria", "categorias"),
    ("supplier", "este fornecedor", "fornecedor", "fornecedores"),
    ("product", "este produto", "produto", "produtos"),
    ("inflow", "esta entrada", "entrada", "entradas"),
    ("outflow", "esta saída", "saída", "saídas"),
    ("import", "esta importação", "importação", "importações"),
];

/// What the API says of an outflow of a product that is out of stock: people are not told a number to stay below.
const NOTHING_LEFT: &str = "Insufficient stock: 0 available.";

/// A message of the API in the reader's language. What is not known is shown as it is.
pub(crate) fn translated(locale: Locale, message: &str) -> String {
    match locale {
        Locale::En if message == NOTHING_LEFT => "Out of stock: no unit is available.".to_owned(),
        Locale::En => message.to_owned(),
        Locale::PtBr => portuguese(message).unwrap_or_else(|| message.to_owned()),
    }
}

fn portuguese(message: &str) -> Option<String> {
    let fixed = FIXED.iter().find(|(english, _)| *english == message);
    fixed
        .map(|(_, portuguese)| (*portuguese).to_owned())
        .or_else(|| with_values(message))
        .or_else(|| blocked_delete(message))
        .or_else(|| of_files(message))
}

/// The text between a beginning and an end.
fn between<'a>(message: &'a str, start: &str, end: &str) -> Option<&'a str> {
    message.strip_prefix(start)?.strip_suffix(end)
}

fn number(text: &str) -> String {
    text.parse()
        .map_or_else(|_| text.to_owned(), |number| Locale::PtBr.number(number))
}

fn with_values(message: &str) -> Option<String> {
    if let Some(units) = between(message, "Insufficient stock: ", " available.") {
        return Some(match units {
            "0" => "Sem estoque: nenhuma unidade disponível.".to_owned(),
            "1" => "Estoque insuficiente: só 1 unidade disponível.".to_owned(),
            units => format!(
                "Estoque insuficiente: só {} unidades disponíveis.",
                number(units)
            ),
        });
    }
    if let Some(most) = between(
        message,
        "Ensure this field has no more than ",
        " characters.",
    ) {
        return Some(format!(
            "Este campo pode ter no máximo {} caracteres.",
            number(most)
        ));
    }
    if let Some(least) = between(
        message,
        "Ensure this value is greater than or equal to ",
        ".",
    ) {
        return Some(format!("O valor deve ser {} ou mais.", number(least)));
    }
    if let Some(most) = between(message, "Ensure this value is less than or equal to ", ".") {
        return Some(format!("O valor deve ser no máximo {}.", number(most)));
    }
    if let Some(id) = between(message, "Invalid pk \"", "\" - object does not exist.") {
        return Some(format!("O registro {id} não existe."));
    }
    if message.starts_with("Incorrect type. Expected pk value, received ") {
        return Some("Escolha um item da lista.".to_owned());
    }
    None
}

fn blocked_delete(message: &str) -> Option<String> {
    let (record, reason) = between(message, "Cannot delete this ", ".")?.split_once(" because ")?;
    let this = RECORDS.iter().find(|(name, ..)| *name == record)?.1;
    if let Some(units) = between(reason, "only ", " units are still in stock") {
        let (available, all) = units.split_once(" of its ")?;
        let (available, all) = (number(available), number(all));
        return Some(format!(
            "Não é possível excluir {this}: só {available} das {all} unidades ainda estão em estoque."
        ));
    }
    let referring =
        between(reason, "", " references it").or_else(|| between(reason, "", " reference it"))?;
    let phrases: Option<Vec<String>> = referring.split(" and ").map(counted).collect();
    let phrases = phrases?.join(" e ");
    Some(format!(
        "Não é possível excluir {this}: ainda há {phrases} ligadas a este registro."
    ))
    .map(|text| {
        text.replace("produtos ligadas", "produtos ligados")
            .replace("produto ligadas", "produto ligado")
    })
    .map(|text| singular(&text))
}

/// What the import of a file says of its rows and of its columns.
fn of_files(message: &str) -> Option<String> {
    let name = |field: &str| field_name(field, Locale::PtBr);
    if let Some((field, text)) =
        between(message, "There is no ", "\".").and_then(|rest| rest.split_once(" \""))
    {
        return Some(format!("Não há {} “{text}”.", name(field)));
    }
    if let Some((text, field)) = between(message, "There are several of \"", " with an id.")
        .and_then(|rest| rest.split_once("\": use the column "))
    {
        return Some(format!(
            "Há mais de um “{text}”: use a coluna {field} com um id."
        ));
    }
    if let Some((text, column)) = between(message, "\"", ".")
        .and_then(|rest| rest.split_once("\" is not an id: names go into the column "))
    {
        return Some(format!(
            "“{text}” não é um id: nomes vão na coluna {column}."
        ));
    }
    if let Some((found, wanted)) = between(message, "This row has ", ".")
        .and_then(|rest| rest.split_once(" cells, the first row has "))
    {
        return Some(format!(
            "Esta linha tem {found} células, a primeira tem {wanted}."
        ));
    }
    if message.ends_with(" with this id already exists, with other contents.") {
        return Some("Já existe um registro com este id, com outro conteúdo.".to_owned());
    }
    if message.ends_with(" with this id stands in this file already.") {
        return Some("Este id já está neste arquivo, mais acima.".to_owned());
    }
    if let Some(most) = between(message, "the file has more than ", " rows: divide it") {
        return Some(format!(
            "O arquivo tem mais de {most} linhas: divida-o, ou importe-o pela linha de comando."
        ));
    }
    let (wrong, allowed) = message.split_once("; allowed: ")?;
    let wrong: Vec<String> = wrong.split("; ").map(column_problem).collect();
    Some(format!(
        "{}. Colunas permitidas: {allowed}.",
        wrong.join("; ")
    ))
}

fn column_problem(problem: &str) -> String {
    if let Some(name) = between(problem, "unknown column \"", "\"") {
        return format!("coluna desconhecida “{name}”");
    }
    if let Some(name) = between(problem, "column ", " is missing") {
        return format!("falta a coluna {name}");
    }
    match problem.split_once(" is there twice") {
        Some((name, _)) => format!(
            "{} aparece duas vezes",
            name.replacen("column", "a coluna", 1)
        ),
        None => problem.to_owned(),
    }
}

/// `2 inflow records` as `2 entradas`.
fn counted(phrase: &str) -> Option<String> {
    let mut words = phrase.split(' ');
    let (count, name) = (words.next()?, words.next()?);
    let (_, _, one, many) = RECORDS.iter().find(|(known, ..)| *known == name)?;
    Some(format!(
        "{} {}",
        number(count),
        if count == "1" { one } else { many }
    ))
}

fn singular(text: &str) -> String {
    let is_single = ["há 1 entrada ligadas", "há 1 saída ligadas"];
    if is_single.iter().any(|phrase| text.contains(phrase)) {
        text.replace("ligadas", "ligada")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_said_in_portuguese_with_their_numbers() {
        for (english, expected) in [
            ("This field is required.", "Este campo é obrigatório."),
            (
                "Insufficient stock: 1200 available.",
                "Estoque insuficiente: só 1.200 unidades disponíveis.",
            ),
            (
                "Insufficient stock: 1 available.",
                "Estoque insuficiente: só 1 unidade disponível.",
            ),
            (
                "Ensure this field has no more than 500 characters.",
                "Este campo pode ter no máximo 500 caracteres.",
            ),
            (
                "Ensure this value is greater than or equal to 0.",
                "O valor deve ser 0 ou mais.",
            ),
            (
                "Cannot delete this brand because 3 product records reference it.",
                "Não é possível excluir esta marca: ainda há 3 produtos ligados a este registro.",
            ),
            (
                "Cannot delete this product because 1 inflow record references it.",
                "Não é possível excluir este produto: ainda há 1 entrada ligada a este registro.",
            ),
            (
                "Cannot delete this product because 1 inflow record and 2 outflow records reference it.",
                "Não é possível excluir este produto: ainda há 1 entrada e 2 saídas ligadas a este registro.",
            ),
            ("There is no category \"Nada\".", "Não há categoria “Nada”."),
            (
                "\"Grãos\" is not an id: names go into the column category_name.",
                "“Grãos” não é um id: nomes vão na coluna category_name.",
            ),
            (
                "unknown column \"nome\"; column name is missing; allowed: id, name",
                "coluna desconhecida “nome”; falta a coluna name. Colunas permitidas: id, name.",
            ),
            (
                "Cannot delete this inflow because only 3 of its 10 units are still in stock.",
                "Não é possível excluir esta entrada: só 3 das 10 unidades ainda estão em estoque.",
            ),
        ] {
            assert_eq!(translated(Locale::PtBr, english), expected);
            assert_eq!(translated(Locale::En, english), english);
        }
    }

    #[test]
    fn a_product_that_is_out_of_stock_is_said_to_be() {
        let said = |locale| translated(locale, NOTHING_LEFT);
        assert_eq!(said(Locale::En), "Out of stock: no unit is available.");
        assert_eq!(
            said(Locale::PtBr),
            "Sem estoque: nenhuma unidade disponível."
        );
    }

    #[test]
    fn what_is_not_known_is_shown_as_it_is() {
        assert_eq!(
            translated(Locale::PtBr, "Something else."),
            "Something else."
        );
    }
}
