//! What an unquoted word of frontmatter is: the types of YAML 1.1 as far as the other clients know them.
//!
//! They differ from those of abide's own files (`crate::yaml`): `010` is octal, `1:30` is a number, `2024-01-01` a date.
//! A skill whose `name` is one of these is no skill to them, so it must be none here.

use super::data::{Data, Text};

/// Returns what a plain scalar is, and whether it is the key of a merge.
pub(super) fn plain(text: Text<'_>) -> (Data<'_>, bool) {
    if is_null(&text) {
        return (Data::Null, false);
    }
    if let Some(value) = boolean(&text) {
        return (Data::Bool(value), false);
    }
    if let Some(value) = integer(&text).or_else(|| float(&text)) {
        return (Data::Number(value), false);
    }
    if is_timestamp(&text) {
        return (Data::Date(text), false);
    }
    let merges = &*text == "<<";
    (Data::Text(text), merges)
}

pub(super) fn is_null(text: &str) -> bool {
    matches!(text, "~" | "null" | "Null" | "NULL")
}

pub(super) fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Splits off a sign.
fn signed(text: &str) -> (f64, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (-1.0, &text[1..]),
        Some(b'+') => (1.0, &text[1..]),
        _ => (1.0, text),
    }
}

fn digits_in(text: &str, base: u32) -> Option<f64> {
    if text.ends_with('_') {
        return None;
    }
    let mut value = 0.0;
    let mut any = false;
    for digit in text.chars().filter(|character| *character != '_') {
        value = value * f64::from(base) + f64::from(digit.to_digit(base)?);
        any = true;
    }
    any.then_some(value)
}

pub(super) fn integer(text: &str) -> Option<f64> {
    let (sign, rest) = signed(text);
    if rest == "0" {
        return Some(0.0);
    }
    let value = if let Some(rest) = rest.strip_prefix("0b") {
        digits_in(rest, 2)
    } else if let Some(rest) = rest.strip_prefix("0x") {
        digits_in(rest, 16)
    } else if let Some(rest) = rest.strip_prefix('0') {
        digits_in(rest, 8)
    } else if rest.starts_with('_') {
        None
    } else {
        match rest.split_once(':') {
            None => digits_in(rest, 10),
            Some((first, _)) if first.is_empty() || first.bytes().all(|byte| byte == b'_') => None,
            Some((first, sixties)) => {
                let first: String = first.chars().filter(|character| *character != '_').collect();
                let mut value = digits_in(&first, 10)?;
                for part in sixties.split(':') {
                    value = value * 60.0 + sixtieth(part)?;
                }
                Some(value)
            }
        }
    };
    value.map(|value| sign * value)
}

/// Reads one or two digits below sixty.
fn sixtieth(text: &str) -> Option<f64> {
    let fits = matches!(text.len(), 1 | 2) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|value| fits && *value < 60.0)
}

pub(super) fn float(text: &str) -> Option<f64> {
    if text.ends_with('_') {
        return None;
    }
    let (sign, rest) = signed(text);
    match rest {
        ".inf" | ".Inf" | ".INF" => return Some(sign * f64::INFINITY),
        // A sign before it makes it a word.
        ".nan" | ".NaN" | ".NAN" if rest.len() == text.len() => return Some(f64::NAN),
        _ => {}
    }
    if rest.contains(':') {
        let (sixties, fraction) = rest.split_once('.')?;
        let mut parts = sixties.split(':');
        let first = parts.next()?;
        if !first.starts_with(|first: char| first.is_ascii_digit()) || !has_only_digits(fraction) {
            return None;
        }
        let mut value = digits_in(&first.replace('_', ""), 10)?;
        let mut last = 0.0;
        for part in parts {
            last = sixtieth(part)?;
            value = value * 60.0 + last;
        }
        let fraction = format!("{last}.{}", fraction.replace('_', ""));
        return Some(sign * (value - last + fraction.parse::<f64>().ok()?));
    }
    let (mantissa, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    if let Some(exponent) = exponent {
        let (_, digits) = signed(exponent);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
    }
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    if fraction.is_some_and(|fraction| !has_only_digits(fraction)) {
        return None;
    }
    let fits = if whole.is_empty() {
        // `.5` takes no sign.
        rest.len() == text.len() && fraction.is_some_and(|fraction| !fraction.is_empty())
    } else {
        whole == "0"
            || (whole.starts_with(|first: char| ('1'..='9').contains(&first)) && has_only_digits(whole))
    };
    if !fits {
        return None;
    }
    let plain: String = rest.chars().filter(|character| *character != '_').collect();
    // `._` has no digit, and is a number that is none.
    Some(sign * plain.parse::<f64>().unwrap_or(f64::NAN))
}

fn has_only_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
}

