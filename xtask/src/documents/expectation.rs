//! Whether a command printed what a document shows, where the document may leave things open.

/// Returns whether the output is the expected one; blanks at line ends and at the very end do not count.
pub(super) fn fits(expected: &str, output: &str) -> bool {
    let lines =
        |text: &'_ str| text.trim_end().lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>();
    lines_fit(&lines(expected), &lines(output))
}

fn lines_fit(expected: &[String], output: &[String]) -> bool {
    match expected.split_first() {
        None => output.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=output.len()).any(|skipped| lines_fit(rest, &output[skipped..]))
        }
        Some((first, rest)) => match output.split_first() {
            Some((line, others)) => line_fits(first, line) && lines_fit(rest, others),
            None => false,
        },
    }
}

fn line_fits(expected: &str, line: &str) -> bool {
    let expected = expected.replace("[..]", "…");
    let mut parts = expected.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_fits_itself_and_what_is_left_open() {
        for (expected, output) in [
            ("", ""),
            ("a\nb\n", "a\nb\n\n"),
            ("took … s", "took 1.5 s"),
            ("[..] steps in …", "3 steps in 2 files"),
            ("a\n…\nz", "a\nz"),
            ("a\n…\nz", "a\nb\nc\nz"),
            ("…", ""),
            ("[..]", "one line"),
        ] {
            assert!(fits(expected, output), "{expected:?} {output:?}");
        }
    }

    #[test]
    fn text_that_differs_does_not_fit() {
        for (expected, output) in [
            ("", "a"),
            ("a", ""),
            ("a", "ab"),
            ("a…ba", "aba a"),
            ("took … s", "took 1.5 m"),
            ("ab…bc", "abc"),
            ("a\n…\nz", "a\nb"),
            ("[..]", "two\nlines"),
            ("  a", "a"),
        ] {
            assert!(!fits(expected, output), "{expected:?} {output:?}");
        }
    }
}
