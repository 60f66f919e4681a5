//! Permissions: a verb and a model, such as `add_brand`. The database stores who has which; `api`
//! decides which one a request needs.

use std::{collections::BTreeSet, fmt, str::FromStr};

use resource::{Choosable, Words, choice};
use web::locale::Locale;

use super::Kind;

/// Declares the enum of the models: the named records, and these models with their names.
macro_rules! models {
    ($($(#[$doc:meta])* $model:ident = $code:literal, $gender:ident $words:tt;)+) => {
        /// A kind of record that permissions refer to.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Model {
            /// A named record.
            Named(Kind),
            $($(#[$doc])* $model,)+
        }

        impl Model {
            /// All models, in display order.
            pub fn all() -> impl Iterator<Item = Self> {
                let named = Kind::ALL.into_iter().map(Self::Named);
                named.chain([$(Self::$model),+])
            }

            /// The name in permissions.
            pub const fn code(self) -> &'static str {
                match self {
                    Self::Named(kind) => kind.name(),
                    $(Self::$model => $code,)+
                }
            }

            /// The names of its records.
            pub(crate) const fn words(self) -> &'static Words {
                match self {
                    Self::Named(kind) => &kind.about().words,
                    $(Self::$model => const { &Words::$gender $words },)+
                }
            }
        }
    };
}

models! {
    /// A product, its threshold and its ledger.
    Product = "product", masculine(("produto", "product"), ("produtos", "products"));
    /// Goods received.
    Inflow = "inflow", feminine(("entrada", "inflow"), ("entradas", "inflows"));
    /// Goods shipped out.
    Outflow = "outflow", feminine(("saída", "outflow"), ("saídas", "outflows"));
    /// A restock analysis.
    Analysis = "analysis", feminine(("análise", "analysis"), ("análises", "analyses"));
    /// An endpoint of webhooks with its secrets.
    WebhookEndpoint = "webhook_endpoint", masculine(
        ("destino de webhooks", "webhook endpoint"),
        ("destinos de webhooks", "webhook endpoints")
    );
    /// The delivery of an event to an endpoint. The permission to change it allows a redelivery.
    Delivery = "delivery", feminine(
        ("entrega de evento", "delivery"),
        ("entregas de eventos", "deliveries")
    );
    /// A user account.
    User = "user", masculine(("usuário", "user"), ("usuários", "users"));
    /// A group of users with common permissions.
    Group = "group", masculine(("grupo", "group"), ("grupos", "groups"));
    /// An entry of the audit log, which users cannot write.
    AuditEntry = "audit_entry", masculine(
        ("registro de auditoria", "audit entry"),
        ("registros de auditoria", "audit entries")
    );
    /// A login of the web interface.
    Session = "session", feminine(("sessão", "session"), ("sessões", "sessions"));
    /// A refresh token of the API.
    RefreshToken = "refresh_token", masculine(
        ("conjunto de tokens", "set of refresh tokens"),
        ("tokens da API", "refresh tokens")
    );
    /// An order of checkout.
    Order = "order", masculine(("pedido", "order"), ("pedidos", "orders"));
    /// A payment of checkout. Viewing it needs the permission to view orders.
    Payment = "payment", masculine(("pagamento", "payment"), ("pagamentos", "payments"));
}

choice! {
    /// The action that a permission allows, with the beginning of the permission's label.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Verb {
        /// Create.
        Add = "add", ("Pode adicionar", "Can add");
        /// Update.
        Change = "change", ("Pode alterar", "Can change");
        /// Delete.
        Delete = "delete", ("Pode excluir", "Can delete");
        /// Read. All authenticated users may read records of the shop.
        View = "view", ("Pode ver", "Can view");
        /// Refund a payment.
        Refund = "refund", ("Pode devolver", "Can refund");
    }
}

/// A permission, written as `add_brand`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Permission {
    /// The action.
    pub verb: Verb,
    /// The kind of record.
    pub model: Model,
}

