//! The script as one flat sequence, so that looking ahead never minds where a piece ends.

use super::Piece;

/// One byte of text, or a placeholder.
///
/// Everything that means something to a shell is ASCII, so bytes do; a byte of a longer character is an
/// ordinary part of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Symbol {
    /// A byte of the author's text.
    Byte(u8),
    /// A placeholder whose value travels in the environment.
    Value,
    /// A placeholder that is inserted as text.
    Raw,
    /// Past the last symbol.
    End,
}

/// Returns all symbols of a script.
pub(super) fn symbols(pieces: &[Piece<'_>]) -> Vec<Symbol> {
    let length = |piece: &Piece<'_>| if let Piece::Text(text) = piece { text.len() } else { 1 };
    let mut symbols = Vec::with_capacity(pieces.iter().map(length).sum());
    for piece in pieces {
        match piece {
            Piece::Text(text) => symbols.extend(text.bytes().map(Symbol::Byte)),
            Piece::Placeholder { raw: false } => symbols.push(Symbol::Value),
            Piece::Placeholder { raw: true } => symbols.push(Symbol::Raw),
        }
    }
    symbols
}

/// Returns whether a byte can begin the name of a variable.
pub(super) fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Returns whether a byte can continue the name of a variable.
pub(super) fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns whether a text is the name of a variable.
pub(super) fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(|first| begins_name(*first)) && text.iter().all(|byte| continues_name(*byte))
}
