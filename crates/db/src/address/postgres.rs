//! Where a PostgreSQL server is and how its identity is checked.

use std::{fmt, path::PathBuf, str::FromStr};

use tokio_postgres::config::{Config, Host, SslMode};

/// A `postgres://` address.
///
/// `sslmode` is one of
/// - `disable`: no TLS;
/// - `require`, `verify-ca`, `verify-full`: TLS, with certificate **and** host name verified
///   (stricter than libpq, where `require` verifies nothing);
/// - `prefer`, also when absent: no TLS over a Unix socket or loopback, else TLS if the server
///   offers it, and then verified.
///
/// Certificates are verified by the system's roots, or by those in the PEM file `sslrootcert` when
/// it is given.
///
/// Several hosts are separated by commas:
/// `postgres://user@one,two:5433/shop?target_session_attrs=read-write`.
#[derive(Clone)]
pub struct PostgresAddress {
    /// One for each host, which differ in host and port alone.
    pub(crate) hosts: Vec<Config>,
    pub(crate) root_certificates: Option<PathBuf>,
}

impl FromStr for PostgresAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (base, query) = text.split_once('?').unwrap_or((text, ""));
        let mut mode = "prefer";
        let mut root_certificates = None;
        let mut others = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = value,
                Some(("sslrootcert", value)) => root_certificates = Some(PathBuf::from(value)),
                _ => others.push(pair),
            }
        }
        let (before, list, after) = around_hosts(base);
        let mut hosts = Vec::new();
        for host in list.split(',') {
            let mut alone = format!("{before}{host}{after}");
            if !others.is_empty() {
                alone = format!("{alone}?{}", others.join("&"));
            }
            hosts.push(of_host(&alone)?);
        }
        let mode = tls(mode, hosts.iter().flat_map(Config::get_hosts))?;
        for config in &mut hosts {
            config.ssl_mode(mode);
        }
        Ok(Self {
            hosts,
            root_certificates,
        })
    }
}

/// The list of hosts in `postgres://user:password@hosts/database`, with what is before and after
/// it. A name or a password has no `@`: there it is `%40`.
fn around_hosts(base: &str) -> (&str, &str, &str) {
    let scheme = base.find("://").map_or(0, |place| place + 3);
    let start = base
        .get(scheme..)
        .and_then(|rest| rest.find('@'))
        .map_or(scheme, |place| scheme + place + 1);
    let (before, rest) = base.split_at(start);
    let (list, after) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    (before, list, after)
}

/// The address of one host.
fn of_host(address: &str) -> Result<Config, String> {
    // The driver's message may repeat a part of the address, with the password, so it is replaced.
    let config = Config::from_str(address)
        .map_err(|_| "it is not of the form user:password@host:port/database".to_owned())?;
    match config.get_hosts() {
        [] => Err("it names no host".to_owned()),
        // The server would take the database that has the user's name.
        [_] if config.get_dbname().is_none() => Err("it names no database".to_owned()),
        [_] => Ok(config),
        _ => Err("several hosts are written as user@host1,host2/database".to_owned()),
    }
}

fn tls<'a>(mode: &str, mut hosts: impl Iterator<Item = &'a Host>) -> Result<SslMode, String> {
    match mode {
        "disable" => Ok(SslMode::Disable),
        "prefer" if hosts.all(is_local) => Ok(SslMode::Disable),
        "prefer" => Ok(SslMode::Prefer),
        "require" | "verify-ca" | "verify-full" => Ok(SslMode::Require),
        _ => Err("sslmode is disable, prefer, require, verify-ca or verify-full".to_owned()),
    }
}

fn is_local(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => {
            name == "localhost"
                || name
                    .parse::<std::net::IpAddr>()
                    .is_ok_and(|address| address.is_loopback())
        }
    }
}

impl PostgresAddress {
    /// How TLS is used, which is the same for all hosts.
    pub(crate) fn tls(&self) -> SslMode {
        self.hosts
            .first()
            .map_or(SslMode::Require, Config::get_ssl_mode)
    }
}

