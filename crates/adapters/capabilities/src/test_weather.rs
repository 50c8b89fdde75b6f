//! `test_weather`: made-up weather, to see a model call tools. The same city always has the same.

use crate::function::{About, tool};
use abide_core::capability::{CapabilityId, Risk};
use abide_core::policy::ToolKind;
use abide_engine::port::{Beside, Capability, Tool, ToolOutput};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Tells made-up weather.
#[derive(Debug)]
pub struct TestWeather;

#[derive(Deserialize)]
struct Arguments {
    city: String,
    #[serde(default)]
    units: Units,
    #[serde(default = "three")]
    days: u64,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Units {
    #[default]
    Celsius,
    Fahrenheit,
}

fn three() -> u64 {
    3
}

const CONDITIONS: [&str; 6] = ["sunny", "partly cloudy", "cloudy", "rainy", "windy", "foggy"];

impl Capability for TestWeather {
    fn id(&self) -> CapabilityId {
        CapabilityId::test_weather()
    }

    fn name(&self) -> &'static str {
        "Test Weather"
    }

    fn description(&self) -> &'static str {
        "Made-up weather data for testing tool calls."
    }

    fn system_prompt_addition(&self) -> Option<&str> {
        Some(
            "You have access to weather tools. Use get_weather for current conditions and get_forecast for \
             multi-day forecasts.",
        )
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let city = json!({
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "pattern": "\\S",
            "description": "The city, e.g. \"Lisbon\"."
        });
        let units = json!({ "type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius" });
        let days = json!({
            "type": "integer", "minimum": 1, "maximum": 7, "default": 3, "description": "How many days."
        });
        let weather = About {
            name: "get_weather",
            description: "Get the current weather for a city. The data is made up for tests.",
            arguments: json!({
                "type": "object",
                "properties": { "city": city, "units": units },
                "required": ["city"],
                "additionalProperties": false
            }),
            kind: ToolKind::Read,
            risk: Risk::None,
            beside: Beside::Others,
            examples: vec![json!({ "city": "Lisbon" }), json!({ "city": "Oslo", "units": "fahrenheit" })],
        };
        let forecast = About {
            name: "get_forecast",
            description: "Get a forecast of several days for a city. The data is made up for tests.",
            arguments: json!({
                "type": "object",
                "properties": { "city": city, "units": units, "days": days },
                "required": ["city"],
                "additionalProperties": false
            }),
            kind: ToolKind::Read,
            risk: Risk::None,
            beside: Beside::Others,
            examples: vec![json!({ "city": "Lisbon" }), json!({ "city": "Oslo", "days": 7 })],
        };
        vec![
            tool(weather, |arguments: Arguments, _| async move {
                let mut answer = day(&arguments.city, 0, arguments.units);
                answer["city"] = json!(arguments.city);
                answer["mock"] = json!(true);
                Ok(ToolOutput::Json(answer))
            }),
            tool(forecast, |arguments: Arguments, _| async move {
                let days: Vec<Value> = (1..=arguments.days)
                    .map(|number| {
                        let mut day = day(&arguments.city, number, arguments.units);
                        day["day"] = json!(number);
                        day
                    })
                    .collect();
                Ok(ToolOutput::Json(json!({ "city": arguments.city, "days": days, "mock": true })))
            }),
        ]
    }

    fn icon(&self) -> Option<&str> {
        Some("cloud-sun")
    }

    fn category(&self) -> Option<&str> {
        Some("Testing")
    }
}

/// Makes up the weather of a city on a day: today is 0.
fn day(city: &str, number: u64, units: Units) -> Value {
    // FNV-1a over the name as people write it in different ways.
    let seed = city.trim().to_lowercase().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let roll = (seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16;
    let celsius = i64::try_from(roll % 40).unwrap_or_default() - 5;
    let temperature = match units {
        Units::Celsius => celsius,
        Units::Fahrenheit => celsius * 9 / 5 + 32,
    };
    let index = usize::try_from(roll / 40 % 6).unwrap_or_default();
    json!({
        "temperature": temperature,
        "units": match units { Units::Celsius => "celsius", Units::Fahrenheit => "fahrenheit" },
        "conditions": CONDITIONS[index],
        "humidity": 20 + roll / 240 % 80,
        "wind_kmh": roll / 19_200 % 60,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_city_has_the_same_weather_however_it_is_written() {
        assert_eq!(day("Lisbon", 0, Units::Celsius), day(" lisbon", 0, Units::Celsius));
        assert_ne!(day("Lisbon", 0, Units::Celsius), day("Oslo", 0, Units::Celsius));
        assert_ne!(day("Lisbon", 1, Units::Celsius), day("Lisbon", 2, Units::Celsius));
        for city in ["Lisbon", "Oslo", "東京", "x"] {
            for number in 0..8 {
                let celsius = day(city, number, Units::Celsius)["temperature"].as_i64().unwrap();
                let fahrenheit = day(city, number, Units::Fahrenheit)["temperature"].as_i64().unwrap();
                assert!((-5..35).contains(&celsius), "{celsius}");
                assert_eq!(fahrenheit, celsius * 9 / 5 + 32);
            }
        }
    }
}
