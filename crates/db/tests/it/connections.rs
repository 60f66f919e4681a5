use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use db::{Address, Db, Error, ErrorKind, Options};
use test_kit::{
    closed_port::ClosedPort,
    database::{Engine, run},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::{JoinHandle, JoinSet},
};

use crate::schema::{add_product, count, insert, open, products};

const OWN_END: &str = "SELECT pg_terminate_backend(pg_backend_pid())";

#[test]
fn a_connection_lost_before_the_commit_costs_a_repetition() {
    run(Engine::Postgres, async |address| {
        let db = open(&address).await;
        let attempts = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&attempts);
        db.write(async move |tx| {
            insert(tx, "Rice", 1).await?;
            if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                tx.all(OWN_END, &[], |_| Ok(())).await?;
            }
            Ok::<_, Error>(())
        })
        .await
        .unwrap();
        assert_eq!(
            (attempts.load(Ordering::SeqCst), products(&db).await),
            (2, 1)
        );
    });
}

#[test]
fn a_job_that_loses_every_connection_is_told_that_the_database_is_unavailable() {
    run(Engine::Postgres, async |address| {
        let db = open(&address).await;
        for error in [
            db.write(async |tx| tx.all(OWN_END, &[], |_| Ok(())).await)
                .await
                .unwrap_err(),
            db.read(async |conn| conn.all(OWN_END, &[], |_| Ok(())).await)
                .await
                .unwrap_err(),
        ] {
            let error: Error = error;
            assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
        }
        assert_eq!(products(&db).await, 0);
    });
}

/// Closes all other connections to a database.
async fn close_all_but_one(address: &str) {
    let all = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND pid <> pg_backend_pid()";
    open(address)
        .await
        .read(async |conn| conn.all(all, &[], |_| Ok(())).await)
        .await
        .map_err(|error: Error| error)
        .unwrap();
}