/// `host:port`, for people.
pub(crate) fn host_and_port(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) => path.display().to_string(),
        None => String::new(),
    };
    match config.get_ports().first() {
        Some(port) => format!("{host}:{port}"),
        None => host,
    }
}

impl fmt::Display for PostgresAddress {
    /// User, hosts, database and TLS; the password masked.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("postgres://")?;
        let first = self.hosts.first();
        if let Some(user) = first.and_then(Config::get_user) {
            let password = first.and_then(Config::get_password).map_or("", |_| ":***");
            write!(formatter, "{user}{password}@")?;
        }
        let names: Vec<String> = self.hosts.iter().map(host_and_port).collect();
        let database = first.and_then(Config::get_dbname).unwrap_or_default();
        let mode = match self.tls() {
            SslMode::Disable => "disable",
            SslMode::Prefer => "prefer",
            _ => "require",
        };
        write!(formatter, "{}/{database}?sslmode={mode}", names.join(","))
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PostgresAddress({self})")
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::TargetSessionAttrs;

    use super::*;

    #[test]
    fn tls_follows_sslmode_and_place() {
        let cases = [
            ("postgres://u@127.0.0.1/d", SslMode::Disable),
            ("postgres://u@localhost/d", SslMode::Disable),
            ("postgres://u@[::1]/d", SslMode::Disable),
            ("postgres://u@%2Frun%2Fpostgresql/d", SslMode::Disable),
            ("postgres://u@db.example/d", SslMode::Prefer),
            (
                "postgres://u@db.example/d?sslmode=disable",
                SslMode::Disable,
            ),
            ("postgres://u@127.0.0.1/d?sslmode=require", SslMode::Require),
            ("postgres://u@127.0.0.1,localhost/d", SslMode::Disable),
            ("postgres://u@127.0.0.1,db.example/d", SslMode::Prefer),
            (
                "postgres://u@db/d?connect_timeout=3&sslmode=verify-full",
                SslMode::Require,
            ),
        ];
        for (text, mode) in cases {
            let address: PostgresAddress = text.parse().unwrap();
            assert_eq!(address.tls(), mode, "{text}");
        }
    }

    #[test]
    fn each_host_of_a_list_has_its_own_port_and_the_same_settings() {
        let text = "postgres://u:p%40,x@one,[::1]:5433,%2Frun%2Fpostgresql/d?target_session_attrs=read-write";
        let address: PostgresAddress = text.parse().unwrap();
        let names: Vec<String> = address.hosts.iter().map(host_and_port).collect();
        assert_eq!(names, ["one:5432", "::1:5433", "/run/postgresql:5432"]);
        for host in &address.hosts {
            assert_eq!(host.get_password(), Some("p@,x".as_bytes()));
            assert_eq!(host.get_dbname(), Some("d"));
            let attributes = host.get_target_session_attrs();
            assert_eq!(attributes, TargetSessionAttrs::ReadWrite);
        }
        assert_eq!(
            address.to_string(),
            "postgres://u:***@one:5432,::1:5433,/run/postgresql:5432/d?sslmode=prefer"
        );
        let one: PostgresAddress = "postgres:///d?host=/run/postgresql".parse().unwrap();
        assert_eq!(one.hosts.len(), 1);
        for wrong in [
            "postgres://u@one/d?host=two",
            "postgres:///d?host=one&host=two",
            "postgres:///d",
            "postgres://u@one",
            "postgres://u@one,two/?sslmode=disable",
        ] {
            assert!(wrong.parse::<PostgresAddress>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn own_root_certificates_may_be_named() {
        let address: PostgresAddress = "postgres://u@db/d?sslrootcert=/etc/ssl/shop.pem"
            .parse()
            .unwrap();
        assert_eq!(address.root_certificates, Some("/etc/ssl/shop.pem".into()));
    }
}
