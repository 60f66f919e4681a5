//! The content type of a file, by its extension: the few kinds that pages are made of.

/// The content type for a name, and whether the content is worth compressing.
pub(super) fn of(name: &str) -> (&'static str, bool) {
    match name.rsplit('.').next().unwrap_or_default() {
        "css" => ("text/css; charset=utf-8", true),
        "js" => ("text/javascript; charset=utf-8", true),
        "svg" => ("image/svg+xml", true),
        "txt" => ("text/plain; charset=utf-8", true),
        "png" => ("image/png", false),
        "webp" => ("image/webp", false),
        _ => ("application/octet-stream", false),
    }
}
