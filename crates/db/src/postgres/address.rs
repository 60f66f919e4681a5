//! Where a PostgreSQL server is and how its identity is checked.

use std::{fmt, path::PathBuf, str::FromStr};

use tokio_postgres::config::{Config, Host, SslMode};

/// A `postgres://` address.
///
/// `sslmode` is one of
/// - `disable`: no TLS;
/// - `require`, `verify-ca`, `verify-full`: TLS, with certificate **and** host name verified (stricter than libpq, where
///   `require` verifies nothing);
/// - `prefer`, also when absent: no TLS over a Unix socket or loopback, else TLS if the server offers it, and then verified.
///
/// Certificates are verified by the system's roots, or by those in the PEM file `sslrootcert` when it is given.
#[derive(Clone)]
pub struct PostgresAddress {
    pub(super) config: Box<Config>,
    pub(super) root_certificates: Option<PathBuf>,
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
        let plain = if others.is_empty() {
            base.to_owned()
        } else {
            format!("{base}?{}", others.join("&"))
        };
        // The driver's words may repeat a part of the address, so only their gist is passed on.
        let mut config = Config::from_str(&plain)
            .map_err(|_| "it is not of the form user:password@host:port/database".to_owned())?;
        if config.get_hosts().is_empty() {
            return Err("it names no host".to_owned());
        }
        config.ssl_mode(tls(mode, config.get_hosts())?);
        Ok(Self {
            config: Box::new(config),
            root_certificates,
        })
    }
}

fn tls(mode: &str, hosts: &[Host]) -> Result<SslMode, String> {
    match mode {
        "disable" => Ok(SslMode::Disable),
        "prefer" if hosts.iter().all(is_local) => Ok(SslMode::Disable),
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

impl fmt::Display for PostgresAddress {
    /// User, hosts, database and TLS; the password masked.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            let password = self.config.get_password().map_or("", |_| ":***");
            write!(formatter, "{user}{password}@")?;
        }
        for (index, host) in self.config.get_hosts().iter().enumerate() {
            formatter.write_str(if index == 0 { "" } else { "," })?;
            match host {
                Host::Tcp(name) => formatter.write_str(name)?,
                Host::Unix(path) => write!(formatter, "{}", path.display())?,
            }
            let ports = self.config.get_ports();
            if let Some(port) = ports.get(index).or(ports.first()) {
                write!(formatter, ":{port}")?;
            }
        }
        write!(
            formatter,
            "/{}",
            self.config.get_dbname().unwrap_or_default()
        )?;
        let mode = match self.config.get_ssl_mode() {
            SslMode::Disable => "disable",
            SslMode::Prefer => "prefer",
            _ => "require",
        };
        write!(formatter, "?sslmode={mode}")
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PostgresAddress({self})")
    }
}

#[cfg(test)]
mod tests {
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
            (
                "postgres://u@db/d?connect_timeout=3&sslmode=verify-full",
                SslMode::Require,
            ),
        ];
        for (text, mode) in cases {
            let address: PostgresAddress = text.parse().unwrap();
            assert_eq!(address.config.get_ssl_mode(), mode, "{text}");
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