/// Tells whether a text is `2024-01-31` or `2024-1-31T9:30:00.5 +02:00`.
pub(super) fn is_timestamp(text: &str) -> bool {
    timestamp(text).is_some()
}

fn timestamp(text: &str) -> Option<()> {
    let mut rest = text;
    number(&mut rest, 4, 4)?;
    literal(&mut rest, '-')?;
    let short = rest;
    if number(&mut rest, 2, 2)
        .and_then(|()| literal(&mut rest, '-'))
        .and_then(|()| number(&mut rest, 2, 2))
        .is_some()
        && rest.is_empty()
    {
        return Some(());
    }
    rest = short;
    number(&mut rest, 1, 2)?;
    literal(&mut rest, '-')?;
    number(&mut rest, 1, 2)?;
    let blanks = rest.trim_start_matches([' ', '\t']);
    if blanks.len() == rest.len() {
        literal(&mut rest, 'T').or_else(|| literal(&mut rest, 't'))?;
    } else {
        rest = blanks;
    }
    number(&mut rest, 1, 2)?;
    literal(&mut rest, ':')?;
    number(&mut rest, 2, 2)?;
    literal(&mut rest, ':')?;
    number(&mut rest, 2, 2)?;
    if literal(&mut rest, '.').is_some() {
        rest = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    }
    if rest.is_empty() {
        return Some(());
    }
    rest = rest.trim_start_matches([' ', '\t']);
    if rest == "Z" {
        return Some(());
    }
    literal(&mut rest, '+').or_else(|| literal(&mut rest, '-'))?;
    number(&mut rest, 1, 2)?;
    if !rest.is_empty() {
        literal(&mut rest, ':')?;
        number(&mut rest, 2, 2)?;
    }
    rest.is_empty().then_some(())
}

/// Takes as many digits as there are, up to `most`.
fn number(rest: &mut &str, least: usize, most: usize) -> Option<()> {
    let count = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    *rest = rest.get(count..)?;
    (count >= least).then_some(())
}

fn literal(rest: &mut &str, wanted: char) -> Option<()> {
    *rest = rest.strip_prefix(wanted)?;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_what_the_other_clients_take_them_for() {
        let kind = |text: &str| match plain(Text::Written(text)).0 {
            Data::Null => "null".to_owned(),
            Data::Bool(value) => value.to_string(),
            Data::Number(value) => format!("{value}"),
            Data::Date(_) => "date".to_owned(),
            _ => "text".to_owned(),
        };
        for (text, expected) in [
            ("~", "null"),
            ("yes", "text"),
            ("TRUE", "true"),
            ("010", "8"),
            ("018", "text"),
            ("0x1F", "31"),
            ("0b11", "3"),
            ("1_000", "1000"),
            ("1_", "text"),
            ("1:30", "90"),
            ("1:99", "text"),
            ("1:30.5", "90.5"),
            ("1.0", "1"),
            ("1.0.0", "text"),
            (".5", "0.5"),
            ("-.5", "text"),
            ("1e3", "1000"),
            ("1e", "text"),
            ("-.inf", "-inf"),
            ("2024-01-01", "date"),
            ("2024-1-1", "text"),
            ("2024-1-1 9:30:00", "date"),
            ("2024-01-01T09:30:00.5Z", "date"),
            ("2024-01-01T09:30:00 +2", "date"),
            ("2024-01-01T09:30", "text"),
            ("v1", "text"),
            ("-", "text"),
            ("+", "text"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
        assert!(plain(Text::Written("<<")).1);
    }
}
