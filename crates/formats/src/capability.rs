//! Capabilities as the API and `--json` show them.

use abide_core::capability::{CapabilityInfo, CapabilityStatus};
use serde_json::{Value, json};

/// Returns what is shown of a capability: the fields of the specification, and `version`, `risk` and `depends_on`; one
/// that cannot be used here says why in `reason`.
pub fn to_json(info: &CapabilityInfo) -> Value {
    let mut shown = json!({
        "id": info.id.as_str(),
        "name": info.name,
        "description": info.description,
        "status": info.status.word(),
        "icon": info.icon,
        "category": info.category,
        "version": info.version,
        "risk": info.risk.word(),
        "depends_on": info.depends_on.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    if let CapabilityStatus::Unavailable { why } = &info.status {
        shown["reason"] = json!(why);
    }
    shown
}

/// Returns a list of capabilities: `items` and `total`.
pub fn list_to_json(infos: &[CapabilityInfo]) -> Value {
    json!({ "items": infos.iter().map(to_json).collect::<Vec<_>>(), "total": infos.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::capability::{CapabilityId, Risk};

    #[test]
    fn a_capability_is_shown_with_the_fields_of_the_specification() {
        let info = CapabilityInfo {
            id: CapabilityId::research(),
            name: "Research".to_owned(),
            description: "Deep research capability with organized scratchpad.".to_owned(),
            status: CapabilityStatus::ComingSoon,
            icon: Some("search".to_owned()),
            category: None,
            version: 1,
            risk: Risk::Medium,
            depends_on: vec![CapabilityId::web_fetch().into()],
        };
        let shown = json!({
            "id": "research", "name": "Research",
            "description": "Deep research capability with organized scratchpad.",
            "status": "coming_soon", "icon": "search", "category": null,
            "version": 1, "risk": "medium", "depends_on": ["web_fetch"]
        });
        assert_eq!(list_to_json(std::slice::from_ref(&info)), json!({ "items": [shown], "total": 1 }));
        let status = CapabilityStatus::Unavailable { why: "no namespaces".to_owned() };
        let shown = to_json(&CapabilityInfo { status, ..info });
        assert_eq!((&shown["status"], &shown["reason"]), (&json!("unavailable"), &json!("no namespaces")));
    }
}
