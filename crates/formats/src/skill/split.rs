//! Where the frontmatter of a skill begins and ends, to the letter of the library that other clients use.

/// What stands at the top of a file.
pub(super) enum Split<'a> {
    /// No frontmatter.
    None,
    /// Frontmatter in some language that the first line names.
    Language(&'a str),
    /// Frontmatter.
    Found {
        /// The text between the fences, with the rest of the first line and the end of the last one.
        matter: &'a str,
        /// Where it starts.
        offset: usize,
        /// Everything after the line of the closing fence.
        body: &'a str,
    },
}

/// Takes a text without its byte-order mark apart.
///
/// Three dashes and no fourth open the frontmatter; `\n---` closes it, whatever follows on that line. Without a closing
/// fence everything is frontmatter.
pub(super) fn split(text: &str) -> Split<'_> {
    let Some(rest) = text.strip_prefix("---") else { return Split::None };
    if rest.starts_with('-') {
        return Split::None;
    }
    let first_line = match rest.find('\n') {
        Some(end) => rest[..end].strip_suffix('\r').unwrap_or(&rest[..end]),
        None => rest,
    };
    let language = first_line.trim_matches(is_blank);
    if !language.is_empty() {
        return Split::Language(language);
    }
    match rest.find("\n---") {
        None => Split::Found { matter: rest, offset: 3, body: "" },
        Some(close) => {
            let body = &rest[close + 4..];
            let body = body.strip_prefix('\r').unwrap_or(body);
            let body = body.strip_prefix('\n').unwrap_or(body);
            // The fence takes the line break before it, and the last block of lines keeps it.
            let end = if rest[..close].ends_with(['\n', '\r']) { close } else { close + 1 };
            Split::Found { matter: &rest[..end], offset: 3, body }
        }
    }
}

/// Returns whether JavaScript takes a character for white space, which is not quite what Unicode does.
pub(super) fn is_blank(character: char) -> bool {
    character == '\u{feff}' || (character.is_whitespace() && character != '\u{85}')
}
