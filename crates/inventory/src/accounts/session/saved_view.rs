//! The saved views of a user, which are loaded with the session of every page.

/// A saved view: a list with its filters and order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedView {
    /// The view's id.
    pub id: i64,
    /// The name that the user gave it.
    pub name: String,
    /// The list's path and query.
    pub address: String,
}

impl SavedView {
    /// Parses a view of the session's column: id, address and name, separated by spaces.
    fn parse(text: &str) -> Option<Self> {
        let (id, rest) = text.split_once(' ')?;
        let (address, name) = rest.split_once(' ')?;
        Some(Self {
            id: id.parse().ok()?,
            name: name.to_owned(),
            address: address.to_owned(),
        })
    }

    pub(crate) fn path(&self) -> &str {
        self.address.split('?').next().unwrap_or_default()
    }
}

/// Parses the session's column. The views are sorted by name.
pub(super) fn all_of(column: Option<&str>) -> Vec<SavedView> {
    let views = column.unwrap_or_default().split('\u{1f}');
    let mut views: Vec<_> = views.filter_map(SavedView::parse).collect();
    views.sort_by_cached_key(|view| (db::fold(&view.name), view.id));
    views
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_read_from_the_sessions_column_in_the_order_of_their_names() {
        let column = "7 /products/?search=ch%C3%A1 Chá verde\u{1f}3 /inflows/?product=1 ácido";
        let read = all_of(Some(column));
        let names: Vec<_> = read.iter().map(|view| view.name.as_str()).collect();
        assert_eq!(names, ["ácido", "Chá verde"]);
        assert_eq!((read[1].id, read[1].path()), (7, "/products/"));
        assert_eq!(read[1].address, "/products/?search=ch%C3%A1");
        assert!(all_of(None).is_empty());
    }
}