#[test]
fn after_every_connection_was_closed_jobs_go_on() {
    run(Engine::Postgres, async |address| {
        let db = open(&address).await;
        let tasks: Vec<_> = (0..16)
            .map(|_| {
                let db = db.clone();
                tokio::spawn(async move { products(&db).await })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        close_all_but_one(&address).await;
        for _ in 0..40 {
            assert_eq!(products(&db).await, 0);
        }
    });
}

/// A proxy between a client and the server. It can be closed and opened, can close a connection at
/// a given message, and can stop forwarding.
struct Proxy {
    server: String,
    port: u16,
    break_at: Arc<Mutex<Option<&'static [u8]>>>,
    is_frozen: Arc<AtomicBool>,
    /// Reserves the port while the proxy is closed.
    closed_port: Option<ClosedPort>,
    task: Option<JoinHandle<()>>,
}

impl Proxy {
    fn start(address: &str) -> (Self, Address) {
        let (_, rest) = address.split_once("://").unwrap();
        let (authority, database) = rest.split_once('/').unwrap();
        let (user, server) = authority.split_once('@').unwrap();
        let closed_port = ClosedPort::new();
        let mut proxy = Self {
            server: server.to_owned(),
            port: closed_port.address.port(),
            break_at: Arc::default(),
            is_frozen: Arc::default(),
            closed_port: Some(closed_port),
            task: None,
        };
        proxy.open();
        let address = format!("postgres://{user}@127.0.0.1:{}/{database}", proxy.port);
        (proxy, address.parse().unwrap())
    }

    fn open(&mut self) {
        let listener = self.closed_port.take().unwrap().listen();
        let (server, break_at) = (self.server.clone(), Arc::clone(&self.break_at));
        let is_frozen = Arc::clone(&self.is_frozen);
        self.task = Some(tokio::spawn(async move {
            let mut carried = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(&server).await.unwrap();
                let (break_at, is_frozen) = (Arc::clone(&break_at), Arc::clone(&is_frozen));
                carried.spawn(carry(client, server, break_at, is_frozen));
            }
        }));
    }

    async fn close(&mut self) {
        let task = self.task.take().unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        self.closed_port = Some(ClosedPort::at(self.port));
    }
}

async fn carry(
    client: TcpStream,
    server: TcpStream,
    break_at: Arc<Mutex<Option<&'static [u8]>>>,
    is_frozen: Arc<AtomicBool>,
) {
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    let forth = async {
        let mut buffer = vec![0; 65536];
        loop {
            let count = from_client.read(&mut buffer).await.unwrap_or(0);
            if count > 0 && is_frozen.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            let sent = buffer.get(..count).unwrap();
            let breaks = break_at
                .lock()
                .unwrap()
                .is_some_and(|message| sent.windows(message.len()).any(|window| window == message));
            if count == 0 || breaks || to_server.write_all(sent).await.is_err() {
                break;
            }
        }
    };
    let back = async {
        tokio::io::copy(&mut from_server, &mut to_client).await.ok();
    };
    tokio::select! { () = forth => {}, () = back => {} }
}

#[test]
fn a_server_that_went_away_is_found_again() {
    run(Engine::Postgres, async |address| {
        let (mut proxy, through) = Proxy::start(&address);
        drop(open(&address).await);
        let db = Db::open(&through, &Options::default()).await.unwrap();
        assert_eq!(products(&db).await, 0);
        proxy.close().await;
        for _ in 0..3 {
            let error: Error = db
                .write(async |tx| insert(tx, "Rice", 1).await)
                .await
                .unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
        }
        let error = Db::open(&through, &Options::default()).await.err().unwrap();
        assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
        proxy.open();
        add_product(&db, "Rice", 1).await;
        assert_eq!(products(&db).await, 1);
    });
}

#[test]
fn a_server_that_does_not_answer_is_unavailable_until_it_does() {
    run(Engine::Postgres, async |address| {
        let (proxy, through) = Proxy::start(&address);
        drop(open(&address).await);
        let options = Options {
            statement_timeout: Duration::from_millis(500),
            wait: Duration::from_secs(2),
            ..Options::default()
        };
        let db = Db::open(&through, &options).await.unwrap();
        assert_eq!(products(&db).await, 0);
        proxy.is_frozen.store(true, Ordering::SeqCst);
        for _ in 0..2 {
            let written = db.write(async |tx| insert(tx, "Rice", 1).await).await;
            let read = db.read(async |conn| count(conn).await).await;
            for answer in [written, read] {
                let error: Error = answer.unwrap_err();
                assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
            }
        }
        proxy.is_frozen.store(false, Ordering::SeqCst);
        assert_eq!(products(&db).await, 0);
    });
}

#[test]
fn of_several_hosts_one_that_does_not_answer_leaves_time_for_the_next() {
    run(Engine::Postgres, async |address| {
        // The system accepts connections, but no program reads from them.
        let silent = ClosedPort::new().listen();
        let silent_port = silent.local_addr().unwrap().port();
        let (before, server) = address.split_once('@').unwrap();
        let closed_port = ClosedPort::new();
        let hosts = format!("127.0.0.1:{silent_port},{},{server}", closed_port.address);
        let several: Address = format!("{before}@{hosts}").parse().unwrap();
        let options = Options {
            wait: Duration::from_secs(12),
            ..Options::default()
        };
        drop(open(&address).await);
        let db = Db::open(&several, &options).await.unwrap();
        assert_eq!(products(&db).await, 0);
    });
}

#[test]
fn a_connection_lost_at_the_commit_is_unknown_and_never_repeated() {
    run(Engine::Postgres, async |address| {
        let (proxy, through) = Proxy::start(&address);
        drop(open(&address).await);
        let db = Db::open(&through, &Options::default()).await.unwrap();
        *proxy.break_at.lock().unwrap() = Some(b"COMMIT\0");
        let attempts = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&attempts);
        let error: Error = db
            .write(async move |tx| {
                counted.fetch_add(1, Ordering::SeqCst);
                insert(tx, "Rice", 1).await
            })
            .await
            .unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unavailable, "{error}");
        assert_eq!(attempts.load(Ordering::SeqCst), 1);
        *proxy.break_at.lock().unwrap() = None;
        assert_eq!(products(&db).await, 0);
    });
}

#[test]
fn a_transaction_that_its_job_left_in_pieces_does_not_reach_the_next_job() {
    run(Engine::Postgres, async |address| {
        let options = Options {
            connections: 1,
            lanes: 1,
            ..crate::schema::patient()
        };
        let db = crate::schema::open_with(&address, &options).await;
        for _ in 0..3 {
            let panicked: Result<(), Error> = db
                .write(async |tx| {
                    insert(tx, "Rice", 1).await?;
                    panic!("on purpose")
                })
                .await;
            assert!(panicked.is_err());
            add_product(&db, "Beans", 1).await;
        }
        assert_eq!(products(&db).await, 3);
    });
}

#[test]
fn connections_show_the_applications_name() {
    run(Engine::Postgres, async |address| {
        let options = Options {
            application_name: "shop test".to_owned(),
            ..crate::schema::patient()
        };
        let db = crate::schema::open_with(&address, &options).await;
        let sql = "SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()";
        let name: String = db
            .read(async move |conn| conn.one(sql, &[], |row| row.get(0)).await)
            .await
            .map_err(|error: Error| error)
            .unwrap();
        assert_eq!(name, "shop test");
    });
}
