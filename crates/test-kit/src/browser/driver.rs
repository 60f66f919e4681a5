//! The WebDriver protocol: a chromedriver of its own on a free port, one session, one request at a
//! time. Knows nothing of pages.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::environment;

/// How long chromedriver and the browser may take to start.
const START: Duration = Duration::from_secs(3 * 60);
/// How often a start is tried: on a busy machine chromedriver gives up a browser that takes a
/// minute to start.
const STARTS: usize = 5;

/// How long one request may take to be answered: a script that looks at every element of a long
/// page, on a busy machine.
const ANSWER: Duration = Duration::from_secs(10 * 60);

/// An error of WebDriver: its code and its message.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: String,
    pub(super) message: String,
}

/// A running chromedriver with one session; both end with this value.
#[derive(Debug)]
pub(super) struct Driver {
    chromedriver: Child,
    address: SocketAddr,
    session: String,
    client: reqwest::Client,
}

impl Driver {
    /// Starts chromedriver and a browser with these capabilities.
    pub(super) async fn start(capabilities: Value) -> Self {
        // Other TLS libraries may have been installed first by the test; either is good for plain
        // HTTP.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut refused = String::new();
        for _ in 0..STARTS {
            match Self::begin(&capabilities).await {
                Ok(driver) => return driver,
                Err(Refusal { code, message }) => refused = format!("{code}: {message}"),
            }
        }
        panic!("no browser: {refused}")
    }

    async fn begin(capabilities: &Value) -> Result<Self, Refusal> {
        let (chromedriver, port) = chromedriver();
        let client = reqwest::Client::builder()
            .no_proxy()
            .timeout(ANSWER)
            .build()
            .expect("an HTTP client");
        let mut driver = Self {
            chromedriver,
            address: SocketAddr::from(([127, 0, 0, 1], port)),
            session: String::new(),
            client,
        };
        let wanted = json!({"capabilities": {"alwaysMatch": capabilities}});
        let session = driver
            .request(Method::POST, "/session", Some(wanted))
            .await?;
        session["sessionId"]
            .as_str()
            .expect("the id of the session")
            .clone_into(&mut driver.session);
        Ok(driver)
    }

    /// Asks for a value of the session; `path` is what follows the session's id.
    pub(super) async fn get(&self, path: &str) -> Result<Value, Refusal> {
        self.in_session(Method::GET, path, None).await
    }

    /// Gives the session a command.
    pub(super) async fn post(&self, path: &str, body: Value) -> Result<Value, Refusal> {
        self.in_session(Method::POST, path, Some(body)).await
    }

    /// Removes something of the session.
    pub(super) async fn delete(&self, path: &str) -> Result<Value, Refusal> {
        self.in_session(Method::DELETE, path, None).await
    }

    /// A command of the Chrome `DevTools` protocol.
    pub(super) async fn devtools(
        &self,
        command: &str,
        parameters: Value,
    ) -> Result<Value, Refusal> {
        self.post(
            "/goog/cdp/execute",
            json!({"cmd": command, "params": parameters}),
        )
        .await
    }

    async fn in_session(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, Refusal> {
        let path = format!("/session/{}{path}", self.session);
        self.request(method, &path, body).await
    }

    async fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, Refusal> {
        let mut request = self
            .client
            .request(method, format!("http://{}{path}", self.address));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = async {
            let response = request.send().await?;
            let is_error = !response.status().is_success();
            Ok::<_, reqwest::Error>((is_error, response.json::<Value>().await?))
        };
        let (is_error, mut answer) = answer
            .await
            .unwrap_or_else(|error| panic!("chromedriver does not answer {path}: {error:?}"));
        let value = answer["value"].take();
        if !is_error {
            return Ok(value);
        }
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        Err(Refusal {
            code: text("error"),
            message: text("message"),
        })
    }

    /// Ends the session, which closes the browser. Blocking and without a runtime, so that it works
    /// in `drop`.
    fn end_session(&self) -> std::io::Result<()> {
        let mut stream = TcpStream::connect_timeout(&self.address, Duration::from_secs(2))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        write!(
            stream,
            "DELETE /session/{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            self.session, self.address
        )?;
        // The answer comes once the browser is gone; chromedriver keeps the connection open after
        // it.
        stream.read(&mut [0; 512]).map(drop)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Without a proper end the browser would outlive chromedriver. Errors change nothing here:
        // what cannot be ended is killed.
        let _ = self.end_session();
        let _ = self.chromedriver.kill();
        let _ = self.chromedriver.wait();
    }
}

/// Path of the browser that chromedriver starts.
pub(super) fn chromium() -> String {
    environment("BALCAO_TEST_CHROMIUM")
        .unwrap_or_else(|| "/usr/lib/chromium/chromium-headless-shell".to_owned())
}

/// Starts chromedriver. It chooses a port that is free for one kind of addresses and ends when it
/// is taken for the other; then another is started.
fn chromedriver() -> (Child, u16) {
    let program =
        environment("BALCAO_TEST_CHROMEDRIVER").unwrap_or_else(|| "chromedriver".to_owned());
    (0..STARTS)
        .find_map(|_| start(&program))
        .unwrap_or_else(|| panic!("{program} was started {STARTS} times and did not say its port"))
}

/// Starts chromedriver on a port that it chooses, and reads the port from what it prints; none when
/// it ends before, or says nothing for long.
fn start(program: &str) -> Option<(Child, u16)> {
    let mut chromedriver = Command::new(program)
        .arg("--port=0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| {
            panic!(
                "{program} does not start: {error}. Run the tests by ./test, which installs the browser, or \
                 install it (Debian: apt-get install chromium-headless-shell chromium-driver); BALCAO_TEST_CHROMEDRIVER and \
                 BALCAO_TEST_CHROMIUM name programs at other places"
            )
        });
    let output = chromedriver.stdout.take().expect("a piped stdout");
    let (found, port) = mpsc::channel();
    // The thread goes on reading to the end, so that chromedriver never waits for a reader.
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if let Some((_, rest)) = line.split_once("started successfully on port ")
                && let Ok(port) = rest.trim_end_matches('.').parse::<u16>()
            {
                let _ = found.send(port);
            }
        }
    });
    let Ok(port) = port.recv_timeout(START) else {
        let _ = chromedriver.kill();
        let _ = chromedriver.wait();
        return None;
    };
    Some((chromedriver, port))
}
