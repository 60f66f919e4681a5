//! The models of the administration, in the order of the navigation. A new model is added here.

use std::{ops::Deref, sync::LazyLock};

use super::{
    about::{AdminModel, Application, FieldValue, ModelDescription, Words, WriteTarget},
    models,
};
use crate::{
    access::{Caller, Kind, Model},
    movement::Movement,
    rest::fields::{self, FieldErrors, Members},
};

/// A model of the administration: its description and its functions.
pub(super) struct RegisteredModel {
    pub(super) about: ModelDescription,
    functions: Box<dyn AdminModel>,
}

impl RegisteredModel {
    /// The errors of a form that can be found without the database.
    pub(super) fn problems(&self, target: WriteTarget, members: &Members) -> FieldErrors {
        let fields = self.about.fields_of(target == WriteTarget::New);
        fields::problems(fields, members, target.mode())
    }
}

impl Deref for RegisteredModel {
    type Target = dyn AdminModel;

    fn deref(&self) -> &Self::Target {
        &*self.functions
    }
}

static MODELS: LazyLock<Vec<RegisteredModel>> = LazyLock::new(|| {
    std::iter::once(registered(models::Products))
        .chain(Kind::ALL.map(|kind| registered(models::Named(kind))))
        .chain([
            registered(models::Movements(Movement::Inflow)),
            registered(models::Movements(Movement::Outflow)),
            registered(models::Ledger),
            registered(models::Thresholds),
            registered(models::Analyses),
            registered(models::Endpoints),
            registered(models::Deliveries),
            registered(models::Users),
            registered(models::Groups),
            registered(models::Sessions),
            registered(models::RefreshTokens),
            registered(models::AuditLog),
        ])
        .collect()
});

fn registered(model: impl AdminModel + 'static) -> RegisteredModel {
    RegisteredModel {
        about: model.describe(),
        functions: Box::new(model),
    }
}

pub(super) fn find(path: &str) -> Option<&'static RegisteredModel> {
    MODELS.iter().find(|model| model.about.path == path)
}

fn all() -> impl Iterator<Item = &'static ModelDescription> {
    MODELS.iter().map(|model| &model.about)
}

pub(super) fn described(model: Model) -> Option<&'static ModelDescription> {
    all().find(|about| about.model == model)
}

/// The description of the model with this name.
pub(super) fn find_by_name(words: &Words) -> Option<&'static ModelDescription> {
    all().find(|about| about.words == *words)
}

/// The address of the record that a value refers to. `None` for callers who may not read it.
pub(super) fn address_of(cell: &FieldValue, caller: &Caller) -> Option<String> {
    let (path, id) = cell.record()?;
    let about = &find(path)?.about;
    about.is_read_by(caller).then(|| about.record_address(id))
}

/// The models visible to the caller, by application.
pub(super) fn shown_to(caller: &Caller) -> Vec<(Application, Vec<&'static ModelDescription>)> {
    Application::ALL
        .into_iter()
        .map(|application| {
            let models =
                all().filter(|about| about.application == application && about.is_shown_to(caller));
            (application, models.collect::<Vec<_>>())
        })
        .filter(|(_, models)| !models.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{access::Permission, admin::about::ModelFilterKind, events::Types};

    #[test]
    fn every_description_holds_together() {
        let paths: BTreeSet<_> = all().map(|about| about.path).collect();
        assert_eq!(paths.len(), all().count());
        for about in all() {
            assert!(!about.columns.is_empty(), "{}", about.path);
            for filter in &about.filters {
                if let ModelFilterKind::Related(path) = filter.kind {
                    assert!(find(path).is_some(), "{}: {path}", about.path);
                }
            }
            for target in about.fields.iter().filter_map(|(field, _)| field.target) {
                let path = target.path;
                let is_known = [Permission::PATH, Types::PATH].contains(&path);
                assert!(is_known || find(path).is_some(), "{}: {path}", about.path);
            }
            for column in about.columns.iter().filter(|column| column.is_edited) {
                let field = about.field(column.name);
                assert!(field.is_some(), "{}: {}", about.path, column.name);
                assert_ne!(column.name, "quantity", "a quantity moves by the ledger");
            }
            for inline in &about.inlines {
                let rows = &find(inline.path).unwrap().about;
                let mut filters = rows.filters.iter();
                assert!(filters.any(|filter| filter.name == inline.key));
                for field in inline.fields {
                    assert!(rows.field(field).is_some(), "{}: {field}", inline.path);
                    assert!(inline.columns.contains(field), "{}: {field}", inline.path);
                }
            }
        }
    }
}
