//! Bytes → text: what abide accepts as a text file, and the clear refusal of everything else.

use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::source::Span;

/// The largest definition file that abide reads, in bytes.
///
/// An ability of 50,000 steps has about 3 MB; whatever is larger was not written as a definition.
pub const LARGEST_FILE: usize = 8 * 1024 * 1024;

/// Returns the text of a definition file, without a byte-order mark.
pub fn decode(bytes: &[u8]) -> Result<&str, Box<Diagnostic>> {
    if bytes.len() > LARGEST_FILE {
        return Err(Box::new(too_large(bytes.len() as u64)));
    }
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        return Err(Box::new(
            Diagnostic::whole_file(Code::Encoding, "the file is encoded as UTF-16")
                .help("save it as UTF-8; most editors offer that as \"encoding\""),
        ));
    }
    let bytes = bytes.strip_prefix(&[0xEF, 0xBB, 0xBF]).unwrap_or(bytes);
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let offset = error.valid_up_to();
            let message = format!("byte {offset} of the file (0x{:02x}) is not UTF-8", bytes[offset]);
            return Err(Box::new(
                Diagnostic::whole_file(Code::Encoding, message)
                    .help("save it as UTF-8; a definition is a text file"),
            ));
        }
    };
    match text.find('\0') {
        Some(offset) => {
            let at = Span::new(offset, offset + 1);
            Err(Box::new(
                Diagnostic::new(Code::Encoding, at, "the file contains a NUL byte")
                    .help("a definition is a text file; remove the byte or save the file as UTF-8"),
            ))
        }
        None => Ok(text),
    }
}

/// Returns the refusal of a file of `size` bytes.
pub fn too_large(size: u64) -> Diagnostic {
    Diagnostic::whole_file(
        Code::TooLarge,
        format!("the file has {size} bytes; abide reads at most {LARGEST_FILE}"),
    )
    .help("move data out of the definition, or split the ability with `workflow` steps")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_dropped_and_line_ends_are_kept() {
        assert_eq!(decode(b"\xEF\xBB\xBFname: a\r\n").unwrap(), "name: a\r\n");
    }

    #[test]
    fn what_is_not_text_is_refused_with_its_reason() {
        for (bytes, message) in [
            (&b"\xFF\xFEn\0"[..], "the file is encoded as UTF-16"),
            (&b"\xFE\xFF\0n"[..], "the file is encoded as UTF-16"),
            (&b"name: \xC3("[..], "byte 6 of the file (0xc3) is not UTF-8"),
            (&b"name: a\0b"[..], "the file contains a NUL byte"),
        ] {
            assert_eq!(decode(bytes).unwrap_err().message, message);
        }
        let large = vec![b' '; LARGEST_FILE + 1];
        assert_eq!(decode(&large).unwrap_err().code, Code::TooLarge);
    }
}
