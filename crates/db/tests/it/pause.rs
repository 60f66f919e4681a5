//! A job that pauses at one point until its test resumes it.

use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
    mpsc::{Receiver, Sender, channel},
};

/// The side of the job.
pub(crate) struct Pause {
    reached: Mutex<Sender<()>>,
    go_on: Mutex<Receiver<()>>,
    was_here: AtomicBool,
}

/// The side of the test.
pub(crate) struct Paused {
    reached: Receiver<()>,
    go_on: Sender<()>,
}

/// Both sides of a pause.
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

    /// Pauses here, but not when the job is run again.
    pub(crate) fn here_once(&self) {
        if !self.was_here.swap(true, Ordering::SeqCst) {
            self.here();
        }
    }
}

impl Paused {
    /// Waits until the job has paused.
    pub(crate) fn reached(&self) {
        tokio::task::block_in_place(|| self.reached.recv().unwrap());
    }

    /// Resumes the job.
    pub(crate) fn go_on(&self) {
        self.go_on.send(()).unwrap();
    }
}
