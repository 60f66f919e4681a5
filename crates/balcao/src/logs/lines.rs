//! Lines of many threads to one place, without waiting for each other. Whoever logs while nobody writes is the one who writes,
//! and goes on with what the others leave meanwhile, in one call to the operating system; they go on with their work.

use std::io::{self, Write};
use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes that may wait for a place that takes none, such as a full pipe. Above that whoever logs waits as well.
const MOST_WAITING: usize = 256 * 1024;

/// Lines on their way to `W`. What one call of [`Write::write`] brings stays together.
pub(super) struct Lines<W> {
    state: Mutex<State<W>>,
    /// Told when a writer has taken what waited, if anybody waits for that.
    taken: Condvar,
}

struct State<W> {
    waiting: Vec<u8>,
    /// The place, while nobody writes to it.
    place: Option<W>,
    /// How many wait for [`Lines::taken`].
    patient: usize,
}

impl<W: Write> Lines<W> {
    pub(super) fn new(place: W) -> Self {
        Self {
            state: Mutex::new(State {
                waiting: Vec::new(),
                place: Some(place),
                patient: 0,
            }),
            taken: Condvar::new(),
        }
    }

    /// Waits until every line that was left here has been written.
    pub(super) fn finish(&self) {
        drop(self.wait_while(|state| state.place.is_none()));
    }

    /// Nothing panics while the lock is held, so a poisoned one still guards a sound state.
    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, is_so: impl Fn(&State<W>) -> bool) -> MutexGuard<'_, State<W>> {
        let mut state = self.lock();
        while is_so(&state) {
            state.patient += 1;
            state = self
                .taken
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.patient -= 1;
        }
        state
    }

    /// Leaves a line. Gives the place to whoever must write now what waits.
    fn leave(&self, line: &[u8]) -> Option<W> {
        let is_full = |state: &State<W>| {
            state.place.is_none() && state.waiting.len() + line.len() > MOST_WAITING
        };
        let mut state = self.wait_while(is_full);
        state.waiting.extend_from_slice(line);
        state.place.take()
    }

    /// Writes what waits, and what comes meanwhile, and puts the place back. What it refuses is lost; what comes after that is tried.
    fn write_to(&self, mut place: W) -> io::Result<()> {
        let mut written = Ok(());
        let mut lines = Vec::new();
        loop {
            lines.clear();
            let mut state = self.lock();
            mem::swap(&mut lines, &mut state.waiting);
            if state.patient > 0 {
                self.taken.notify_all();
            }
            if lines.is_empty() {
                state.place = Some(place);
                return written;
            }
            drop(state);
            written = place.write_all(&lines).and(written);
        }
    }
}

impl<W: Write> Write for &Lines<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some(place) = self.leave(line) {
            self.write_to(place)?;
        }
        Ok(line.len())
    }

    /// Whoever writes does so at once.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::thread;

    use super::*;

    #[test]
    fn lines_of_many_threads_are_all_written_and_none_is_torn() {
        let (mut reader, writer) = io::pipe().unwrap();
        let lines = Lines::new(writer);
        let reading = thread::spawn(move || {
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            text
        });
        thread::scope(|scope| {
            for name in ["one", "two", "three", "four"] {
                let lines = &lines;
                scope.spawn(move || {
                    for number in 0..1000 {
                        let line = format!("{name} {number}\n");
                        let mut lines = lines;
                        lines.write_all(line.as_bytes()).unwrap();
                    }
                });
            }
        });
        lines.finish();
        drop(lines);
        let text = reading.join().unwrap();
        for name in ["one", "two", "three", "four"] {
            let own = text.lines().filter(|line| line.starts_with(name));
            let expected = (0..1000).map(|number| format!("{name} {number}"));
            assert!(own.eq(expected), "the lines of {name}, in their order");
        }
        assert_eq!(text.lines().count(), 4000);
    }

    /// Takes a line only once it is told to.
    struct Slow(std::sync::mpsc::Receiver<()>, Vec<usize>);

    impl Write for &mut Slow {
        fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
            self.0.recv().map_err(io::Error::other)?;
            self.1.push(lines.len());
            Ok(lines.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn nobody_waits_for_a_slow_place_until_too_much_waits_for_it() {
        let (go_on, told) = std::sync::mpsc::channel();
        let mut place = Slow(told, Vec::new());
        let lines = Lines::new(&mut place);
        let write = |bytes: usize| (&lines).write_all(&vec![b'.'; bytes]).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| write(1));
            while lines.lock().place.is_some() {
                thread::yield_now();
            }
            write(MOST_WAITING - 1);
            write(1);
            let late = scope.spawn(|| write(5));
            while lines.lock().patient == 0 {
                thread::yield_now();
            }
            assert_eq!(lines.lock().waiting.len(), MOST_WAITING);
            assert!(!late.is_finished());
            for _ in 0..3 {
                go_on.send(()).unwrap();
            }
        });
        lines.finish();
        drop(lines);
        assert_eq!(place.1, [1, MOST_WAITING, 5]);
    }
}
