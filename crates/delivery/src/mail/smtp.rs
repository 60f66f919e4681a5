//! An SMTP client (RFC 5321), limited to sending one message to one recipient: implicit TLS or
//! STARTTLS, AUTH PLAIN or LOGIN. Only a refusal of sender, recipient or message is permanent. A
//! refused login is not: the settings may be corrected while the message waits.
//!
//! lettre is not used: its client takes cleartext after the reply to STARTTLS for replies under
//! TLS, ignores extensions in lower case, and fails with servers that know only HELO.

use std::{fmt, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rustls::pki_types::ServerName;
use tokio::{
    io::{
        AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _,
        BufReader,
    },
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsConnector;

use super::{MailMessage, Server, domain};
use crate::http::tls;

/// The timeout of sending one mail.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The longest reply, in bytes. RFC 5321 allows 512 a line.
const REPLY_MAX: u64 = 16 * 1024;

/// Why the server did not accept a mail.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Whether the server refused permanently.
    pub(crate) is_final: bool,
    pub(crate) text: String,
}

impl Failure {
    fn passing(text: impl Into<String>) -> Self {
        Self {
            is_final: false,
            text: text.into(),
        }
    }

    /// The same failure, but to be retried.
    fn into_passing(self) -> Self {
        Self::passing(self.text)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::passing(error.to_string())
    }
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// An SMTP session.
struct Session(BufReader<Box<dyn Stream>>);

/// An SMTP reply.
struct Reply {
    code: u16,
    lines: Vec<String>,
}

/// Sends a message to the server.
pub(crate) async fn send(server: &Server, message: MailMessage<'_>) -> Result<(), Failure> {
    match timeout(TIMEOUT, exchange(server, message)).await {
        Ok(sent) => sent,
        Err(_) => Err(Failure::passing(format!(
            "no end within {} seconds",
            TIMEOUT.as_secs()
        ))),
    }
}

async fn exchange(server: &Server, message: MailMessage<'_>) -> Result<(), Failure> {
    let (from, to) = (message.from.address.as_str(), message.to);
    let plain = |address: &str| {
        address
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"<>".contains(&byte))
    };
    if !plain(from) || !plain(to) {
        return Err(Failure {
            is_final: true,
            text: "an address of mail has no spaces and angle brackets".to_owned(),
        });
    }
    let stream = TcpStream::connect((server.host.as_str(), server.port)).await?;
    let mut session = if server.is_tls {
        Session::encrypted(Box::new(stream), server).await?
    } else {
        Session::new(Box::new(stream))
    };
    session
        .expect(None, 220)
        .await
        .map_err(Failure::into_passing)?;
    let name = domain(from);
    let mut offers = session.hello(name).await?;
    let mut is_encrypted = server.is_tls;
    if !is_encrypted && offers.offers("STARTTLS") {
        session.command("STARTTLS", 220).await?;
        session = session.encrypt(server).await?;
        is_encrypted = true;
        offers = session.hello(name).await?;
    }
    if let Some(credentials) = &server.credentials {
        if !is_encrypted && !server.is_local() {
            return Err(Failure::passing(
                "the server offers no TLS, and a password does not go without",
            ));
        }
        session.log_in(&offers, credentials).await?;
    }
    session
        .expect(Some(&format!("MAIL FROM:<{from}>")), 250)
        .await?;
    session
        .expect(Some(&format!("RCPT TO:<{to}>")), 250)
        .await?;
    session.expect(Some("DATA"), 354).await?;
    // A line with only a dot ends the message, so leading dots are doubled. None of our lines
    // begins with a dot, but the protocol requires it.
    let stuffed = message.write().replace("\r\n.", "\r\n..");
    session
        .expect(Some(&format!("{stuffed}\r\n.")), 250)
        .await?;
    // The server has accepted the message. The result of QUIT does not matter.
    let _farewell = session.expect(Some("QUIT"), 221).await;
    Ok(())
}

impl Session {
    fn new(stream: Box<dyn Stream>) -> Self {
        Self(BufReader::new(stream))
    }

    async fn encrypted(stream: Box<dyn Stream>, server: &Server) -> Result<Self, Failure> {
        let name = ServerName::try_from(server.host.clone())
            .map_err(|error| Failure::passing(error.to_string()))?;
        let config = tls().map_err(|error| Failure::passing(error.to_string()))?;
        let stream = TlsConnector::from(Arc::new(config))
            .connect(name, stream)
            .await?;
        Ok(Self::new(Box::new(stream)))
    }

    /// Continues under TLS. Fails when the server has sent cleartext in advance.
    async fn encrypt(self, server: &Server) -> Result<Self, Failure> {
        if !self.0.buffer().is_empty() {
            return Err(Failure::passing("the server spoke before TLS began"));
        }
        Self::encrypted(self.0.into_inner(), server).await
    }

    /// Sends EHLO and returns the extensions. A server that knows only HELO has none (RFC 5321,
    /// section 3.2).
    async fn hello(&mut self, name: &str) -> Result<Reply, Failure> {
        match self.expect(Some(&format!("EHLO {name}")), 250).await {
            Err(refused) if refused.is_final => {
                let mut reply = self.command(&format!("HELO {name}"), 250).await?;
                reply.lines.clear();
                Ok(reply)
            }
            reply => reply,
        }
    }

    /// Authenticates with a mechanism that the server offers.
    async fn log_in(
        &mut self,
        offers: &Reply,
        (user, password): &(String, String),
    ) -> Result<(), Failure> {
        let parameters = offers.parameters("AUTH");
        let offers_method = |method: &str| {
            parameters
                .iter()
                .any(|offered| offered.eq_ignore_ascii_case(method))
        };
        if offers_method("PLAIN") {
            let token = STANDARD.encode(format!("\0{user}\0{password}"));
            self.command(&format!("AUTH PLAIN {token}"), 235).await?;
        } else if offers_method("LOGIN") {
            self.command("AUTH LOGIN", 334).await?;
            self.command(&STANDARD.encode(user), 334).await?;
            self.command(&STANDARD.encode(password), 235).await?;
        } else {
            return Err(Failure::passing(
                "the server takes no password by AUTH PLAIN or LOGIN",
            ));
        }
        Ok(())
    }

    /// Same as [`expect`](Self::expect) for commands before the message. Their refusal is not
    /// permanent.
    async fn command(&mut self, line: &str, code: u16) -> Result<Reply, Failure> {
        let reply = self.expect(Some(line), code).await;
        reply.map_err(Failure::into_passing)
    }

    /// Sends a line, if any, and reads the reply, which must have this code.
    async fn expect(&mut self, line: Option<&str>, code: u16) -> Result<Reply, Failure> {
        if let Some(line) = line {
            self.0.write_all(format!("{line}\r\n").as_bytes()).await?;
            self.0.flush().await?;
        }
        let reply = self.reply().await?;
        if reply.code == code || (code == 250 && reply.code == 251) {
            return Ok(reply);
        }
        // These are about how we log in (RFC 4954, 6). The message is as good as before.
        let is_about_login = matches!(reply.code, 530 | 534 | 535 | 538);
        Err(Failure {
            is_final: (500..600).contains(&reply.code) && !is_about_login,
            text: format!(
                "the server answered {} {}",
                reply.code,
                reply.lines.join(" ")
            ),
        })
    }

    async fn reply(&mut self) -> Result<Reply, Failure> {
        let mut lines = Vec::new();
        let mut limited = (&mut self.0).take(REPLY_MAX);
        loop {
            let mut line = Vec::new();
            if limited.read_until(b'\n', &mut line).await? == 0 {
                return Err(Failure::passing("the server ended the conversation"));
            }
            // The text may have any encoding, and only the code counts. No database stores NUL.
            let line = String::from_utf8_lossy(&line).replace(char::is_control, "");
            let code = line.get(..3).and_then(|code| code.parse().ok());
            let code: u16 =
                code.ok_or_else(|| Failure::passing("what the server says is no SMTP"))?;
            lines.push(line.get(4..).unwrap_or_default().to_owned());
            if line.as_bytes().get(3) != Some(&b'-') {
                return Ok(Reply { code, lines });
            }
        }
    }
}

impl Reply {
    /// Whether the server announced the extension.
    fn offers(&self, extension: &str) -> bool {
        let first_word = |line: &String| line.split([' ', '=']).next().map(str::to_owned);
        self.lines
            .iter()
            .filter_map(first_word)
            .any(|word| word.eq_ignore_ascii_case(extension))
    }

    /// The parameters of an extension.
    fn parameters(&self, extension: &str) -> Vec<&str> {
        let lines = self.lines.iter().map(|line| line.split([' ', '=']));
        let parameters = lines.filter_map(|mut words| {
            let is_it = words.next()?.eq_ignore_ascii_case(extension);
            is_it.then_some(words)
        });
        parameters.flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use db::Timestamp;
    use tokio::net::TcpListener;

    use super::*;
    use crate::mail::Sender;

    /// Sends a mail to a server that replies with `answers`, the greeting first, whatever it
    /// receives.
    async fn answered(answers: &[&[u8]]) -> Result<(), Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("smtp://{}", listener.local_addr().unwrap());
        let server = Server::parse(&address).unwrap();
        let serve = async {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = BufReader::new(stream);
            for answer in answers {
                stream.write_all(answer).await.unwrap();
                stream.read_line(&mut String::new()).await.unwrap();
            }
        };
        let from = Sender {
            name: String::new(),
            address: "shop@example.com".to_owned(),
        };
        let message = MailMessage {
            from: &from,
            to: "ana@example.com",
            subject: "Arroz",
            plain: "",
            html: "",
            date: Timestamp::from_micros(0),
            id: "mail-1",
        };
        let ((), sent) = tokio::join!(serve, send(&server, message));
        sent
    }

    #[tokio::test]
    async fn a_mail_is_kept_while_the_server_refuses_our_login_and_given_up_when_it_refuses_the_mail()
     {
        for (answer, is_final) in [
            ("530 5.7.0 Authentication required", false),
            ("535 5.7.8 Bad credentials", false),
            ("550 5.7.1 Sender refused", true),
        ] {
            let answer = format!("{answer}\r\n");
            let answers = [b"220 x\r\n", b"250 x\r\n", answer.as_bytes()];
            let failure = answered(&answers).await.unwrap_err();
            assert_eq!(failure.is_final, is_final, "{}", failure.text);
        }
    }

    #[tokio::test]
    async fn what_comes_ahead_of_tls_is_no_answer_under_it() {
        let failure = answered(&[
            b"220 mail.example\r\n",
            b"250-mail.example\r\n250 starttls\r\n",
            b"220 go on\r\n250 mail.example\r\n",
        ])
        .await
        .unwrap_err();
        assert_eq!(failure.text, "the server spoke before TLS began");
        assert!(!failure.is_final);
    }

    #[tokio::test]
    async fn a_reply_counts_by_its_code_whatever_bytes_its_text_has() {
        let begin: [&[u8]; 3] = [b"220 Ol\xe1\r\n", b"250 x\r\n", b"250 x\r\n"];
        let refused = [&begin[..], &[b"550 N\xe3o\0\x1b[2J\r\n"]].concat();
        let failure = answered(&refused).await.unwrap_err();
        assert_eq!(failure.text, "the server answered 550 N\u{fffd}o[2J");
        assert!(failure.is_final);
        let accepted: [&[u8]; 3] = [b"250 x\r\n", b"354 x\r\n", b"250 Aceit\xe1vel\r\n"];
        assert!(answered(&[&begin[..], &accepted].concat()).await.is_ok());
    }
}
