//! The lines of a stream, put together from pieces and bounded.

/// The longest line that is read: a result of a tool can be long, and one that is longer says nothing that is needed here.
const LONGEST: usize = 32 * 1024 * 1024;

/// Puts lines together.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pending: Vec<u8>,
    /// Whether the line that comes is too long, and what is left of it is left out.
    skipping: bool,
}

impl Lines {
    /// Takes bytes in and returns the lines that are whole now.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut lines = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let ends = piece.ends_with(b"\n");
            if !self.skipping {
                self.pending.extend_from_slice(piece);
                self.skipping = self.pending.len() > LONGEST;
            }
            if self.skipping {
                self.pending = Vec::new();
            }
            if ends {
                let line = std::mem::take(&mut self.pending);
                if !std::mem::take(&mut self.skipping) && !line.trim_ascii().is_empty() {
                    lines.push(line);
                }
            }
        }
        lines
    }

    /// Returns what came without an end of line.
    pub(crate) fn rest(&mut self) -> Option<Vec<u8>> {
        let rest = std::mem::take(&mut self.pending);
        (!rest.trim_ascii().is_empty()).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_come() {
        let mut lines = Lines::default();
        assert_eq!(lines.take(b"{\"a"), Vec::<Vec<u8>>::new());
        assert_eq!(lines.take(b"\":1}\n\n{}\nr"), [b"{\"a\":1}\n".to_vec(), b"{}\n".to_vec()]);
        assert_eq!(lines.rest(), Some(b"r".to_vec()));
        assert_eq!(lines.rest(), None);
    }

    #[test]
    fn a_line_without_end_takes_no_memory_and_spoils_no_other() {
        let mut lines = Lines::default();
        for _ in 0..40 {
            assert!(lines.take(&vec![b'x'; 1 << 20]).is_empty());
            assert!(lines.pending.len() <= LONGEST);
        }
        assert_eq!(lines.take(b"end\n{}\n"), [b"{}\n".to_vec()]);
    }
}
