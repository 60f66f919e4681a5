//! The types of a model's description: its names, columns, filters, fields and actions.

use resource::{Field, Kind, ListedIn, laid_out, listed};

use super::{Both, inline::Inline};
use crate::access::{Caller, Model, Permission, Verb};
pub(in crate::admin) use resource::Words;

/// Where a model stands in the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::admin) enum Application {
    /// Brands, categories, suppliers, products.
    Catalogue,
    /// What moves.
    Stock,
    /// Webhooks, their deliveries, and analyses.
    Events,
    /// Who may do what.
    Accounts,
}

/// A column of a list.
#[derive(Debug, Clone, Copy)]
pub(in crate::admin) struct ModelColumn {
    /// The field.
    pub(in crate::admin) name: &'static str,
    /// Whether the list can be sorted by it.
    pub(in crate::admin) is_sorted: bool,
    /// Whether it can be written in the list itself: a field of this name is.
    pub(in crate::admin) is_edited: bool,
}

/// A filter beside a list.
#[derive(Clone, Copy)]
pub(in crate::admin) struct ModelFilter {
    /// The field, and the parameter in the address.
    pub(in crate::admin) name: &'static str,
    /// What can be chosen.
    pub(in crate::admin) kind: ModelFilterKind,
}

/// What a filter lets people choose.
#[derive(Clone, Copy)]
pub(in crate::admin) enum ModelFilterKind {
    /// Yes or no.
    Truth,
    /// One of these values.
    Choices(&'static [(&'static str, Both)]),
    /// A record of another model, by its path.
    Related(&'static str),
}

/// On which form a field stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::admin) enum FormScope {
    /// On both.
    Both,
    /// When a record is added.
    Add,
    /// When one is changed.
    Change,
}

/// Something that is done to selected records, beside deleting them.
pub(in crate::admin) struct ModelAction {
    /// Its name in the form.
    pub(in crate::admin) name: &'static str,
    /// What the menu calls it.
    pub(in crate::admin) text: Both,
    /// The message when it was done to some records: before and behind their number.
    pub(in crate::admin) done: (Both, Both),
    /// Who may.
    pub(in crate::admin) verb: Verb,
}

/// What callers with the permission may do with the records of a model.
#[derive(Debug, Clone, Copy)]
pub(in crate::admin) enum AllowedVerbs {
    /// Everything.
    Everything,
    /// Only this.
    Only(&'static [Verb]),
    /// Everything, for callers who may change the record that it is a part of.
    AsPart,
}

/// The description of a model.
pub(in crate::admin) struct ModelDescription {
    /// Its place under `/admin/`.
    pub(in crate::admin) path: &'static str,
    /// Its place in the navigation.
    pub(in crate::admin) application: Application,
    /// What records are called.
    pub(in crate::admin) words: Words,
    /// Under which name its history is kept.
    pub(in crate::admin) model: Model,
    /// What may be done.
    pub(in crate::admin) allowed: AllowedVerbs,
    /// The columns of its list; the first leads to the record.
    pub(in crate::admin) columns: &'static [ModelColumn],
    /// The order of the list when the address has no `o`, written as `o` is.
    pub(in crate::admin) order: &'static str,
    /// What the search looks at; none where there is no search.
    pub(in crate::admin) search: Option<Both>,
    /// The filters beside the list.
    pub(in crate::admin) filters: &'static [ModelFilter],
    /// Whether the list can be narrowed by year, month and day of `created_at`.
    pub(in crate::admin) has_dates: bool,
    /// The fields of its forms.
    pub(in crate::admin) fields: &'static [(&'static Field, FormScope)],
    /// Records that refer to one and stand in its form.
    pub(in crate::admin) inlines: &'static [Inline],
    /// Whether a changed form can be saved as another record.
    pub(in crate::admin) saves_as_new: bool,
    /// Whether a new record is completed on its own page after it was made.
    pub(in crate::admin) in_two_steps: bool,
    /// What can be done to selected records beside deleting them.
    pub(in crate::admin) actions: &'static [ModelAction],
    /// Where the record is outside of the administration, before its id.
    pub(in crate::admin) site: Option<&'static str>,
}

impl Application {
    /// Every application, in the order of the navigation.
    pub(in crate::admin) const ALL: [Self; 4] =
        [Self::Catalogue, Self::Stock, Self::Events, Self::Accounts];

    /// Its name.
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

    /// A column that is only shown.
    pub(in crate::admin) const fn shown(name: &'static str) -> Self {
        Self {
            name,
            is_sorted: false,
            is_edited: false,
        }
    }
}

impl ModelFilter {
    /// Records of one record of another model, by its path.
    pub(in crate::admin) const fn related(name: &'static str, path: &'static str) -> Self {
        Self {
            name,
            kind: ModelFilterKind::Related(path),
        }
    }

    /// Records of which something is so, or not.
    const fn truth(name: &'static str) -> Self {
        Self {
            name,
            kind: ModelFilterKind::Truth,
        }
    }

    /// Records with one of these values.
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
    /// On which form a described field stands. What another record gives its name to is not given to a third.
    fn of(field: &Field) -> Self {
        if field.is_name && field.kind == Kind::Reference {
            Self::Add
        } else {
            Self::Both
        }
    }

