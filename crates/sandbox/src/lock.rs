//! Locking.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks even if an earlier holder panicked. Every change is complete before the lock is released.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
