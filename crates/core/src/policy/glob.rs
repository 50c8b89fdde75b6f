//! Texts of which a part is not known, and whether two of them can be the same.

/// Stands for any text at all, in one word.
pub(super) const ANY: char = '\u{10FFFF}';
/// Stands for any text at all that a shell may split into words, or drop.
pub(super) const MANY: char = '\u{10FFFE}';

/// How much of a text is compared; what is longer counts as unknown from there on.
const LONGEST: usize = 4_096;

fn is_wild(character: char) -> bool {
    character == ANY || character == MANY
}

/// Returns whether every part of a text is known.
pub(super) fn is_known(text: &str) -> bool {
    !text.contains(is_wild)
}

/// Returns whether nothing of a text is known.
pub(super) fn is_unknown(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_wild)
}

/// Returns whether two texts, of which parts are unknown, can be the same.
pub(super) fn can_be(left: &str, right: &str) -> bool {
    let (left, right) = (bounded(left), bounded(right));
    // Row by row: `reached[j]` says whether what was read of `left` can be the first `j` of `right`.
    let mut reached = vec![false; right.len() + 1];
    reached[0] = true;
    spread(&mut reached, &right);
    for character in left {
        let mut next = vec![false; right.len() + 1];
        if is_wild(character) {
            let first = reached.iter().position(|reached| *reached).unwrap_or(right.len() + 1);
            next.iter_mut().skip(first).for_each(|next| *next = true);
        } else {
            for (at, wanted) in right.iter().enumerate() {
                if reached[at] {
                    next[at] |= is_wild(*wanted);
                    next[at + 1] |= *wanted == character;
                }
            }
        }
        spread(&mut next, &right);
        if !next.contains(&true) {
            return false;
        }
        reached = next;
    }
    reached[right.len()]
}

/// A wild part may be nothing at all.
fn spread(reached: &mut [bool], right: &[char]) {
    for at in 0..right.len() {
        if reached[at] && is_wild(right[at]) {
            reached[at + 1] = true;
        }
    }
}

fn bounded(text: &str) -> Vec<char> {
    let mut characters: Vec<char> = text.chars().take(LONGEST + 1).collect();
    if characters.len() > LONGEST {
        characters.truncate(LONGEST);
        characters.push(ANY);
    }
    characters
}

/// Returns a glob of a definition, in which `*` stands for any text.
pub(super) fn glob(text: &str) -> String {
    text.replace('*', &ANY.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_parts_can_be_anything() {
        for (left, right, expected) in [
            ("git push", "git push", true),
            ("git push", "git pull", false),
            ("*", "git push", true),
            ("git *", "* push", true),
            ("./dep*.sh", "./deploy.sh", true),
            ("./dep*.py", "./deploy.sh", false),
            ("a*b*c", "abc", true),
            ("a*b*c", "acb", false),
            ("*x", "y*", true),
            ("x*", "y*", false),
            ("", "*", true),
            ("", "a", false),
            ("**", "", true),
        ] {
            assert_eq!(can_be(&glob(left), &glob(right)), expected, "{left} {right}");
            assert_eq!(can_be(&glob(right), &glob(left)), expected, "{right} {left}");
        }
        let long = "a".repeat(10_000);
        assert!(can_be(&long, &format!("{long}b")), "what is not compared counts as unknown");
    }
}
