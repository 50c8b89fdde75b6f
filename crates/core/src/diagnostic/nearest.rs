//! The known word that somebody most likely meant.

/// Words longer than this are not compared: nobody mistypes a paragraph.
const LONGEST: usize = 64;
/// At most this many known words are compared, so that a hostile file cannot make a message expensive.
const MOST: usize = 2_000;

/// Returns the known word nearest to `word`, if one is near enough to be meant.
///
/// The first one wins among equals, so the answer does not depend on anything but the arguments.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_lowercase();
    let allowed = match word.chars().count() {
        0 => return None,
        1..=3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    known
        .into_iter()
        .take(MOST)
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            *distance <= allowed && *distance < candidate.chars().count().max(lower.chars().count())
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
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
}
