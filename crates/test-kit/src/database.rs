//! Fresh databases for tests: a file in a folder of its own for SQLite, a `CREATE DATABASE` on the
//! server of the test run for PostgreSQL. Each is dropped afterwards, also when the test panics.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

use reqwest::Url;
use tempfile::TempDir;
use tokio_postgres::NoTls;

use crate::environment;

/// How long a test body may take before it counts as hanging: one that waits for what never comes
/// fails by itself instead of holding up the run. No test is measured by it: on a busy machine
/// everything may take many times as long.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// Address of a PostgreSQL server where tests may create databases, from
/// `BALCAO_TEST_POSTGRES_URL`.
pub fn postgres_url() -> String {
    required(
        "BALCAO_TEST_POSTGRES_URL",
        "postgres://postgres@127.0.0.1:5432/postgres",
    )
}

/// Address of a Redis or Valkey server that tests may write to, from `BALCAO_TEST_REDIS_URL`.
/// It is shared by all tests: take keys of your own.
pub fn redis_url() -> String {
    required("BALCAO_TEST_REDIS_URL", "redis://127.0.0.1:6379/")
}

fn required(name: &str, example: &str) -> String {
    environment(name).unwrap_or_else(|| {
        panic!(
            "{name} is not set. Run the tests by ./test, which starts the servers they need, or start \
             one yourself and say where it is, for example {name}={example}"
        )
    })
}

/// The engines a database may run on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Engine {
    /// A file in a temporary folder.
    Sqlite,
    /// A database of its own on the server of [`postgres_url`].
    Postgres,
}

/// An empty database that exists as long as this value.
#[derive(Debug)]
pub struct Database {
    address: String,
    home: Home,
}

#[derive(Debug)]
enum Home {
    Folder(#[expect(dead_code, reason = "held for its Drop")] TempDir),
    Server { name: String },
}

impl Database {
    /// Makes an empty database. On SQLite the file itself is left to whoever opens it first.
    pub fn new(engine: Engine) -> Self {
        match engine {
            Engine::Sqlite => {
                let folder = TempDir::with_prefix("balcao-test-").expect("a temporary folder");
                let file = folder.path().join("test.sqlite");
                Self {
                    address: format!("sqlite:{}", file.display()),
                    home: Home::Folder(folder),
                }
            }
            Engine::Postgres => {
                let name = format!("balcao_test_{:016x}", unpredictable());
                server(&format!("CREATE DATABASE {name}")).expect("CREATE DATABASE");
                let mut address = Url::parse(&postgres_url()).expect("the server's address");
                address.set_path(&format!("/{name}"));
                Self {
                    address: address.into(),
                    home: Home::Server { name },
                }
            }
        }
    }

    /// `sqlite:PATH` or `postgres://…`.
    pub fn address(&self) -> &str {
        &self.address
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        if let Home::Server { name } = &self.home {
            let dropped = server(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
            if !thread::panicking() {
                dropped.expect("DROP DATABASE");
            }
        }
    }
}

/// Runs one test body on a fresh database of the engine; what
/// [`on_both_engines!`](crate::on_both_engines) expands to.
pub fn run<Body: AsyncFnOnce(String)>(engine: Engine, body: Body) {
    let database = Database::new(engine);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let body = body(database.address().to_owned());
        let ended = runtime.block_on(async { tokio::time::timeout(LONGEST, body).await });
        assert!(ended.is_ok(), "the test did not end within {LONGEST:?}");
    }));
    // Tasks that the test left behind go first, so that nothing of it outlives its database.
    runtime.shutdown_timeout(Duration::from_secs(60));
    drop(database);
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
}

/// Makes one test into two, `name::sqlite` and `name::postgres`, each on a fresh database whose
/// address is given to the body:
///
/// ```text
/// on_both_engines!(a_payment_is_found_by_its_id, async |address| {
///     let db = Db::open(&address.parse().unwrap(), &Options::default()).await.unwrap();
///     …
/// });
/// ```
#[macro_export]
macro_rules! on_both_engines {
    ($(#[$attribute:meta])* $name:ident, $body:expr $(,)?) => {
        // The body is compiled once, beside the module of the same name: functions and modules do
        // not collide.
        $(#[$attribute])*
        #[cfg(test)]
        async fn $name(address: String) {
            $crate::database::call($body, address).await;
        }

        $(#[$attribute])*
        #[cfg(test)]
        mod $name {
            #[test]
            fn sqlite() {
                $crate::database::run($crate::database::Engine::Sqlite, super::$name);
            }

            #[test]
            fn postgres() {
                $crate::database::run($crate::database::Engine::Postgres, super::$name);
            }
        }
    };
}

/// Calls a test body; it tells the compiler what the body's parameter is.
#[doc(hidden)]
pub async fn call<Body: AsyncFnOnce(String)>(body: Body, address: String) {
    body(address).await;
}

/// Calls a test body with what `open` makes of the database; for macros of a crate's own tests. The
/// body's future is boxed, since it may be large.
#[doc(hidden)]
pub async fn call_with<T>(
    open: impl AsyncFnOnce(&str) -> T,
    body: impl AsyncFnOnce(T),
    address: String,
) {
    let opened = open(&address).await;
    Box::pin(body(opened)).await;
}

/// Runs one administrative statement on the server, from any context: the thread has a runtime of
/// its own.
fn server(statement: &str) -> Result<(), tokio_postgres::Error> {
    let url = postgres_url();
    thread::scope(|scope| {
        scope
            .spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .expect("a runtime");
                runtime.block_on(async {
                    let (client, connection) = tokio_postgres::connect(&url, NoTls).await?;
                    let (done, _) = tokio::join!(
                        async {
                            let done = client.batch_execute(statement).await;
                            drop(client);
                            done
                        },
                        connection
                    );
                    done
                })
            })
            .join()
            .expect("the administrative thread")
    })
}

/// 64 bits that differ between processes and calls; the standard library seeds its hash maps with
/// them.
fn unpredictable() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_gone_after_its_test_even_when_the_test_panics() {
        let mut name = String::new();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            run(Engine::Postgres, async |address| {
                address.rsplit('/').next().unwrap().clone_into(&mut name);
                panic!("the test fails");
            });
        }));
        assert!(outcome.is_err());
        let drop_again = server(&format!("DROP DATABASE {name}")).unwrap_err();
        assert_eq!(drop_again.code().unwrap().code(), "3D000", "{drop_again}");
    }

    on_both_engines!(each_engine_gets_an_address_of_its_kind, async |address| {
        assert!(address.starts_with("sqlite:") || address.starts_with("postgres://"));
    });
}
