//! Whose trace something is part of: what the header `traceparent` of W3C Trace Context says.

use std::fmt;

/// The span of a caller, in which something of ours happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TraceParent {
    /// The trace; never 0.
    pub trace: u128,
    /// The caller's span; never 0.
    pub span: u64,
    /// Whether the caller keeps its own spans of the trace.
    pub sampled: bool,
}

impl TraceParent {
    /// Reads the header: `00-TRACE-SPAN-FLAGS`. What a later version adds at the end is left out, as the standard asks.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let (version, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let version = hexadecimal(version, 2)?;
        if version == 0xff || (version == 0 && parts.next().is_some()) {
            return None;
        }
        let trace = hexadecimal(trace, 32).filter(|trace| *trace != 0)?;
        let span = hexadecimal(span, 16).filter(|span| *span != 0)?;
        let flags = hexadecimal(flags, 2)?;
        Some(Self { trace, span: u64::try_from(span).ok()?, sampled: flags & 1 == 1 })
    }
}

fn hexadecimal(text: &str, digits: usize) -> Option<u128> {
    let fits = text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    fits.then(|| u128::from_str_radix(text, 16).ok())?
}

impl fmt::Display for TraceParent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, u8::from(self.sampled))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_as_it_was_read_and_nonsense_is_none() {
        let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let read = TraceParent::parse(header).unwrap();
        assert_eq!((read.to_string().as_str(), read.sampled), (header, true));
        // Flags and parts that a later version may add say nothing to us.
        let later =
            TraceParent::parse("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-02-more").unwrap();
        assert_eq!(later, TraceParent { sampled: false, ..read });
        for nonsense in [
            "",
            "00",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-+af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        ] {
            assert_eq!(TraceParent::parse(nonsense), None, "{nonsense}");
        }
    }
}
