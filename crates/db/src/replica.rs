//! The processes that serve a database. The leases of one that died end within seconds.
//!
//! A heartbeat increments the counter in the process's own row of `replicas` every second, and
//! reads the counters of the others. A replica whose counter is unchanged in four reads is dead,
//! and its row is removed. No clocks are compared, and a process that cannot reach the database
//! counts no read. The services decide what is leased. A lease names its replica, and is valid only
//! while that replica has a row.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::task::JoinHandle;

use crate::{Db, Engine, Error, Tx, lock_mutex};

/// How often a replica increments its counter and reads the others.
const EVERY: Duration = Duration::from_secs(1);
/// A replica is dead when this many reads in a row showed the same count.
const READS_OF_A_DEAD_ONE: u32 = 4;

/// This process among those that serve a database. Clones are the same replica.
#[derive(Clone)]
pub struct Replica(Arc<Shared>);

struct Shared {
    db: Db,
    id: String,
    others: Mutex<HashMap<String, Count>>,
}

/// A counter's value, and how many reads in a row showed it.
struct Count {
    heartbeats: i64,
    reads: u32,
}

/// The result of a [`Replica::heartbeat`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heartbeat {
    /// Another replica has died or left: its leases are to be released.
    pub has_lost_one: bool,
    /// Others took this replica for dead, so it holds no lease any more. It is registered again.
    pub was_removed: bool,
}

impl Replica {
    /// A replica that is not registered yet: its leases are not valid before
    /// [`register`](Self::register). `id` is a UUID that no other process has.
    pub fn new(db: Db, id: String) -> Self {
        Self(Arc::new(Shared {
            db,
            id,
            others: Mutex::default(),
        }))
    }

    /// The id, 36 characters.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// A lease of this replica for one piece of work: the replica's id, and a name that is unique
    /// among its leases.
    pub fn lease(&self, work: &str) -> String {
        format!("{}/{work}", self.0.id)
    }

    /// Registers this process as one that serves the database. Only one process serves a SQLite
    /// database, so there every other replica is dead.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn register(&self) -> Result<(), Error> {
        let (id, is_alone) = (self.0.id.clone(), self.is_alone());
        let register = async move |tx: &mut Tx| {
            if is_alone {
                tx.execute("DELETE FROM replicas", &[]).await?;
            }
            insert(tx, &id).await
        };
        self.0.db.write(register).await
    }

    /// Increments this process's counter, reads the others, and removes dead replicas.
    ///
    /// # Errors
    ///
    /// When the database cannot be reached. No replica is taken for dead meanwhile.
    pub async fn heartbeat(&self) -> Result<Heartbeat, Error> {
        let id = self.0.id.clone();
        let beat = async move |tx: &mut Tx| {
            let raise = "UPDATE replicas SET heartbeats = heartbeats + 1 WHERE id = $1";
            let was_removed = tx.execute(raise, &[&id]).await? == 0;
            if was_removed {
                insert(tx, &id).await?;
            }
            let read = "SELECT id, heartbeats FROM replicas WHERE id <> $1";
            let others = tx
                .all(read, &[&id], |row| Ok((row.get(0)?, row.get(1)?)))
                .await?;
            Ok::<_, Error>((was_removed, others))
        };
        let written = self.0.db.write_heartbeat(beat).await;
        self.0.db.record_heartbeat(written.as_ref().err().cloned());
        let (was_removed, others) = written?;
        let (mut has_lost_one, dead) = self.compare(others);
        for (id, count) in dead {
            let other = id.clone();
            // A replica that has incremented its counter since is alive.
            let remove = async move |tx: &mut Tx| {
                let sql = "DELETE FROM replicas WHERE id = $1 AND heartbeats = $2";
                tx.execute(sql, &[&other, &count]).await
            };
            if self.0.db.write_heartbeat(remove).await? > 0 {
                tracing::warn!(replica = id, "a replica has died: its leases are released");
                has_lost_one = true;
            }
        }
        Ok(Heartbeat {
            has_lost_one,
            was_removed,
        })
    }

    /// Sends a heartbeat every second until the returned value is dropped, and calls `release` when
    /// a replica has died or left, until it succeeds.
    pub fn keep_alive<F>(&self, release: impl Fn() -> F + Send + Sync + 'static) -> KeepAlive
    where
        F: Future<Output = Result<(), Error>> + Send + 'static,
    {
        let replica = self.clone();
        let task = (!self.is_alone()).then(|| tokio::spawn(send_heartbeats(self.clone(), release)));
        KeepAlive { replica, task }
    }

    fn is_alone(&self) -> bool {
        self.0.db.engine() == Engine::Sqlite
    }

    /// Compares the counters with the last read: whether one is gone, and which replicas are dead.
    fn compare(&self, seen: Vec<(String, i64)>) -> (bool, Vec<(String, i64)>) {
        let mut others = lock_mutex(&self.0.others);
        let mut before = std::mem::take(&mut *others);
        let mut dead = Vec::new();
        for (id, heartbeats) in seen {
            let reads = match before.remove(&id) {
                Some(count) if count.heartbeats == heartbeats => count.reads + 1,
                _ => 1,
            };
            if reads >= READS_OF_A_DEAD_ONE {
                dead.push((id.clone(), heartbeats));
            }
            others.insert(id, Count { heartbeats, reads });
        }
        (!before.is_empty(), dead)
    }
}

impl std::fmt::Debug for Replica {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Replica").field(&self.0.id).finish()
    }
}

/// Sends a replica's heartbeats until it is dropped. On SQLite, where no other replica reads them,
/// there are none.
#[derive(Debug)]
#[must_use = "a replica without heartbeats is taken for dead"]
pub struct KeepAlive {
    replica: Replica,
    task: Option<JoinHandle<()>>,
}

impl KeepAlive {
    /// Removes the replica when it shuts down, so that others take over its leases at once.
    pub async fn stop(mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            let _cancelled = task.await;
        }
        let id = self.replica.0.id.clone();
        let leave = async move |tx: &mut Tx| {
            tx.execute("DELETE FROM replicas WHERE id = $1", &[&id])
                .await
        };
        // On the connection of the heartbeats, so after the last of them.
        if let Err(error) = self.replica.0.db.write_heartbeat(leave).await {
            tracing::warn!(%error, "the replica could not sign off: others take over its leases in some seconds");
        }
    }
}

impl Drop for KeepAlive {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn send_heartbeats<F>(replica: Replica, release: impl Fn() -> F)
where
    F: Future<Output = Result<(), Error>>,
{
    let mut is_owed = false;
    loop {
        match replica.heartbeat().await {
            Ok(heartbeat) => {
                if heartbeat.was_removed {
                    tracing::warn!(
                        "this replica sent no heartbeat for too long: others have taken over its leases"
                    );
                }
                is_owed |= heartbeat.has_lost_one;
            }
            Err(error) => {
                tracing::warn!(%error, "the replica's heartbeat could not be written: it is tried again");
            }
        }
        if is_owed {
            match release().await {
                Ok(()) => is_owed = false,
                Err(error) => {
                    tracing::warn!(%error, "leases of dead replicas could not be released yet");
                }
            }
        }
        tokio::time::sleep(EVERY).await;
    }
}

async fn insert(tx: &mut Tx, id: &str) -> Result<(), Error> {
    let sql = "INSERT INTO replicas (id, heartbeats) VALUES ($1, 0) ON CONFLICT (id) DO NOTHING";
    tx.execute(sql, &[&id]).await.map(drop)
}
