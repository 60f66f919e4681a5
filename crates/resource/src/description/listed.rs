//! The lists that show a field.

/// The lists that show a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ListedIn {
    /// No list.
    Nowhere,
    /// The list of the administration.
    ForStaff,
    /// Also the list of the web interface.
    Everywhere,
    /// Both lists; that of the administration can edit it.
    EditedInList,
}
