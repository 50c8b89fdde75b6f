//! The usual ways in which a secret is written.
//!
//! Each way gives patterns; those that are too short to be told from ordinary text are left out. A way that changes
//! nothing about a secret gives the secret itself, which is removed as a duplicate.

use std::fmt::Write;

/// The shortest pattern; an encoding never shortens a secret below this, but a part of one may be shorter.
const SHORTEST: usize = 4;

/// The shortest line of a secret of several lines, and piece of a wrapped encoding, that is a pattern by itself.
const SHORTEST_PART: usize = 8;

/// Where programs wrap base64: `base64` and MIME, and PEM.
const WIDTHS: [usize; 2] = [76, 64];

/// Returns the patterns of a secret, itself among them.
pub(super) fn of(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut patterns = vec![secret.to_vec()];
    let lines = secret.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    patterns.extend(lines.filter(|line| line.len() >= SHORTEST_PART).map(<[u8]>::to_vec));
    patterns.extend([hexadecimal(secret, "0123456789abcdef"), hexadecimal(secret, "0123456789ABCDEF")]);
    for symbols in ["+/", "-_"] {
        patterns.extend(base64(secret, symbols));
    }
    for kept in ["-._~", "-._~!'()*", "-._~!'()*;,/?:@&=+$#", "*-._ "] {
        for digits in ["0123456789ABCDEF", "0123456789abcdef"] {
            patterns.push(percent(secret, kept, digits));
        }
    }
    if let Ok(text) = std::str::from_utf8(secret) {
        for (ascii, slash) in [(false, false), (true, false), (false, true), (true, true)] {
            patterns.push(json(text, ascii, slash));
        }
    }
    patterns.extend(shell(secret));
    patterns.retain(|pattern| pattern.len() >= SHORTEST);
    patterns
}

fn hexadecimal(secret: &[u8], digits: &str) -> Vec<u8> {
    let digits = digits.as_bytes();
    secret.iter().flat_map(|byte| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]).collect()
}

/// Returns what a secret looks like in base64 after zero, one and two other bytes.
///
/// A character that also stands for bits of a neighbour is not known; at the end of the data there is no neighbour,
/// so the last character and the padding are known too.
fn base64(secret: &[u8], symbols: &str) -> Vec<Vec<u8>> {
    let mut patterns = Vec::new();
    for before in 0..3 {
        let mut data = vec![0; before];
        data.extend_from_slice(secret);
        let characters = base64_characters(&data, symbols);
        let first = (before * 8).div_ceil(6);
        let whole = data.len() * 8 / 6;
        patterns.push(characters[first..whole].to_vec());
        patterns.push(characters[first..].to_vec());
        if whole < characters.len() {
            let mut padded = characters[first..].to_vec();
            while !(padded.len() + first).is_multiple_of(4) {
                padded.push(b'=');
            }
            patterns.push(padded);
        }
        if before == 0 {
            for width in WIDTHS.into_iter().filter(|&width| characters.len() > width) {
                let lines = characters.chunks(width).filter(|line| line.len() >= SHORTEST_PART);
                patterns.extend(lines.map(<[u8]>::to_vec));
            }
        }
    }
    patterns
}

fn base64_characters(data: &[u8], symbols: &str) -> Vec<u8> {
    let alphabet: Vec<u8> =
        (b'A'..=b'Z').chain(b'a'..=b'z').chain(b'0'..=b'9').chain(symbols.bytes()).collect();
    data.chunks(3)
        .flat_map(|three| {
            let bits = three.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte))
                << (8 * (3 - three.len()));
            [18, 12, 6, 0].into_iter().take(three.len() + 1).map(move |shift| bits >> shift & 63)
        })
        .map(|index| alphabet[index])
        .collect()
}

/// Writes as in a URL. Where a space is kept, it is a form: there it is written as `+`.
fn percent(secret: &[u8], kept: &str, digits: &str) -> Vec<u8> {
    let digits = digits.as_bytes();
    let mut written = Vec::with_capacity(secret.len());
    for &byte in secret {
        match byte {
            b' ' if kept.contains(' ') => written.push(b'+'),
            _ if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) => written.push(byte),
            _ => written.extend([b'%', digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]),
        }
    }
    written
}

/// Writes the inside of a JSON string, `/` and what is not ASCII escaped or not.
fn json(secret: &str, ascii: bool, slash: bool) -> Vec<u8> {
    let mut written = String::with_capacity(secret.len());
    for character in secret.chars() {
        match character {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '/' if slash => written.push_str("\\/"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            '\u{8}' => written.push_str("\\b"),
            '\u{c}' => written.push_str("\\f"),
            _ if character < ' ' || (ascii && !character.is_ascii()) => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(written, "\\u{unit:04x}");
                }
            }
            _ => written.push(character),
        }
    }
    written.into_bytes()
}

/// Writes the inside of each kind of quotes that shells know, as `set -x`, `export -p` and `printf %q` do.
fn shell(secret: &[u8]) -> Vec<Vec<u8>> {
    let escaped = |special: &dyn Fn(u8) -> Option<Vec<u8>>| {
        secret.iter().flat_map(|&byte| special(byte).unwrap_or_else(|| vec![byte])).collect::<Vec<u8>>()
    };
    let backslash = |byte: u8| Some(vec![b'\\', byte]);
    vec![
        escaped(&|byte| (byte == b'\'').then(|| b"'\\''".to_vec())),
        escaped(&|byte| (byte == b'\'').then(|| b"'\"'\"'".to_vec())),
        escaped(&|byte| b"\"\\$`".contains(&byte).then(|| vec![b'\\', byte])),
        escaped(&|byte| match byte {
            b'%' | b'+' | b'-' | b'.' | b'/' | b':' | b'=' | b'@' | b'_' => None,
            _ if byte.is_ascii_alphanumeric() || !byte.is_ascii() => None,
            _ => backslash(byte),
        }),
        escaped(&|byte| match byte {
            b'\n' => Some(b"\\n".to_vec()),
            b'\t' => Some(b"\\t".to_vec()),
            b'\r' => Some(b"\\r".to_vec()),
            0x1b => Some(b"\\E".to_vec()),
            b'\'' | b'\\' => backslash(byte),
            _ if !(b' '..0x7f).contains(&byte) => Some(format!("\\{byte:03o}").into_bytes()),
            _ => None,
        }),
    ]
}
