//! A bounded queue between many tasks and a few database threads.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, PoisonError},
};

use crate::lock_mutex;

/// A bounded first-in-first-out queue. After it is closed, the threads finish what is in it.
pub(crate) struct Queue<T> {
    state: Mutex<QueueState<T>>,
    arrival: Condvar,
    capacity: usize,
}

struct QueueState<T> {
    items: VecDeque<T>,
    idle: usize,
    closed: bool,
}

/// Why an item was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PushError {
    Full,
    Closed,
}

impl<T> Queue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            state: Mutex::new(QueueState {
                items: VecDeque::new(),
                idle: 0,
                closed: false,
            }),
            arrival: Condvar::new(),
            capacity,
        }
    }

    /// Adds an item, at once or not at all.
    pub(crate) fn push(&self, item: T) -> Result<(), PushError> {
        let mut state = lock_mutex(&self.state);
        if state.closed {
            return Err(PushError::Closed);
        }
        if state.items.len() >= self.capacity {
            return Err(PushError::Full);
        }
        state.items.push_back(item);
        let wake = state.idle > 0;
        drop(state);
        if wake {
            self.arrival.notify_one();
        }
        Ok(())
    }

    /// The next item; waits for one. `None` once the queue is closed and empty.
    pub(crate) fn pop(&self) -> Option<T> {
        let mut state = lock_mutex(&self.state);
        loop {
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            if state.closed {
                return None;
            }
            state.idle += 1;
            state = self
                .arrival
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// The next item if there is one already.
    pub(crate) fn pop_now(&self) -> Option<T> {
        lock_mutex(&self.state).items.pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        lock_mutex(&self.state).items.len()
    }

    /// Takes no more items.
    pub(crate) fn close(&self) {
        lock_mutex(&self.state).closed = true;
        self.arrival.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_at_once() {
        let queue = Queue::new(2);
        assert_eq!(queue.push(1), Ok(()));
        assert_eq!(queue.push(2), Ok(()));
        assert_eq!(queue.push(3), Err(PushError::Full));
        assert_eq!(queue.pop(), Some(1));
        assert_eq!(queue.push(3), Ok(()));
        assert_eq!(queue.len(), 2);
    }

    #[test]
    fn a_closed_queue_gives_out_what_it_holds_and_ends() {
        let queue = Queue::new(2);
        assert_eq!(queue.push(1), Ok(()));
        queue.close();
        assert_eq!(queue.push(2), Err(PushError::Closed));
        assert_eq!(queue.pop(), Some(1));
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn every_item_reaches_exactly_one_of_the_waiting_threads() {
        let queue = Queue::new(10_000);
        let sum = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    while let Some(item) = queue.pop() {
                        sum.fetch_add(item, std::sync::atomic::Ordering::Relaxed);
                    }
                });
            }
            for item in 1..=10_000 {
                assert_eq!(queue.push(item), Ok(()));
            }
            queue.close();
        });
        assert_eq!(sum.into_inner(), 50_005_000);
    }
}
