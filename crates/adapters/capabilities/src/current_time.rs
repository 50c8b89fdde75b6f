//! `current_time`: what time it is, anywhere.

use crate::Now;
use crate::function::{About, tool};
use abide_core::capability::{CapabilityId, Risk};
use abide_core::diagnostic::nearest;
use abide_core::event::Timestamp;
use abide_core::policy::ToolKind;
use abide_engine::port::{Beside, Capability, Tool, ToolError, ToolOutput};
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Tells the time in any time zone.
pub struct CurrentTime {
    now: Now,
}

impl CurrentTime {
    /// Makes it with a clock.
    pub fn new(now: Now) -> Self {
        Self { now }
    }
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default = "utc")]
    timezone: String,
    #[serde(default)]
    format: Format,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Iso8601,
    Unix,
    Human,
}

fn utc() -> String {
    "UTC".to_owned()
}

impl Capability for CurrentTime {
    fn id(&self) -> CapabilityId {
        CapabilityId::current_time()
    }

    fn name(&self) -> &'static str {
        "Current Time"
    }

    fn description(&self) -> &'static str {
        "Tool to get current date and time in various formats and timezones."
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let now = Arc::clone(&self.now);
        let about = About {
            name: "get_current_time",
            description: "Returns the current date and time. Use it whenever an answer depends on what time or day \
                          it is now; you cannot know that otherwise.",
            arguments: json!({
                "type": "object",
                "properties": {
                    "timezone": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 64,
                        "default": "UTC",
                        "description": "IANA time zone, e.g. \"UTC\", \"America/New_York\" or \"Asia/Kolkata\"."
                    },
                    "format": {
                        "type": "string",
                        "enum": ["iso8601", "unix", "human"],
                        "default": "iso8601",
                        "description": "iso8601: 2026-03-01T09:30:00+01:00; unix: seconds since 1970; human: words."
                    }
                },
                "additionalProperties": false
            }),
            kind: ToolKind::Read,
            risk: Risk::None,
            beside: Beside::Others,
            examples: vec![
                json!({}),
                json!({ "timezone": "America/New_York", "format": "human" }),
                json!({ "format": "unix" }),
            ],
        };
        vec![tool(about, move |arguments: Arguments, _| {
            let answer = tell(now(), &arguments.timezone, arguments.format);
            async { answer.map(ToolOutput::Json) }
        })]
    }

    fn icon(&self) -> Option<&str> {
        Some("clock")
    }

    fn category(&self) -> Option<&str> {
        Some("Utilities")
    }
}

fn tell(now: Timestamp, zone: &str, format: Format) -> Result<Value, ToolError> {
    let moment = jiff::Timestamp::from_millisecond(now.0)
        .map_err(|error| ToolError::Internal(format!("the clock is out of range: {error}")))?;
    let zone = time_zone(zone)?;
    let name = zone.iana_name().unwrap_or("UTC").to_owned();
    let local = moment.to_zoned(zone);
    let (word, current) = match format {
        Format::Iso8601 => ("iso8601", json!(local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())),
        Format::Unix => ("unix", json!(moment.as_second())),
        Format::Human => ("human", json!(local.strftime("%A, %-d %B %Y, %H:%M:%S %Z (UTC%:z)").to_string())),
    };
    Ok(json!({ "current_time": current, "timezone": name, "format": word }))
}

fn time_zone(name: &str) -> Result<TimeZone, ToolError> {
    // Names are looked up and not opened as paths: the database refuses what is none of its own.
    jiff::tz::db().get(name).map_err(|_| {
        let known: Vec<String> = jiff::tz::db().available().map(|name| name.as_str().to_owned()).collect();
        let hint = match nearest(name, known.iter().map(String::as_str)) {
            Some(meant) => format!("; did you mean `{meant}`?"),
            None => "; use an IANA name such as `Europe/Berlin`".to_owned(),
        };
        ToolError::Failed(format!("there is no time zone `{name}`{hint}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-07-01T12:00:00Z and 2026-01-01T12:00:00Z
    const SUMMER: Timestamp = Timestamp(1_782_907_200_000);
    const WINTER: Timestamp = Timestamp(1_767_268_800_000);

    #[test]
    fn the_time_is_told_in_the_zone_that_was_asked_for_with_its_summer_time() {
        let told = |now, zone| tell(now, zone, Format::Iso8601).unwrap()["current_time"].clone();
        assert_eq!(told(SUMMER, "UTC"), "2026-07-01T12:00:00+00:00");
        assert_eq!(told(SUMMER, "America/New_York"), "2026-07-01T08:00:00-04:00");
        assert_eq!(told(WINTER, "America/New_York"), "2026-01-01T07:00:00-05:00");
        assert_eq!(told(WINTER, "Asia/Kolkata"), "2026-01-01T17:30:00+05:30");
        assert_eq!(told(WINTER, "Pacific/Kiritimati"), "2026-01-02T02:00:00+14:00");
    }

    #[test]
    fn the_time_is_told_as_a_number_or_in_words() {
        assert_eq!(
            tell(SUMMER, "europe/berlin", Format::Unix).unwrap(),
            json!({ "current_time": 1_782_907_200, "timezone": "Europe/Berlin", "format": "unix" })
        );
        assert_eq!(
            tell(SUMMER, "Europe/Berlin", Format::Human).unwrap()["current_time"],
            "Wednesday, 1 July 2026, 14:00:00 CEST (UTC+02:00)"
        );
    }

    #[test]
    fn a_zone_that_does_not_exist_is_an_error_and_no_path() {
        for (zone, tells) in [
            ("America/New_Yrok", "did you mean `America/New_York`"),
            ("../../etc/passwd", "there is no time zone"),
            ("/etc/localtime", "there is no time zone"),
            ("UTC\0", "there is no time zone"),
            ("Middle/Earth", "there is no time zone"),
        ] {
            let error = tell(SUMMER, zone, Format::Unix).unwrap_err();
            assert!(error.to_string().contains(tells), "{zone:?}: {error}");
        }
    }
}
