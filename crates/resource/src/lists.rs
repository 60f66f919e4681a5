//! Functions on lists of fields.

use crate::{Field, Kind, ListedIn};

/// The field with this name.
pub fn find(fields: &[&'static Field], name: &str) -> Option<&'static Field> {
    fields.iter().copied().find(|field| field.name == name)
}

/// The parameters that filter a list: the names of references and of filtered fields, and the
/// bounds of amounts.
pub fn filters(fields: &[&'static Field]) -> Vec<&'static str> {
    let names = fields.iter().flat_map(|field| {
        let is_filtered = field.is_filtered || field.kind == Kind::Reference;
        let reference = is_filtered.then_some(field.name);
        let (least, greatest) = field.bounds.unzip();
        [reference, least, greatest]
    });
    names.flatten().collect()
}

/// The columns of a list: the id, the name, then the others.
pub fn listed(fields: &[&'static Field], least: ListedIn) -> Vec<&'static Field> {
    let fields = fields.iter().copied();
    let mut listed: Vec<_> = fields.filter(|field| field.listed >= least).collect();
    listed.sort_by_key(|field| (field.kind != Kind::Id, !field.is_name));
    listed
}

/// The fields in the order of pages: by section, with the long texts at the end of each.
pub fn laid_out(fields: &[&'static Field]) -> Vec<&'static Field> {
    let mut part = 0;
    let shown = fields.iter().filter(|field| !field.is_hidden);
    let placed = shown.map(|field| {
        part += usize::from(field.section.is_some());
        (part, field.is_long(), *field)
    });
    let mut placed: Vec<_> = placed.collect();
    placed.sort_by_key(|(part, is_long, _)| (*part, *is_long));
    placed.into_iter().map(|(.., field)| field).collect()
}
