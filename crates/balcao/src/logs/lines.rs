//! Lines of many threads to one place, without waiting for each other. Whoever logs while nobody writes is the one who writes,
//! and goes on with what the others leave meanwhile, in one call to the operating system; they go on with their work.
//! Lines that may wait are left to a thread that writes those of some milliseconds in one call.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Bytes that may wait for a place that takes none, such as a full pipe. Above that whoever logs waits as well.
const MOST_WAITING: usize = 256 * 1024;
/// How long lines gather that may wait. A process that is killed loses those.
const GATHERING: Duration = Duration::from_millis(5);

/// Lines on their way to `W`. What one call of [`Write::write`] brings stays together.
pub(super) struct Lines<W> {
    state: Mutex<State<W>>,
    /// Told when a writer has taken what waited, if anybody waits for that.
    taken: Condvar,
    /// Told when a line was left to the thread that writes behind, if it waits for one.
    left: Condvar,
}

struct State<W> {
    waiting: Vec<u8>,
    /// Whether a line among them may not wait.
    is_urgent: bool,
    /// The place, while nobody writes to it.
    place: Option<W>,
    /// How many wait for [`Lines::taken`].
    patient: usize,
    behind: Behind,
}

/// The thread that writes behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// There is none: no line may wait.
    Nobody,
    /// It has nothing to do until it is told.
    Asleep,
    /// It looks again soon.
    Awake,
}

impl<W: Write> Lines<W> {
    pub(super) fn new(place: W) -> Self {
        Self {
            state: Mutex::new(State {
                waiting: Vec::new(),
                is_urgent: false,
                place: Some(place),
                patient: 0,
                behind: Behind::Nobody,
            }),
            taken: Condvar::new(),
            left: Condvar::new(),
        }
    }

    /// Writes a line, or leaves it for some milliseconds to the thread that writes behind, if there is one.
    ///
    /// # Errors
    /// Those of the place, when the line was written.
    pub(super) fn write_soon(&self, line: &[u8]) -> io::Result<()> {
        let mut state = self.with_room_for(line);
        state.waiting.extend_from_slice(line);
        if state.behind != Behind::Nobody && state.waiting.len() <= MOST_WAITING {
            if mem::replace(&mut state.behind, Behind::Awake) == Behind::Asleep {
                self.left.notify_one();
            }
            return Ok(());
        }
        self.write_out(state)
    }

    /// Waits until every line that was left here has been written.
    pub(super) fn finish(&self) {
        let state = self.wait_while(|state| state.place.is_none());
        // What the place refuses now, it has refused before.
        let _refused = self.write_out(state);
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

    fn with_room_for(&self, line: &[u8]) -> MutexGuard<'_, State<W>> {
        self.wait_while(|state| {
            state.place.is_none() && state.waiting.len() + line.len() > MOST_WAITING
        })
    }

    /// Writes what waits, and what comes meanwhile and may not wait. Where somebody does so already it is left to them. What the place
    /// refuses is lost; what comes after that is tried.
    fn write_out<'a>(&'a self, mut state: MutexGuard<'a, State<W>>) -> io::Result<()> {
        state.is_urgent = !state.waiting.is_empty();
        let Some(mut place) = state.place.take() else {
            return Ok(());
        };
        let mut written = Ok(());
        let mut lines = Vec::new();
        while mem::take(&mut state.is_urgent) {
            lines.clear();
            mem::swap(&mut lines, &mut state.waiting);
            self.tell_taken(&state);
            drop(state);
            written = place.write_all(&lines).and(written);
            state = self.lock();
        }
        state.place = Some(place);
        self.tell_taken(&state);
        written
    }

    fn tell_taken(&self, state: &State<W>) {
        if state.patient > 0 {
            self.taken.notify_all();
        }
    }
}

impl<W: Write + Send + 'static> Lines<W> {
    /// Starts the thread that writes behind, for as long as the process runs. Without it no line waits.
    pub(super) fn write_behind(self: &Arc<Self>) {
        let lines = Arc::clone(self);
        let work = move || {
            let mut state = lines.lock();
            loop {
                while state.waiting.is_empty() {
                    state.behind = Behind::Asleep;
                    state = lines
                        .left
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                // Whoever logs would be told what the place refuses, and could do no more about it.
                let _refused = lines.write_out(state);
                // Nobody tells a thread that is awake, so this takes its time.
                let gathered = lines.left.wait_timeout(lines.lock(), GATHERING);
                state = gathered.unwrap_or_else(PoisonError::into_inner).0;
            }
        };
        self.lock().behind = Behind::Awake;
        let started = thread::Builder::new().name("log".to_owned()).spawn(work);
        if started.is_err() {
            self.lock().behind = Behind::Nobody;
        }
    }
}

impl<W: Write> Write for &Lines<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut state = self.with_room_for(line);
        state.waiting.extend_from_slice(line);
        self.write_out(state)?;
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

    #[test]
    fn what_may_wait_is_written_soon_or_with_the_next_line_that_may_not() {
        let (reader, writer) = io::pipe().unwrap();
        let mut written = io::BufRead::lines(io::BufReader::new(reader));
        let mut next = || written.next().unwrap().unwrap();
        let lines = Arc::new(Lines::new(writer));
        lines.write_soon(b"nobody writes behind\n").unwrap();
        assert_eq!(next(), "nobody writes behind");
        lines.write_behind();
        for round in 0..3 {
            lines
                .write_soon(format!("waits {round}\n").as_bytes())
                .unwrap();
            assert_eq!(next(), format!("waits {round}"));
        }
        lines.write_soon(b"one\n").unwrap();
        (&*lines).write_all(b"two\n").unwrap();
        let state = lines.lock();
        assert!(state.waiting.is_empty() || state.place.is_none());
        drop(state);
        assert_eq!((next(), next()), ("one".to_owned(), "two".to_owned()));
        lines.write_soon(b"the last\n").unwrap();
        lines.finish();
        assert!(lines.lock().waiting.is_empty());
        assert_eq!(next(), "the last");
    }
}
