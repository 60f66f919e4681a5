//! The demo's inventory: three users, and a shop with half a year of movements.

use std::sync::Arc;

use ::inventory::accounts::Passwords;
use ::inventory::accounts::users::{self, NewUser, UserError};
use db::Db;
use generator::{GenerateError, Plan, generate};
use web::{Clock, Random};

use crate::failure::Failure;
use crate::run::MissingDatabase;
use crate::run::inventory::with_database;
use crate::settings::Settings;

/// The users, with their groups and whether they are superusers.
pub(super) const USERS: [(&str, Option<&str>, bool); 3] = [
    ("admin", Some("Admin"), true),
    ("manager", Some("Managers"), false),
    ("viewer", None, false),
];
/// The password of all users. It is not a secret: demo services listen only on loopback.
pub(super) const PASSWORD: &str = "demo-password";

/// The serial number of the first product, a bag of rice.
pub(super) const SKU: &str = "7891000000007";

/// Half a year of data: enough for charts, and small enough that the first start takes seconds.
const PRODUCTS: u64 = 300;
const MOVEMENTS: u64 = 7_000;
const DAYS: u32 = 183;
const SEED: u64 = 1;

/// Adds the example data to an inventory that has none yet.
pub(super) async fn prepare(settings: &Settings) -> Result<(), Failure> {
    with_database(settings, MissingDatabase::Create, async |db| {
        add_users(db).await?;
        fill(db).await
    })
    .await
}

async fn add_users(db: &Db) -> Result<(), Failure> {
    let failure = |error: UserError| Failure::of("the example users cannot be made", &error);
    let existing = users::list(db)
        .await
        .map_err(|error| failure(error.into()))?;
    let passwords = Passwords::new(Random::system());
    for (name, group, superuser) in USERS {
        if existing.iter().any(|user| user.username == name) {
            continue;
        }
        let user = NewUser {
            username: name.to_owned(),
            password: PASSWORD.to_owned(),
            group: group.map(str::to_owned),
            superuser,
        };
        users::create(db, &passwords, Clock::system().now(), user)
            .await
            .map_err(failure)?;
    }
    Ok(())
}

async fn fill(db: &Db) -> Result<(), Failure> {
    let plan = Plan {
        products: PRODUCTS,
        movements: MOVEMENTS,
        seed: SEED,
        days: DAYS,
        until: Clock::system().now(),
    };
    match generate(db, plan, Arc::new(|_| ())).await {
        // An earlier start has created the shop.
        Ok(()) | Err(GenerateError::NotEmpty) => Ok(()),
        Err(error) => Err(Failure::of("the example catalogue cannot be made", &error)),
    }
}
