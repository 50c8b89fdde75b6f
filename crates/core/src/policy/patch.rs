//! Which files a patch text touches.

/// The lines with which patches name files.
const MARKERS: &[&str] =
    &["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "*** Rename to: "];

/// Adds the files that a patch names; returns whether all of them are known.
///
/// A text that is no patch names none. A line that begins like a marker and is none of the known ones may name a
/// file in a way that is not understood.
pub(super) fn paths(text: &str, found: &mut Vec<String>) -> bool {
    let mut known = true;
    for line in text.lines() {
        let line = line.trim_start();
        if let Some(path) = MARKERS.iter().find_map(|marker| line.strip_prefix(marker)) {
            found.push(path.trim().to_owned());
        } else if let Some(path) = line.strip_prefix("+++ ").or_else(|| line.strip_prefix("--- ")) {
            let path = path.split('\t').next().unwrap_or(path).trim();
            if path != "/dev/null" {
                let stripped = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/"));
                found.push(path.to_owned());
                found.extend(stripped.map(str::to_owned));
            }
        } else if let Some(path) =
            line.strip_prefix("rename to ").or_else(|| line.strip_prefix("rename from "))
        {
            found.push(path.trim().to_owned());
        } else if line.starts_with("*** ") {
            let harmless = ["*** Begin Patch", "*** End Patch", "*** End of File", "*** Environment ID"];
            known &= harmless.iter().any(|harmless| line.starts_with(harmless));
        }
    }
    known
}
