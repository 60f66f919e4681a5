//! The types of a model's description: its names, columns, filters, fields and actions.

use resource::{Field, Kind, ListedIn, laid_out, listed};

use super::{Both, inline::Inline};
use crate::access::{Caller, Model, Permission, Verb};
pub(in crate::admin) use resource::Words;

/// A section of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::admin) enum Application {
    /// Brands, categories, suppliers, products.
    Catalogue,
    /// Movements, the ledger and thresholds.
    Stock,
    /// Webhooks, their deliveries, and analyses.
    Events,
    /// Users, groups, sessions, refresh tokens and the audit log.
    Accounts,
}

/// A column of a list.
#[derive(Debug, Clone, Copy)]
pub(in crate::admin) struct ModelColumn {
    pub(in crate::admin) name: &'static str,
    /// Whether the list can be sorted by this column.
    pub(in crate::admin) is_sorted: bool,
    /// Whether cells can be edited in the list. Requires a form field with the same name.
    pub(in crate::admin) is_edited: bool,
}

/// A filter beside a list.
#[derive(Clone, Copy)]
pub(in crate::admin) struct ModelFilter {
    /// The field, and the name of the query parameter.
    pub(in crate::admin) name: &'static str,
    pub(in crate::admin) kind: ModelFilterKind,
}

/// The choices of a filter.
#[derive(Clone, Copy)]
pub(in crate::admin) enum ModelFilterKind {
    /// Yes or no.
    Truth,
    /// One of these values.
    Choices(&'static [(&'static str, Both)]),
    /// A record of another model, by its path.
    Related(&'static str),
}

/// The forms that have a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::admin) enum FormScope {
    Both,
    /// The form of a new record.
    Add,
    /// The form of an existing record.
    Change,
}

/// An action on selected records other than deletion. It requires the permission to change them.
pub(in crate::admin) struct ModelAction {
    /// The value in the form.
    pub(in crate::admin) name: &'static str,
    /// The label in the menu.
    pub(in crate::admin) text: Both,
    /// The message after the action: the text before and after the number of records.
    pub(in crate::admin) done: (Both, Both),
}

/// The operations that exist for the records of a model.
#[derive(Debug, Clone, Copy)]
pub(in crate::admin) enum AllowedVerbs {
    Everything,
    Only(&'static [Verb]),
    /// Everything. Writing requires the permission to change the record that contains this one.
    AsPart,
}

pub(in crate::admin) struct ModelDescription {
    /// The path below `/admin/`.
    pub(in crate::admin) path: &'static str,
    /// The section of the navigation.
    pub(in crate::admin) application: Application,
    /// The name of the model, singular and plural.
    pub(in crate::admin) words: Words,
    /// The model in permissions and in the audit log.
    pub(in crate::admin) model: Model,
    pub(in crate::admin) allowed: AllowedVerbs,
    /// The columns of the list. The first one links to the record.
    pub(in crate::admin) columns: Vec<ModelColumn>,
    /// The default order, in the format of the query parameter `o`.
    pub(in crate::admin) order: &'static str,
    /// The names of the fields that the search covers. `None` without a search.
    pub(in crate::admin) search: Option<Both>,
    pub(in crate::admin) filters: Vec<ModelFilter>,
    /// Whether the list has a drill-down by year, month and day of `created_at`.
    pub(in crate::admin) has_dates: bool,
    pub(in crate::admin) fields: Vec<(&'static Field, FormScope)>,
    /// The tables of related records in the form.
    pub(in crate::admin) inlines: Vec<Inline>,
    /// Whether the form can be saved as a new record.
    pub(in crate::admin) saves_as_new: bool,
    /// Whether the form of the record follows the form of a new record, for the remaining fields.
    pub(in crate::admin) in_two_steps: bool,
    pub(in crate::admin) actions: Vec<ModelAction>,
    /// The address of records outside of the administration, without the id.
    pub(in crate::admin) site: Option<&'static str>,
}

impl Application {
    /// All applications, in the order of the navigation.
    pub(in crate::admin) const ALL: [Self; 4] =
        [Self::Catalogue, Self::Stock, Self::Events, Self::Accounts];

    pub(in crate::admin) const fn name(self) -> Both {
        match self {
            Self::Catalogue => ("Catálogo", "Catalogue"),
            Self::Stock => ("Estoque", "Stock"),
            Self::Events => ("Eventos e análises", "Events and analyses"),
            Self::Accounts => ("Acesso e auditoria", "Access and audit"),
        }
    }
}

impl ModelColumn {
    /// The column of a described field.
    pub(in crate::admin) const fn of(field: &Field) -> Self {
        Self {
            name: field.name,
            is_sorted: true,
            is_edited: matches!(field.listed, ListedIn::EditedInList),
        }
    }
}

impl ModelFilter {
    /// A filter by a record of another model, which has this path.
    pub(in crate::admin) const fn related(name: &'static str, path: &'static str) -> Self {
        Self {
            name,
            kind: ModelFilterKind::Related(path),
        }
    }

    const fn truth(name: &'static str) -> Self {
        Self {
            name,
            kind: ModelFilterKind::Truth,
        }
    }

