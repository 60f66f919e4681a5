//! A job that stands still where its test wants it to, until it is told to go on.

use std::sync::{
    Mutex,
    mpsc::{Receiver, Sender, channel},
};

/// The job's end.
pub(crate) struct Pause {
    reached: Mutex<Sender<()>>,
    go_on: Mutex<Receiver<()>>,
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
    };
    (pause, Paused { reached, go_on })
}

impl Pause {
    /// Stands still here.
    pub(crate) fn here(&self) {
        self.reached.lock().unwrap().send(()).unwrap();
        self.go_on.lock().unwrap().recv().unwrap();
    }
}

impl Paused {
    /// Waits until the job stands still.
    pub(crate) fn reached(&self) {
        tokio::task::block_in_place(|| self.reached.recv().unwrap());
    }

    /// Lets the job go on.
    pub(crate) fn go_on(&self) {
        self.go_on.send(()).unwrap();
    }
}
