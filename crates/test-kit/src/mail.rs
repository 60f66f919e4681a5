//! A mail server for tests that speaks SMTP (RFC 5321), in clear, after STARTTLS or under TLS from
//! the first byte, and keeps the messages that it accepts.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustls::ServerConfig;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// How a server's conversations are protected.
#[derive(Clone)]
pub enum Protection {
    /// Not at all.
    None,
    /// Once the client says STARTTLS; a client that does not may not send.
    StartTls(Arc<ServerConfig>),
    /// From the first byte.
    Tls(Arc<ServerConfig>),
}

/// A received mail.
#[derive(Clone, Debug, Default)]
pub struct ReceivedMail {
    /// The argument of `MAIL`.
    pub from: String,
    /// The argument of `RCPT`.
    pub to: String,
    /// The token of `AUTH PLAIN`.
    pub login: Option<String>,
    /// Whether it came under TLS.
    pub is_protected: bool,
    /// Headers and body, lines ending in CR LF.
    pub text: String,
}

impl ReceivedMail {
    /// The texts of its parts, decoded: plain, then HTML.
    pub fn texts(&self) -> Vec<String> {
        let parts = self
            .text
            .split("Content-Transfer-Encoding: base64\r\n\r\n")
            .skip(1);
        let decoded = parts.map(|part| {
            let encoded = part.split("\r\n--").next().unwrap_or_default();
            let bytes = STANDARD.decode(encoded.replace("\r\n", ""));
            String::from_utf8(bytes.expect("base64")).expect("a text")
        });
        decoded.collect()
    }

    /// A header, as it was written.
    pub fn header(&self, name: &str) -> &str {
        let mut lines = self.text.split("\r\n").take_while(|line| !line.is_empty());
        let found = lines.find_map(|line| line.strip_prefix(&format!("{name}: ")));
        found.unwrap_or_else(|| panic!("no header {name} in {}", self.text))
    }
}

/// A server that listens until its test ends.
#[derive(Clone)]
pub struct MailServer {
    /// Where it listens, on this machine.
    pub address: SocketAddr,
    protection: Protection,
    received: watch::Sender<Vec<ReceivedMail>>,
    answer_to_rcpt: Arc<Mutex<&'static str>>,
    support: Arc<Mutex<SmtpSupport>>,
}

/// How a server answers EHLO and AUTH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SmtpSupport {
    /// Like today's servers.
    Modern,
    /// It only supports `HELO`, as before 1995.
    HeloOnly,
    /// It only supports `AUTH LOGIN`.
    LoginOnly,
    /// It refuses every password.
    NoPasswords,
}

impl MailServer {
    /// Starts one.
    pub async fn start(protection: Protection) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server = Self {
            address: listener.local_addr().expect("an address"),
            protection,
            received: watch::Sender::new(Vec::new()),
            answer_to_rcpt: Arc::new(Mutex::new("250 ok")),
            support: Arc::new(Mutex::new(SmtpSupport::Modern)),
        };
        let serving = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serving.clone().serve(stream));
            }
        });
        server
    }

    /// Sets its answer to RCPT from now on.
    pub fn answers_rcpt(&self, answer: &'static str) {
        let said = self.answer_to_rcpt.lock();
        *said.unwrap_or_else(PoisonError::into_inner) = answer;
    }

    /// Sets its behaviour from now on.
    pub fn supports(&self, support: SmtpSupport) {
        *self.support.lock().unwrap_or_else(PoisonError::into_inner) = support;
    }

    fn support(&self) -> SmtpSupport {
        *self.support.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The received mails, in order.
    pub fn received(&self) -> Vec<ReceivedMail> {
        self.received.borrow().clone()
    }

    /// Waits until so many mails have been received; returns all.
    pub async fn has(&self, count: usize) -> Vec<ReceivedMail> {
        let mut received = self.received.subscribe();
        let found = received.wait_for(|received| received.len() >= count).await;
        found.expect("a server that listens").clone()
    }

    async fn serve(self, stream: TcpStream) {
        match &self.protection {
            Protection::None => {
                Dialog::new(&self, stream, false).hold(true).await;
            }
            Protection::StartTls(config) => {
                let begun = Dialog::new(&self, stream, false).hold(true).await;
                if let Some(stream) = begun {
                    self.protected(config, stream, false).await;
                }
            }
            Protection::Tls(config) => self.protected(config, stream, true).await,
        }
    }

    /// A client that does not trust the certificate ends here.
    async fn protected(&self, config: &Arc<ServerConfig>, stream: TcpStream, greets: bool) {
        let accepted = TlsAcceptor::from(Arc::clone(config)).accept(stream).await;
        if let Ok(stream) = accepted {
            Dialog::new(self, stream, true).hold(greets).await;
        }
    }
}

