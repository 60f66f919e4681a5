//! The output of a running program, line by line.

use std::io::{BufRead as _, BufReader, Read};
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tokio::sync::watch;

/// How long a start, a stop or an awaited line may take before the test fails. It ends what hangs
/// and measures nothing: the machine may be busy.
pub(crate) const DEADLINE: Duration = Duration::from_secs(5 * 60);

/// Lines as they come from both streams. `count` is their number, and [`Lines::ENDED`] once both
/// streams ended.
#[derive(Clone, Debug)]
pub(crate) struct Lines {
    printed: Arc<Mutex<Vec<String>>>,
    open: Arc<Mutex<usize>>,
    count: watch::Sender<usize>,
}

impl Lines {
    const ENDED: usize = usize::MAX;

    /// Those of a process whose streams are piped.
    pub(crate) fn of(child: &mut Child) -> Self {
        let lines = Self {
            printed: Arc::default(),
            open: Arc::new(Mutex::new(2)),
            count: watch::Sender::new(0),
        };
        lines.follow(child.stdout.take().expect("a piped stdout"));
        lines.follow(child.stderr.take().expect("a piped stderr"));
        lines
    }

    fn follow(&self, stream: impl Read + Send + 'static) {
        let output = self.clone();
        thread::spawn(move || {
            let mut reader = BufReader::new(stream);
            let mut line = Vec::new();
            while reader
                .read_until(b'\n', &mut line)
                .is_ok_and(|length| length > 0)
            {
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                line.clear();
                let mut lines = output.printed.lock().expect("the lines");
                lines.push(text);
                let count = lines.len();
                drop(lines);
                output.count.send_replace(count);
            }
            let mut open = output.open.lock().expect("the open streams");
            *open -= 1;
            if *open == 0 {
                output.count.send_replace(Self::ENDED);
            }
        });
    }

    /// Waits for a line and returns it; lines already printed count. `looked_for` says in the panic
    /// what did not come.
    pub(crate) async fn wait_for(&self, wanted: impl Fn(&str) -> bool, looked_for: &str) -> String {
        let mut count = self.count.subscribe();
        let mut seen = 0;
        let found = tokio::time::timeout(DEADLINE, async {
            loop {
                let closed = *count.borrow_and_update() == Self::ENDED;
                {
                    let lines = self.printed.lock().expect("the lines");
                    if let Some(line) = lines.iter().skip(seen).find(|line| wanted(line)) {
                        return Some(line.clone());
                    }
                    seen = lines.len();
                }
                if closed || count.changed().await.is_err() {
                    return None;
                }
            }
        })
        .await;
        let Ok(found) = found else {
            panic!(
                "no sign of {looked_for} in {DEADLINE:?}; the program said:\n{}",
                self.joined()
            )
        };
        found.unwrap_or_else(|| {
            panic!(
                "the program ended before {looked_for}; it said:\n{}",
                self.joined()
            )
        })
    }

    /// Waits until both streams have ended. Returns whether they have within the deadline.
    pub(crate) async fn have_ended(&self) -> bool {
        let mut count = self.count.subscribe();
        let ended = count.wait_for(|count| *count == Self::ENDED);
        tokio::time::timeout(DEADLINE, ended).await.is_ok()
    }

    /// Everything printed so far, both streams together.
    pub(crate) fn joined(&self) -> String {
        self.printed.lock().expect("the lines").join("\n")
    }
}