    pub(in crate::admin) const fn choices(
        name: &'static str,
        choices: &'static [(&'static str, Both)],
    ) -> Self {
        Self {
            name,
            kind: ModelFilterKind::Choices(choices),
        }
    }
}

impl FormScope {
    /// The scope of a described field. A reference that names the record, such as the product of a
    /// threshold, cannot be changed.
    fn of(field: &Field) -> Self {
        if field.is_name && field.kind == Kind::Reference {
            Self::Add
        } else {
            Self::Both
        }
    }

    const fn is_on(self, is_new: bool) -> bool {
        match self {
            Self::Both => true,
            Self::Add => is_new,
            Self::Change => !is_new,
        }
    }
}

impl AllowedVerbs {
    /// The permission that an operation requires. `None` if the operation does not exist.
    fn permission(self, verb: Verb, model: Model) -> Option<Permission> {
        let verb = match self {
            Self::Everything => verb,
            Self::Only(verbs) => verbs.contains(&verb).then_some(verb)?,
            Self::AsPart if verb == Verb::View => Verb::View,
            Self::AsPart => Verb::Change,
        };
        Some(Permission::new(verb, model))
    }
}

impl ModelDescription {
    /// The description of a model, with columns, filters and form fields derived from described
    /// fields.
    pub(in crate::admin) fn of(
        path: &'static str,
        model: Model,
        described: &[&'static Field],
    ) -> Self {
        let listed = listed(described, ListedIn::ForStaff).into_iter();
        let filters = described.iter().filter_map(|field| match field.kind {
            Kind::Reference => Some(ModelFilter::related(field.name, field.target?.path)),
            _ if !field.is_filtered => None,
            Kind::Choice(choices) => Some(ModelFilter::choices(field.name, choices)),
            Kind::Several => Some(ModelFilter::related(field.name, field.target?.path)),
            _ => Some(ModelFilter::truth(field.name)),
        });
        let written = laid_out(described)
            .into_iter()
            .filter(|field| !field.is_read_only);
        Self {
            path,
            application: Application::Catalogue,
            words: *model.words(),
            model,
            allowed: AllowedVerbs::Everything,
            columns: listed.map(ModelColumn::of).collect(),
            order: "",
            search: None,
            filters: filters.collect(),
            has_dates: false,
            fields: written.map(|field| (field, FormScope::of(field))).collect(),
            inlines: Vec::new(),
            saves_as_new: false,
            in_two_steps: false,
            actions: Vec::new(),
            site: None,
        }
    }

    /// Adds a filter that no field describes.
    pub(in crate::admin) fn filtered_by(mut self, filter: ModelFilter) -> Self {
        self.filters.push(filter);
        self
    }

    /// As [`Self::of`], for read-only records. The list can be sorted by the `sorted` fields only.
    pub(in crate::admin) fn shown(
        path: &'static str,
        model: Model,
        described: &[&'static Field],
        sorted: &[&str],
    ) -> Self {
        let mut about = Self::of(path, model, described);
        about.fields.clear();
        for column in &mut about.columns {
            column.is_sorted = sorted.contains(&column.name);
        }
        about
    }

    /// The permission that an operation requires. `None` if the operation does not exist.
    pub(in crate::admin) fn permission(&self, verb: Verb) -> Option<Permission> {
        self.allowed.permission(verb, self.model)
    }

    /// The fields of the form of a new or of an existing record.
    pub(in crate::admin) fn fields_of(&self, is_new: bool) -> impl Iterator<Item = &'static Field> {
        let fields = self.fields.iter().filter(move |(_, at)| at.is_on(is_new));
        fields.map(|(field, _)| *field)
    }

    pub(in crate::admin) fn field(&self, name: &str) -> Option<&'static Field> {
        let mut fields = self.fields.iter().map(|(field, _)| *field);
        fields.find(|field| field.name == name)
    }

    /// Whether the caller was granted the required permission. All authenticated users may read the
    /// records of the shop in the API, but that does not open the administration to them.
    pub(in crate::admin) fn allows(&self, caller: &Caller, verb: Verb) -> bool {
        self.permission(verb)
            .is_some_and(|permission| caller.granted.holds(permission))
    }

    /// Whether the caller gets a form. Otherwise records are read-only.
    pub(in crate::admin) fn is_edited_by(&self, caller: &Caller, is_new: bool) -> bool {
        let verb = if is_new { Verb::Add } else { Verb::Change };
        self.fields_of(is_new).next().is_some() && self.allows(caller, verb)
    }

    /// Whether the caller sees the model in the navigation.
    pub(in crate::admin) fn is_shown_to(&self, caller: &Caller) -> bool {
        Verb::ALL.into_iter().any(|verb| self.allows(caller, verb))
    }

    /// Whether the caller may read records. The permission to change includes reading.
    pub(in crate::admin) fn is_read_by(&self, caller: &Caller) -> bool {
        self.allows(caller, Verb::View) || self.allows(caller, Verb::Change)
    }

    /// The address of the list.
    pub(in crate::admin) fn address(&self) -> String {
        format!("/admin/{}/", self.path)
    }

    pub(in crate::admin) fn record_address(&self, id: i64) -> String {
        format!("/admin/{}/{id}/change/", self.path)
    }
}
