//! What a process has written, as much of it as is kept.

/// How much of an output a failure quotes.
const QUOTED: usize = 2_000;

/// The beginning of an output.
pub(crate) struct Captured {
    pub(crate) bytes: Vec<u8>,
    /// Whether there was more.
    pub(crate) more: bool,
    most: usize,
}

impl Captured {
    /// Makes one that keeps so many bytes.
    pub(crate) fn of(most: usize) -> Self {
        Self { bytes: Vec::new(), more: false, most }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        let room = self.most - self.bytes.len();
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.more |= bytes.len() > room;
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Returns the end of what is kept, where programs say why they failed.
    pub(crate) fn tail(&self) -> String {
        let from = self.bytes.len().saturating_sub(QUOTED);
        String::from_utf8_lossy(&self.bytes[from..]).into_owned()
    }
}
