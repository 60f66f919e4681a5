//! The content type of a file, by its extension: the few kinds that pages are made of.

/// The content type for a name, and whether the content is worth compressing.
pub(super) fn of(name: &str) -> (&'static str, bool) {
    match name.rsplit('.').next().unwrap_or_default() {
        "css" => ("text/css; charset=utf-8", true),
        "js" | "mjs" => ("text/javascript; charset=utf-8", true),
        "html" => ("text/html; charset=utf-8", true),
        "svg" => ("image/svg+xml", true),
        "json" | "map" => ("application/json", true),
        "webmanifest" => ("application/manifest+json", true),
        "txt" | "md" => ("text/plain; charset=utf-8", true),
        "xml" => ("application/xml", true),
        "wasm" => ("application/wasm", true),
        "png" => ("image/png", false),
        "jpg" | "jpeg" => ("image/jpeg", false),
        "webp" => ("image/webp", false),
        "avif" => ("image/avif", false),
        "gif" => ("image/gif", false),
        "ico" => ("image/x-icon", false),
        "woff2" => ("font/woff2", false),
        "pdf" => ("application/pdf", false),
        _ => ("application/octet-stream", false),
    }
}
