//! What tells that a database still holds what it held, without asking it for that.

/// The state of a database's contents: as long as two are equal, nothing was committed between them, by whatever process. It says nothing
/// of which of two came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edition(pub(crate) [u8; Self::BYTES]);

impl Edition {
    pub(crate) const BYTES: usize = 48;
}
