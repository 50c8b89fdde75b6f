//! Whether the plugin that asks and this abide understand each other.

/// Returns why a plugin does not fit, in one line; nothing if it does.
///
/// The plugin looks at this, too; but one of another version may not, or may take another answer for a good one.
pub fn misfit(plugin: &str, own: &str) -> Option<String> {
    if fits(plugin, own) {
        return None;
    }
    let plugin: String = plugin.chars().filter(|character| !character.is_control()).take(40).collect();
    Some(format!(
        "abide: the plugin is {plugin} and abide is {own}, so tools are denied; run: abide install opencode"
    ))
}

/// Before 1.0, a minor version may change anything; a patch never does.
fn fits(plugin: &str, own: &str) -> bool {
    let parts = |version: &str| -> Option<(u64, u64)> {
        let mut numbers = version.split('.').map(|part| part.parse::<u64>().ok());
        Some((numbers.next()??, numbers.next()??))
    };
    let (Some(plugin), Some(own)) = (parts(plugin), parts(own)) else { return false };
    plugin.0 == own.0 && (own.0 > 0 || plugin.1 == own.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_of_another_version_is_told_in_one_line() {
        for (plugin, own) in [("0.1.0", "0.1.0"), ("0.1.9", "0.1.0"), ("1.4.0", "1.2.9")] {
            assert_eq!(misfit(plugin, own), None, "{plugin} {own}");
        }
        for (plugin, own) in [
            ("0.2.0", "0.1.0"),
            ("1.0.0", "0.1.0"),
            ("2.0.0", "1.9.0"),
            ("", "0.1.0"),
            ("new\nline", "0.1.0"),
        ] {
            let line = misfit(plugin, own).unwrap_or_else(|| panic!("{plugin} fits {own}"));
            assert!(!line.contains('\n') && line.ends_with("run: abide install opencode"), "{line}");
        }
    }
}