/// The text is not the name of a permission.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a permission: expected one of add_, change_, delete_, view_ and the name of a model, such as add_brand; or refund_payment"
)]
pub struct UnknownPermission;

impl Model {
    /// The verbs that permissions can combine with this model.
    pub const fn verbs(self) -> &'static [Verb] {
        match self {
            Self::Order => &[Verb::Add, Verb::View],
            Self::Payment => &[Verb::Refund],
            _ => &[Verb::Add, Verb::Change, Verb::Delete, Verb::View],
        }
    }

    /// The model with this name.
    pub fn parse(code: &str) -> Option<Self> {
        Self::all().find(|model| model.code() == code)
    }

    /// Whether all authenticated users may read its records. They may not read accounts, the audit
    /// log, webhooks and payments.
    pub const fn is_of_shop(self) -> bool {
        matches!(
            self,
            Self::Named(_) | Self::Product | Self::Inflow | Self::Outflow | Self::Analysis
        )
    }
}

impl Permission {
    /// The permission to do `verb` to `model`.
    pub const fn new(verb: Verb, model: Model) -> Self {
        Self { verb, model }
    }

    /// The label: `Can add brand`.
    pub(crate) fn label(self, locale: Locale) -> String {
        let verb = locale.say(self.verb.words());
        format!("{verb} {}", self.model.words().one(locale))
    }

    /// The labels of several permissions, of which unknown ones have none.
    pub(crate) fn labels(names: &[String], locale: Locale) -> String {
        let known = names.iter().filter_map(|name| name.parse::<Self>().ok());
        let labels = known.map(|permission| permission.label(locale));
        labels.collect::<Vec<_>>().join(", ")
    }

    /// The source of choices for fields that hold permissions.
    pub const PATH: &'static str = "permissions";

    /// All permissions.
    pub fn all() -> impl Iterator<Item = Self> {
        Model::all().flat_map(|model| {
            let verbs = model.verbs().iter();
            verbs.map(move |&verb| Self { verb, model })
        })
    }
}

impl Choosable for Permission {
    type Submitted = Self;

    fn stored(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn value(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}_{}", self.verb.name(), self.model.code())
    }
}

impl FromStr for Permission {
    type Err = UnknownPermission;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::all()
            .find(|permission| permission.to_string() == text)
            .ok_or(UnknownPermission)
    }
}

/// The permissions of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Granted {
    /// All permissions.
    Superuser,
    /// The permissions of the account and its groups.
    Only(BTreeSet<Permission>),
}

impl Granted {
    /// Whether any permission other than viewing is granted.
    pub fn may_write(&self) -> bool {
        match self {
            Self::Superuser => true,
            Self::Only(permissions) => permissions
                .iter()
                .any(|permission| permission.verb != Verb::View),
        }
    }

    /// Whether this permission is granted to the account or one of its groups.
    pub fn holds(&self, permission: Permission) -> bool {
        match self {
            Self::Superuser => true,
            Self::Only(permissions) => permissions.contains(&permission),
        }
    }

    /// Whether all permissions in `other` are granted here, too. Users cannot grant more than they
    /// have.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Superuser, _) => true,
            (Self::Only(_), Self::Superuser) => false,
            (Self::Only(mine), Self::Only(theirs)) => theirs.is_subset(mine),
        }
    }

    /// Whether this action is allowed: by a granted permission, or because all authenticated users
    /// may read the record.
    pub fn allows(&self, permission: Permission) -> bool {
        let is_open = permission.verb == Verb::View && permission.model.is_of_shop();
        is_open || self.holds(permission)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_permission_reads_back_as_written() {
        for permission in Permission::all() {
            assert_eq!(permission.to_string().parse(), Ok(permission));
        }
        for unknown in ["own_brand", "refund_brand", "delete_order"] {
            assert_eq!(unknown.parse::<Permission>(), Err(UnknownPermission));
        }
    }
}
