//! QR codes as images: PNG in base64 for the payments API, and SVG for pages.
//!
//! The caller supplies the content. A pix QR code contains a [BR Code](crate::br_code).

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use qrcodegen::{Mask, QrCode, QrCodeEcc, QrSegment, Version};

/// The width of the light border in modules (ISO/IEC 18004 requires four).
const QUIET_ZONE: i32 = 4;
/// The minimum width in pixels, so that a camera can read the image from a screen.
const SMALLEST_WIDTH: usize = 240;

/// The text is too long for a QR code of medium error correction (2331 bytes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("text is too long for a QR code")]
pub struct QrError;

/// A PNG image in base64 (without a `data:` prefix): black on white, whole pixels per module, at
/// least 240 pixels wide with its quiet zone.
///
/// # Errors
/// When the text is too long for a QR code.
pub fn png_base64(text: &str) -> Result<String, QrError> {
    let squares = Squares::of(text)?;
    Ok(STANDARD.encode(squares.png().ok_or(QrError)?))
}

/// An SVG image with its quiet zone, one unit per module, without inline style.
///
/// # Errors
/// When the text is too long for a QR code.
pub fn svg(text: &str) -> Result<String, QrError> {
    let squares = Squares::of(text)?;
    let width = squares.width;
    let mut path = String::new();
    for y in 0..width {
        for x in 0..width {
            if squares.is_dark(x, y) {
                // Writing into a String cannot fail.
                let _ = write!(path, "M{x} {y}h1v1h-1z");
            }
        }
    }
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {width}\" shape-rendering=\"crispEdges\">\
         <path fill=\"#fff\" d=\"M0 0h{width}v{width}H0z\"/><path fill=\"#000\" d=\"{path}\"/></svg>"
    ))
}

/// The modules of a code with its quiet zone.
struct Squares {
    dark: Vec<bool>,
    width: usize,
}

impl Squares {
    fn of(text: &str) -> Result<Self, QrError> {
        // Every mask is readable. Choosing the best one would take most of the time, and the
        // sandbox creates thousands of codes a second.
        let code = QrCode::encode_segments_advanced(
            &QrSegment::make_segments(text),
            QrCodeEcc::Medium,
            Version::MIN,
            Version::MAX,
            Some(Mask::new(0)),
            false,
        )
        .map_err(|_| QrError)?;
        // Positions outside the code are light.
        let places = -QUIET_ZONE..code.size() + QUIET_ZONE;
        let dark: Vec<bool> = places
            .clone()
            .flat_map(|y| places.clone().map(move |x| (x, y)))
            .map(|(x, y)| code.get_module(x, y))
            .collect();
        let width = places.count();
        Ok(Self { dark, width })
    }

    fn is_dark(&self, x: usize, y: usize) -> bool {
        self.dark.get(y * self.width + x).copied().unwrap_or(false)
    }

    fn png(&self) -> Option<Vec<u8>> {
        let scale = SMALLEST_WIDTH.div_ceil(self.width);
        let pixels = self.width * scale;
        let side = u32::try_from(pixels).ok()?;
        let mut rows = Vec::with_capacity(pixels * pixels.div_ceil(8));
        for y in 0..self.width {
            let row = self.row(y, scale);
            for _ in 0..scale {
                rows.extend_from_slice(&row);
            }
        }
        let mut image = Vec::with_capacity(4096);
        let mut encoder = png::Encoder::new(&mut image, side, side);
        encoder.set_color(png::ColorType::Grayscale);
        encoder.set_depth(png::BitDepth::One);
        encoder.set_compression(png::Compression::Fastest);
        // Rows repeat, so their differences are mostly zeros.
        encoder.set_filter(png::Filter::Up);
        encoder.write_header().ok()?.write_image_data(&rows).ok()?;
        Some(image)
    }