    /// Whether that is the form of a new record, or of one that is there.
    const fn is_on(self, is_new: bool) -> bool {
        match self {
            Self::Both => true,
            Self::Add => is_new,
            Self::Change => !is_new,
        }
    }
}

impl AllowedVerbs {
    /// What is needed to do something with the records of a model; none where nobody may.
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
    /// What a description does not say.
    pub(in crate::admin) const PLAIN: Self = Self {
        path: "",
        application: Application::Catalogue,
        words: Words::masculine(("", ""), ("", "")),
        model: Model::Product,
        allowed: AllowedVerbs::Everything,
        columns: &[],
        order: "",
        search: None,
        filters: &[],
        has_dates: false,
        fields: &[],
        inlines: &[],
        saves_as_new: false,
        in_two_steps: false,
        actions: &[],
        site: None,
    };

    /// Columns, filters and fields from the described fields of a record. It is built once.
    pub(in crate::admin) fn of(described: &[&'static Field]) -> Self {
        let listed = listed(described, ListedIn::ForStaff).into_iter();
        let columns: Vec<_> = listed.map(ModelColumn::of).collect();
        let filters = described.iter().filter_map(|field| match field.kind {
            Kind::Reference => Some(ModelFilter::related(field.name, field.target?.path)),
            _ if !field.is_filtered => None,
            Kind::Choice(choices) => Some(ModelFilter::choices(field.name, choices)),
            Kind::Several => Some(ModelFilter::related(field.name, field.target?.path)),
            _ => Some(ModelFilter::truth(field.name)),
        });
        let filters: Vec<_> = filters.collect();
        let written = laid_out(described)
            .into_iter()
            .filter(|field| !field.is_read_only);
        let fields: Vec<_> = written.map(|field| (field, FormScope::of(field))).collect();
        Self {
            columns: columns.leak(),
            filters: filters.leak(),
            fields: fields.leak(),
            ..Self::PLAIN
        }
    }

    /// With a column that no field describes.
    #[must_use]
    pub(in crate::admin) fn with_column(self, at: usize, name: &'static str) -> Self {
        let mut columns = self.columns.to_vec();
        columns.insert(at, ModelColumn::shown(name));
        Self {
            columns: columns.leak(),
            ..self
        }
    }

    /// With a field of its forms that the record does not have.
    pub(in crate::admin) fn with_field(self, field: &'static Field, scope: FormScope) -> Self {
        let mut fields = self.fields.to_vec();
        fields.push((field, scope));
        Self {
            fields: fields.leak(),
            ..self
        }
    }

    /// With a filter that no field describes.
    pub(in crate::admin) fn filtered_by(self, filter: ModelFilter) -> Self {
        let filters: Vec<_> = self.filters.iter().copied().chain([filter]).collect();
        Self {
            filters: filters.leak(),
            ..self
        }
    }

    /// The same of records that nobody writes with a form, and whose list is sorted by these alone.
    pub(in crate::admin) fn shown(described: &[&'static Field], sorted: &[&str]) -> Self {
        let about = Self::of(described);
        let columns = about.columns.iter().map(|column| ModelColumn {
            is_sorted: sorted.contains(&column.name),
            ..*column
        });
        Self {
            columns: columns.collect::<Vec<_>>().leak(),
            fields: &[],
            ..about
        }
    }

    /// What is needed to do something; none where nobody may.
    pub(in crate::admin) fn permission(&self, verb: Verb) -> Option<Permission> {
        self.allowed.permission(verb, self.model)
    }

    /// The fields of the form of a new record, or of one that is there.
    pub(in crate::admin) fn fields_of(&self, is_new: bool) -> impl Iterator<Item = &'static Field> {
        let fields = self.fields.iter().filter(move |(_, at)| at.is_on(is_new));
        fields.map(|(field, _)| *field)
    }

    /// The field of a name.
    pub(in crate::admin) fn field(&self, name: &str) -> Option<&'static Field> {
        let mut fields = self.fields.iter().map(|(field, _)| *field);
        fields.find(|field| field.name == name)
    }

    /// Whether somebody was given the permission to do this. That every authenticated user may read the shop's records does not
    /// open the administration: what is not granted is hidden.
    pub(in crate::admin) fn allows(&self, caller: &Caller, verb: Verb) -> bool {
        self.permission(verb)
            .is_some_and(|permission| caller.granted.holds(permission))
    }

    /// Whether somebody gets a form of it, new or not; else its records are only shown.
    pub(in crate::admin) fn is_edited_by(&self, caller: &Caller, is_new: bool) -> bool {
        let verb = if is_new { Verb::Add } else { Verb::Change };
        self.fields_of(is_new).next().is_some() && self.allows(caller, verb)
    }

    /// Whether somebody sees it at all.
    pub(in crate::admin) fn is_shown_to(&self, caller: &Caller) -> bool {
        Verb::ALL.into_iter().any(|verb| self.allows(caller, verb))
    }

    /// Whether somebody may look at its records: who may change them may read them.
    pub(in crate::admin) fn is_read_by(&self, caller: &Caller) -> bool {
        self.allows(caller, Verb::View) || self.allows(caller, Verb::Change)
    }

    /// The address of its list.
    pub(in crate::admin) fn address(&self) -> String {
        format!("/admin/{}/", self.path)
    }

    /// The address of one record.
    pub(in crate::admin) fn record_address(&self, id: i64) -> String {
        format!("/admin/{}/{id}/change/", self.path)
    }
}
