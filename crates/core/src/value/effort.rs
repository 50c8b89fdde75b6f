//! What a regular expression costs to check, before anything has been spent on it.
//!
//! A class of Unicode has thousands of characters, and ignoring case visits each of them: `\pL` written a
//! thousand times takes seconds. Matching is linear; it is the reading that has to be bounded.

/// How many classes (`\w`, `\pL`, `[…]`) a regular expression may have.
pub const MOST_CLASSES: usize = 64;

/// The effort that all regular expressions of one file may take together.
pub const MOST_REGEX_EFFORT: usize = 1 << 20;

/// Returns how many classes a regular expression has.
pub fn classes(pattern: &str) -> usize {
    let bytes = pattern.as_bytes();
    let escaped = bytes.windows(2).filter(|pair| {
        pair[0] == b'\\' && matches!(pair[1], b'w' | b'W' | b'd' | b'D' | b's' | b'S' | b'p' | b'P')
    });
    escaped.count() + bytes.iter().filter(|byte| **byte == b'[').count()
}

/// Returns the effort that checking a regular expression takes at worst, in units of about 10 µs.
pub fn regex_effort(pattern: &str) -> usize {
    let ignores_case = pattern.match_indices("(?").any(|(found, _)| {
        pattern[found + 2..].bytes().take_while(u8::is_ascii_alphabetic).any(|flag| flag == b'i')
    });
    let class = if ignores_case { 2_048 } else { 256 };
    // A counted repetition writes out what it repeats.
    let counts = pattern.bytes().filter(|byte| *byte == b'{').count();
    256 + pattern.len() + class * classes(pattern) + 8_192 * counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_people_write_are_cheap() {
        for pattern in
            [r"^v\d+\.\d+\.\d+$", r"deploy\s+to\s+(prod|staging)", r"(?i)\bship (it|this)\b", "^[a-z]+$"]
        {
            assert!(regex_effort(pattern) < MOST_REGEX_EFFORT / 100, "{pattern}");
        }
        assert_eq!(classes(r"(?i)[a-z]\pL\\w"), 3);
    }
}