    /// One row of pixels, one bit per pixel, 1 for white.
    fn row(&self, y: usize, scale: usize) -> Vec<u8> {
        let modules = self.dark.iter().skip(y * self.width).take(self.width);
        let mut row = Vec::with_capacity((self.width * scale).div_ceil(8));
        // Pixels are collected here until there are eight, the latest in the lowest bit.
        let (mut waiting, mut count) = (0_u64, 0);
        for dark in modules {
            let pixels = if *dark { 0 } else { (1 << scale) - 1 };
            waiting = (waiting << scale) | pixels;
            count += scale;
            while count >= 8 {
                count -= 8;
                row.extend(u8::try_from((waiting >> count) & 0xFF));
            }
        }
        if count > 0 {
            row.extend(u8::try_from((waiting << (8 - count)) & 0xFF));
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D";

    /// The width and the pixels of the image, true for white.
    fn decoded(text: &str) -> (usize, Vec<bool>) {
        let file = STANDARD.decode(png_base64(text).unwrap()).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file))
            .read_info()
            .unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut bytes).unwrap();
        let width = usize::try_from(frame.width).unwrap();
        assert_eq!(
            (frame.width, frame.bit_depth),
            (frame.height, png::BitDepth::One)
        );
        let bits = bytes[..frame.buffer_size()]
            .chunks(frame.line_size)
            .flat_map(|row| (0..width).map(|x| row[x / 8] & (0x80 >> (x % 8)) != 0))
            .collect();
        (width, bits)
    }

    #[test]
    fn the_png_is_legible_and_shows_exactly_the_modules() {
        let squares = Squares::of(TEXT).unwrap();
        let (width, white) = decoded(TEXT);
        assert!(
            width >= SMALLEST_WIDTH && width.is_multiple_of(squares.width),
            "{width}"
        );
        let scale = width / squares.width;
        for (place, is_white) in white.iter().enumerate() {
            let (x, y) = (place % width / scale, place / width / scale);
            assert_ne!(*is_white, squares.is_dark(x, y), "{x} {y}");
        }
    }

    #[test]
    fn a_scanner_reads_the_text_back() {
        for text in [TEXT, "x", &"https://pix.example.com/".repeat(20)] {
            let (width, white) = decoded(text);
            let grey = |x: usize, y: usize| if white[y * width + x] { 255 } else { 0 };
            let mut image = rqrr::PreparedImage::prepare_from_greyscale(width, width, grey);
            let grids = image.detect_grids();
            assert_eq!(grids.first().unwrap().decode().unwrap().1, text);
        }
    }

    #[test]
    fn the_base64_starts_as_every_png_does_and_stays_small() {
        let image = png_base64(TEXT).unwrap();
        assert!(image.starts_with("iVBORw0KGgo"));
        assert!(image.len() < 6_000, "{}", image.len());
    }

    #[test]
    fn the_quiet_zone_is_white_and_the_finder_dark() {
        let squares = Squares::of(TEXT).unwrap();
        for place in 0..squares.width {
            for edge in 0..4 {
                assert!(!squares.is_dark(place, edge) && !squares.is_dark(edge, place));
                let far = squares.width - 1 - edge;
                assert!(!squares.is_dark(place, far) && !squares.is_dark(far, place));
            }
        }
        assert!((0..7).all(|x| squares.is_dark(4 + x, 4)));
    }

    #[test]
    fn the_svg_draws_every_dark_module_once() {
        let squares = Squares::of(TEXT).unwrap();
        let dark = squares.dark.iter().filter(|dark| **dark).count();
        let image = svg(TEXT).unwrap();
        assert_eq!(image.matches("h1v1").count(), dark);
        assert!(!image.contains("style"));
    }

    #[test]
    fn a_text_that_no_code_can_hold_is_refused() {
        assert_eq!(png_base64(&"x".repeat(3_000)), Err(QrError));
        assert_eq!(svg(&"x".repeat(3_000)), Err(QrError));
    }
}
