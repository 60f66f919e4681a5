//! What tells that a database still holds what it held, without asking it for that.

/// The state of a database's contents: as long as two are equal, nothing was committed between them, by whatever process. It says nothing
/// of which of two came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edition([u8; Self::BYTES]);

impl Edition {
    const BYTES: usize = 96;

    /// What an engine tells editions apart by; `None` when that is too long. What one engine tells never ends in bytes of zero that
    /// only its length would tell apart.
    pub(crate) fn of(told: &[u8]) -> Option<Self> {
        let mut edition = [0; Self::BYTES];
        edition.get_mut(..told.len())?.copy_from_slice(told);
        Some(Self(edition))
    }
}
