//! What a process wrote, made fit to be kept and shown: secrets masked, bytes made text, length bounded.
//!
//! ```text
//! chunks of bytes ─Masker─▶ bytes without secrets ─Decoder─▶ text ─Capture─▶ head and tail
//!                                                                     └─Matching─▶ whether a pattern occurs
//! ```
//! Each takes what comes in any pieces and gives the same result for all of them, in memory that does not grow with
//! what comes.

mod capture;
mod decode;
mod mask;
mod matching;

pub use capture::{Capture, Captured};
pub use decode::Decoder;
pub use mask::{MASK, Masker, Secret, TooShort};
pub use matching::{Matching, TooLarge};
