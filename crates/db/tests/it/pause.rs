//! A job that pauses where its test wants it to, until it is told to continue.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
    mpsc::{Receiver, Sender, channel},
};

/// The job's end.
pub(crate) struct Pause {
    reached: Mutex<Sender<()>>,
    go_on: Mutex<Receiver<()>>,
    was_here: AtomicBool,
}

/// The test's end.
pub(crate) struct Paused {
    reached: Receiver<()>,
    go_on: Sender<()>,
}

/// Both ends of a pause.
pub(crate) fn pause() -> (Pause, Paused) {
    let (tell, reached) = channel();
    let (go_on, wait) = channel();
    let pause = Pause {
        reached: Mutex::new(tell),
        go_on: Mutex::new(wait),
        was_here: AtomicBool::new(false),
    };
    (pause, Paused { reached, go_on })
}

impl Pause {
    /// Pauses here.
    pub(crate) fn here(&self) {
        self.reached.lock().unwrap().send(()).unwrap();
        self.go_on.lock().unwrap().recv().unwrap();
    }

    /// Pauses here, unless the job is run again.
    pub(crate) fn here_once(&self) {
        if !self.was_here.swap(true, Ordering::SeqCst) {
            self.here();
        }
    }
}

impl Paused {
    /// Waits until the job pauses.
    pub(crate) fn reached(&self) {
        tokio::task::block_in_place(|| self.reached.recv().unwrap());
    }

    /// Continues the job.
    pub(crate) fn go_on(&self) {
        self.go_on.send(()).unwrap();
    }
}
