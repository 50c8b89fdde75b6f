//! Tests of masking: every way to write a secret, every way to cut the bytes.

use super::*;
use proptest::prelude::*;

fn masker(secrets: &[&str]) -> Masker {
    let secrets: Vec<Secret> = secrets.iter().map(|secret| Secret::new(secret).unwrap()).collect();
    Masker::new(&secrets)
}

fn masked<'a>(secrets: &[&str], pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let (mut masker, mut out) = (masker(secrets), Vec::new());
    for piece in pieces {
        masker.push(piece, &mut out);
        assert!(masker.held.len() < masker.search.as_ref().map_or(1, |search| search.longest));
    }
    masker.finish(&mut out);
    out
}

fn masked_text(secrets: &[&str], text: &str) -> String {
    let whole = masked(secrets, [text.as_bytes()]);
    assert_eq!(masked(secrets, text.as_bytes().chunks(1)), whole);
    String::from_utf8(whole).unwrap()
}

const SECRET: &str = "p4ss/w+rd's \"né\" $x\\y";

#[test]
fn every_way_to_write_it_is_masked() {
    for (way, text) in [
        ("itself", SECRET.to_owned()),
        (
            "hexadecimal",
            "70347373 2f772b72642773".replace(' ', "") + "20226ec3a92220 2478 5c79".replace(' ', "").as_str(),
        ),
        ("JSON", r#"p4ss/w+rd's \"né\" $x\\y"#.to_owned()),
        ("JSON in ASCII", r#"p4ss/w+rd's \"n\u00e9\" $x\\y"#.to_owned()),
        ("JSON of PHP", r#"p4ss\/w+rd's \"n\u00e9\" $x\\y"#.to_owned()),
        ("RFC 3986", "p4ss%2Fw%2Brd%27s%20%22n%C3%A9%22%20%24x%5Cy".to_owned()),
        ("encodeURIComponent", "p4ss%2Fw%2Brd's%20%22n%C3%A9%22%20%24x%5Cy".to_owned()),
        ("encodeURI", "p4ss/w+rd's%20%22n%C3%A9%22%20$x%5Cy".to_owned()),
        ("form, small", "p4ss%2fw%2brd%27s+%22n%c3%a9%22+%24x%5cy".to_owned()),
        ("single quotes", r#"p4ss/w+rd'\''s "né" $x\y"#.to_owned()),
        ("quotes in quotes", r#"p4ss/w+rd'"'"'s "né" $x\y"#.to_owned()),
        ("double quotes", r#"p4ss/w+rd's \"né\" \$x\\y"#.to_owned()),
        ("printf %q", r#"p4ss/w+rd\'s\ \"né\"\ \$x\\y"#.to_owned()),
        ("ANSI-C quotes", r#"p4ss/w+rd\'s "n\303\251" $x\\y"#.to_owned()),
    ] {
        assert_eq!(masked_text(&[SECRET], &format!("<{text}>")), format!("<{MASK}>"), "{way}");
    }
}

#[test]
fn base64_is_masked_at_every_position_and_with_any_end() {
    // printf '%s' hunter2-Z? | base64, and the same after `a` and `ab`, and before `c`.
    for (text, rest) in [
        ("aHVudGVyMi1aPw==", ""),
        ("aHVudGVyMi1aPw", ""),
        ("aHVudGVyMi1aP2M=", "2M="),
        ("YWh1bnRlcjItWj8=", "YW"),
        ("YWJodW50ZXIyLVo/", "YWJ"),
        ("YWJodW50ZXIyLVo_", "YWJ"),
    ] {
        let masked = masked_text(&["hunter2-Z?"], &format!(" {text} "));
        let at_end = text.ends_with(rest) && !rest.is_empty() && !text.starts_with(rest);
        let expected = if at_end { format!(" {MASK}{rest} ") } else { format!(" {rest}{MASK} ") };
        assert_eq!(masked, expected, "{text}");
    }
}

#[test]
fn base64_in_lines_is_masked_line_by_line() {
    let secret = "0123456789".repeat(12);
    let lines = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2\n\
                 Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz\n\
                 NDU2Nzg5\n";
    assert_eq!(masked_text(&[&secret], lines), format!("{MASK}\n{MASK}\n{MASK}\n"));
}

#[test]
fn the_lines_of_a_key_are_masked_by_themselves() {
    let key = "-----BEGIN KEY-----\nMIIEvQIBADAN\nBgkqhkiG9w0B\nAQ==\n-----END KEY-----\n";
    let printed = "  MIIEvQIBADAN\n  BgkqhkiG9w0B\n";
    assert_eq!(masked_text(&[key], printed), format!("  {MASK}\n  {MASK}\n"));
}

#[test]
fn occurrences_that_share_bytes_are_one() {
    assert_eq!(masked_text(&["abab"], "xabababx"), format!("x{MASK}x"));
    assert_eq!(masked_text(&["abcdef", "defghi"], "abcdefghi"), MASK);
    assert_eq!(masked_text(&["abcd", "abcdefgh"], "abcdefgx abcdefgh"), format!("{MASK}efgx {MASK}"));
    assert_eq!(masked_text(&["wxyz"], "wxyzwxyz"), format!("{MASK}{MASK}"));
}

#[test]
fn text_that_cannot_be_a_secret_is_not_held_back() {
    let (mut masker, mut out) = (masker(&["hunter22"]), Vec::new());
    masker.push(b"continue? [y/N] ", &mut out);
    assert_eq!(out, b"continue? [y/N] ");
    masker.push(b"hunt", &mut out);
    assert_eq!(out, b"continue? [y/N] ");
    masker.push(b"ing", &mut out);
    assert_eq!(out, b"continue? [y/N] hunting");
}

#[test]
fn a_secret_that_is_too_short_is_refused() {
    assert_eq!(Secret::new("abc\n"), Err(TooShort { length: 3 }));
    assert_eq!(
        Secret::new("").unwrap_err().to_string(),
        "a secret of 0 bytes is too short to be masked; it needs at least 4"
    );
    assert!(Secret::new("abcd").is_ok());
}

#[test]
fn nothing_is_shown_of_a_secret_by_debug() {
    let secret = Secret::new("hunter22").unwrap();
    assert_eq!(format!("{secret:?} {:?}", Masker::new([&secret])), "••• Masker");
}

#[test]
fn without_secrets_all_passes() {
    assert_eq!(masked_text(&[], "anything"), "anything");
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn pieces<'a>(bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect()
}

proptest! {
    /// Few letters, so that secrets overlap each other and themselves, and text nearly matches.
    #[test]
    fn no_secret_is_left_and_no_cut_matters(
        secrets in proptest::collection::vec("[abc]{4,7}", 1..4),
        noise in proptest::collection::vec("[abc ]{0,12}", 1..6),
        picks in proptest::collection::vec(any::<proptest::sample::Index>(), 6),
        cuts in proptest::collection::vec(0_usize..200, 0..10),
    ) {
        let mut text = String::new();
        for (noise, pick) in noise.iter().zip(&picks) {
            text.push_str(noise);
            text.push_str(&secrets[pick.index(secrets.len())]);
        }
        let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        let whole = masked(&secrets, [text.as_bytes()]);
        prop_assert_eq!(&masked(&secrets, pieces(text.as_bytes(), &cuts)), &whole);
        for secret in secrets {
            prop_assert!(!holds(&whole, secret.as_bytes()));
        }
    }

    #[test]
    fn any_secret_in_any_encoding_is_masked_at_any_cut(
        secret in "\\PC{4,30}",
        before in proptest::collection::vec(any::<u8>(), 0..20),
        pick in any::<proptest::sample::Index>(),
        cuts in proptest::collection::vec(0_usize..400, 0..6),
    ) {
        let Ok(value) = Secret::new(&secret) else { return Ok(()) };
        prop_assume!(!secret.contains('•'));
        let written = pick.get(&encodings::of(&value.0)).clone();
        let mut bytes = before.clone();
        bytes.extend_from_slice(&written);
        bytes.extend_from_slice(b" after");
        let (mut masker, mut out) = (Masker::new([&value]), Vec::new());
        for piece in pieces(&bytes, &cuts) {
            masker.push(piece, &mut out);
        }
        masker.finish(&mut out);
        prop_assert!(!holds(&out, &written));
        prop_assert!(holds(&out, MASK.as_bytes()));
    }

    #[test]
    fn what_holds_no_secret_passes_unchanged(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        cuts in proptest::collection::vec(0_usize..300, 0..8),
    ) {
        let secret = "correct-horse-battery-staple";
        prop_assert_eq!(masked(&[secret], pieces(&bytes, &cuts)), bytes);
    }
}