/// One conversation.
struct Dialog<'a, S> {
    server: &'a MailServer,
    stream: BufReader<S>,
    mail: ReceivedMail,
    is_data: bool,
}

impl<'a, S: AsyncRead + AsyncWrite + Unpin> Dialog<'a, S> {
    fn new(server: &'a MailServer, stream: S, is_protected: bool) -> Self {
        Self {
            server,
            stream: BufReader::new(stream),
            mail: ReceivedMail {
                is_protected,
                ..ReceivedMail::default()
            },
            is_data: false,
        }
    }

    /// Answers commands until the client closes the connection, or starts TLS: then returns the
    /// stream.
    async fn hold(mut self, greets: bool) -> Option<S> {
        let mut answer = greets.then(|| "220 mail.example ESMTP".to_owned());
        loop {
            if let Some(answer) = answer {
                let line = format!("{answer}\r\n");
                self.stream.write_all(line.as_bytes()).await.ok()?;
                self.stream.flush().await.ok()?;
            }
            let mut line = String::new();
            let length = self.stream.read_line(&mut line).await.ok()?;
            let line = line.trim_end_matches("\r\n");
            if length == 0 {
                return None;
            }
            if line == "STARTTLS" && self.offers_tls() {
                self.stream.write_all(b"220 go on\r\n").await.ok()?;
                self.stream.flush().await.ok()?;
                return Some(self.stream.into_inner());
            }
            answer = self.take_line(line);
        }
    }

    /// One of the two answers of `AUTH LOGIN`: the name, then the password.
    fn login_step(&mut self, word: &str) -> String {
        let said = self.mail.login.get_or_insert_default();
        if said.is_empty() {
            said.push_str(word);
            return format!("334 {}", STANDARD.encode("Password:"));
        }
        said.push(' ');
        said.push_str(word);
        "235 welcome".to_owned()
    }

    fn offers_tls(&self) -> bool {
        matches!(self.server.protection, Protection::StartTls(_)) && !self.mail.is_protected
    }

    fn take_line(&mut self, line: &str) -> Option<String> {
        if self.is_data {
            if line == "." {
                self.is_data = false;
                let is_protected = self.mail.is_protected;
                let mail = std::mem::take(&mut self.mail);
                self.mail.is_protected = is_protected;
                self.server
                    .received
                    .send_modify(|received| received.push(mail));
                return Some("250 queued".to_owned());
            }
            let text = line.strip_prefix('.').unwrap_or(line);
            self.mail.text.push_str(text);
            self.mail.text.push_str("\r\n");
            return None;
        }
        Some(self.reply_to(line))
    }

    fn reply_to(&mut self, line: &str) -> String {
        let is_open = !self.offers_tls();
        let support = self.server.support();
        match line.split_once([' ', ':']).unwrap_or((line, "")) {
            ("EHLO", _) if support == SmtpSupport::HeloOnly => "502 what".to_owned(),
            ("HELO", _) => "250 mail.example".to_owned(),
            ("EHLO", _) if is_open && support == SmtpSupport::LoginOnly => {
                "250-mail.example\r\n250 AUTH LOGIN".to_owned()
            }
            ("AUTH", "LOGIN") if support == SmtpSupport::LoginOnly => {
                self.mail.login = Some(String::new());
                format!("334 {}", STANDARD.encode("Username:"))
            }
            ("AUTH", _) if support != SmtpSupport::Modern => "535 no".to_owned(),
            ("EHLO", _) if is_open => {
                "250-mail.example\r\n250-AUTH PLAIN LOGIN\r\n250 8BITMIME".to_owned()
            }
            ("EHLO", _) => "250-mail.example\r\n250 STARTTLS".to_owned(),
            ("AUTH", token) if is_open => {
                self.mail.login = Some(token.trim_start_matches("PLAIN ").to_owned());
                "235 welcome".to_owned()
            }
            ("MAIL", from) if is_open => {
                from.clone_into(&mut self.mail.from);
                "250 ok".to_owned()
            }
            ("RCPT", to) if is_open => {
                to.clone_into(&mut self.mail.to);
                let answer = self.server.answer_to_rcpt.lock();
                (*answer.unwrap_or_else(PoisonError::into_inner)).to_owned()
            }
            ("DATA", _) if is_open => {
                self.is_data = true;
                "354 go on".to_owned()
            }
            ("QUIT", _) => "221 bye".to_owned(),
            (word, "") if is_open && support == SmtpSupport::LoginOnly => self.login_step(word),
            _ if is_open => "500 what".to_owned(),
            _ => "530 STARTTLS first".to_owned(),
        }
    }
}
