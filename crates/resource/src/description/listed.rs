//! Which lists a field is in.

/// Which lists show a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Listed {
    /// None.
    Nowhere,
    /// That of the administration.
    ForStaff,
    /// This and the everyday one.
    Everywhere,
    /// Both, and that of the administration writes it too.
    EditedInList,
}
