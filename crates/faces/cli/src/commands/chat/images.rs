//! `--image FILE`: pictures that a model is shown with the first message.
//!
//! What a file is is told by its first bytes. Everything is looked at before anything is said, so that a wrong file costs
//! no question.
#![expect(clippy::disallowed_methods, reason = "`--image` names a file to read")]

use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::model::{Image, Part};
use abide_core::turn::PICTURE_BYTES;
use std::fs::File;
use std::io::{Error, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

/// How many pictures a message takes.
const MOST: usize = 8;

/// Reads the pictures that were given.
pub(super) fn given(session: &Session<'_>, files: &[PathBuf]) -> Result<Vec<Part>, Failure> {
    if files.len() > MOST {
        let what = format!("{} pictures are given, and a message takes {MOST}", files.len());
        return Err(Failure::new(Exit::Usage, what).help("leave some out, or make one picture of several"));
    }
    let mut together = 0;
    let mut images = Vec::new();
    for file in files {
        let image = image(&session.place.start.join(file), &file.display().to_string())?;
        together += image.bytes.len();
        images.push(Part::Image(image));
    }
    if together > PICTURE_BYTES {
        let what =
            format!("the pictures have {together} bytes together, and a message takes {PICTURE_BYTES}");
        return Err(Failure::new(Exit::Usage, what).help("make them smaller, or leave some out"));
    }
    Ok(images)
}

fn image(path: &Path, shown: &str) -> Result<Image, Failure> {
    let bytes = bytes(path).map_err(|error| {
        let exit = if error.kind() == ErrorKind::NotFound { Exit::NotFound } else { Exit::System };
        Failure::new(exit, format!("cannot read the picture {shown}: {error}"))
            .help("`--image` takes a file that can be read")
    })?;
    let most = Image::MOST_BYTES;
    if bytes.len() > most {
        let what = format!("the picture {shown} has more than {most} bytes, which is the most");
        return Err(
            Failure::new(Exit::Usage, what).help("make it smaller; models see no more in a larger one")
        );
    }
    Image::of(bytes).ok_or_else(|| {
        let what = format!("{shown} is no picture that models take, by its first bytes");
        Failure::new(Exit::Usage, what)
            .help("PNG, JPEG, GIF and WebP can be shown; the agent reads a text itself")
    })
}

/// Reads a file, and no more of it than tells that it is too large.
fn bytes(path: &Path) -> Result<Vec<u8>, Error> {
    // Looked at first: opening a pipe would wait for somebody to write into it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is no file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(Image::MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
