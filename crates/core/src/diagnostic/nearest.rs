//! The known word that somebody most likely meant.

/// Words longer than this are not compared: nobody mistypes a paragraph.
const LONGEST: usize = 64;
/// How many known words are looked at.
const MOST: usize = 2_000;
/// How many pairs of letters are compared in all, so that a hostile file cannot make a message expensive.
const MOST_PAIRS: usize = 100_000;

/// Returns the known word nearest to `word`, if one is near enough to be meant.
///
/// The first one wins among equals, so the answer does not depend on anything but the arguments.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_lowercase();
    let length = lower.chars().count();
    let allowed = match length {
        0 => return None,
        1..=3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    let letters = Letters::of(&lower);
    let mut pairs = 0;
    known
        .into_iter()
        .take(MOST)
        .filter(|candidate| candidate.len() <= LONGEST)
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let other_length = other.chars().count();
            // Cheap to know, and true of nearly all words: they differ too much to be compared.
            if length.abs_diff(other_length) > allowed || letters.apart(&Letters::of(&other)) > 2 * allowed {
                return None;
            }
            pairs += length * other_length;
            if pairs > MOST_PAIRS {
                return None;
            }
            let distance = strsim::damerau_levenshtein(&lower, &other);
            (distance <= allowed && distance < length.max(other_length)).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How often each letter occurs in a word: one edit changes at most two counts by one.
struct Letters([u8; 32]);

impl Letters {
    fn of(word: &str) -> Self {
        let mut counts = [0_u8; 32];
        for character in word.chars() {
            let slot = &mut counts[character as usize % 32];
            *slot = slot.saturating_add(1);
        }
        Self(counts)
    }

    fn apart(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).map(|(one, other)| usize::from(one.abs_diff(*other))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_word_and_a_stranger_finds_none() {
        let known = ["approve", "deploy", "build", "id"];
        assert_eq!(nearest("aprove", known), Some("approve"));
        assert_eq!(nearest("DEPLOY", known), Some("deploy"));
        assert_eq!(nearest("idd", known), Some("id"));
        assert_eq!(nearest("x", known), None);
        assert_eq!(nearest("something-else", known), None);
        assert_eq!(nearest("", known), None);
    }

    #[test]
    fn a_word_is_found_among_thousands() {
        let known: Vec<String> = (0..2_000).map(|index| format!("step-{index:05}")).collect();
        let known = known.iter().map(String::as_str).chain(["deploy"]);
        assert_eq!(nearest("deplyo", known.rev()), Some("deploy"));
    }
}
