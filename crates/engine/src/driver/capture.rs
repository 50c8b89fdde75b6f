//! What is kept of an output in memory: its beginning and its end, whatever comes in between.

use abide_core::event::Output;
use std::collections::VecDeque;

/// How much of each end is kept.
const KEPT: usize = 128 * 1024;

/// Collects an output within bounds.
#[derive(Debug, Default)]
pub(super) struct Capture {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
}

impl Capture {
    /// Takes what came.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = KEPT.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..room]);
        let rest = &bytes[room..];
        let rest = &rest[rest.len().saturating_sub(KEPT)..];
        self.tail.extend(rest);
        let over = self.tail.len().saturating_sub(KEPT);
        self.tail.drain(..over);
    }

    /// Returns what was kept, as text.
    pub(super) fn finish(mut self) -> Output {
        let kept = self.head.len() + self.tail.len();
        let left_out = self.total - kept as u64;
        if left_out == 0 {
            self.head.extend(self.tail);
            return Output { text: lossy(&self.head), bytes: self.total, cut: false };
        }
        let tail: Vec<u8> = self.tail.into();
        let text = format!("{}\n… {left_out} bytes left out …\n{}", lossy(&self.head), lossy(&tail));
        Output { text, bytes: self.total, cut: true }
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_kept_whatever_the_chunks() {
        let bytes: Vec<u8> =
            (0..1_000_000_u32).flat_map(|number| (number % 10).to_string().into_bytes()).collect();
        let whole = |chunk: usize| {
            let mut capture = Capture::default();
            bytes.chunks(chunk).for_each(|chunk| capture.take(chunk));
            capture.finish()
        };
        let one = whole(7);
        assert_eq!(one, whole(300_000));
        assert!(one.cut && one.bytes == 1_000_000);
        assert!(one.text.contains("… 737856 bytes left out …"), "{}", one.text.len());
        let mut small = Capture::default();
        small.take("grüße".as_bytes());
        assert_eq!(small.finish(), Output::whole("grüße"));
    }
}
