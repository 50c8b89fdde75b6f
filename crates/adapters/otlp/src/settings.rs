//! Where spans go, and what of them: the standard variables of OpenTelemetry, and no others.

use crate::sampler::Sampler;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use std::time::Duration;

/// How long one request may take, unless it is said.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How many spans may wait, how many are sent at once, and for how long fewer wait for more, unless it is said.
const QUEUE: usize = 8_192;
const BATCH: usize = 512;
const DELAY: Duration = Duration::from_secs(5);
/// The most that can be said of these.
const MOST_QUEUED: usize = 1_000_000;
const MOST_AT_ONCE: usize = 8_192;

/// Where spans go, and what of them.
#[derive(Clone)]
pub struct Settings {
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    /// What is said of this process.
    pub(crate) resource: Vec<(String, String)>,
    pub(crate) sampler: Sampler,
    pub(crate) timeout: Duration,
    pub(crate) queue: usize,
    pub(crate) batch: usize,
    pub(crate) delay: Duration,
}

/// A variable that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable} {problem}")]
pub struct BadSetting {
    variable: String,
    problem: &'static str,
}

/// A header may be a key.
impl std::fmt::Debug for Settings {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Settings")
            .field("url", &self.shown())
            .field("sampler", &self.sampler)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Reads what an environment says; nothing if it names no collector, or wants no traces.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, BadSetting> {
        let environment = Environment(&variable);
        if environment.text("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true"))
            || environment.text("OTEL_TRACES_EXPORTER").is_some_and(|text| text == "none")
        {
            return Ok(None);
        }
        let Some(url) = environment.url()? else { return Ok(None) };
        if let Some((name, protocol)) = environment.of_traces("PROTOCOL")
            && !matches!(protocol.as_str(), "http/json" | "http/protobuf")
        {
            // Whoever listens for one encoding over HTTP understands the other one; gRPC is another protocol.
            return Err(bad(
                &name,
                "must be http/json or http/protobuf: abide speaks OTLP over HTTP, in JSON",
            ));
        }
        let headers = match environment.of_traces("HEADERS") {
            Some((name, text)) => headers(&name, &text)?,
            None => HeaderMap::new(),
        };
        let timeout = match environment.of_traces("TIMEOUT") {
            Some((name, text)) => milliseconds(&name, &text)?,
            None => TIMEOUT,
        };
        let sampler = match environment.text("OTEL_TRACES_SAMPLER") {
            Some(name) => {
                let argument = environment.text("OTEL_TRACES_SAMPLER_ARG");
                Sampler::parse(&name, argument.as_deref())
                    .ok_or_else(|| bad("OTEL_TRACES_SAMPLER", "names no sampler with such an argument"))?
            }
            None => Sampler::default(),
        };
        let queue = environment.number("OTEL_BSP_MAX_QUEUE_SIZE", MOST_QUEUED)?.unwrap_or(QUEUE);
        let batch = environment.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", MOST_AT_ONCE)?.unwrap_or(BATCH);
        let delay = match environment.text("OTEL_BSP_SCHEDULE_DELAY") {
            Some(text) => milliseconds("OTEL_BSP_SCHEDULE_DELAY", &text)?,
            None => DELAY,
        };
        let resource = environment.resource()?;
        let batch = batch.min(queue);
        Ok(Some(Self { url, headers, resource, sampler, timeout, queue, batch, delay }))
    }

    /// Returns where spans go, for people: without a password or a query, which may be secret.
    pub fn shown(&self) -> String {
        let mut url = self.url.clone();
        // An address of HTTP has a host, and takes these.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_query(None);
        url.to_string()
    }
}

struct Environment<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Environment<'_> {
    /// Returns a variable; an empty one is as good as none, as the standard says.
    fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Returns what is said for traces, or for everything, with the name of the variable.
    fn of_traces(&self, what: &str) -> Option<(String, String)> {
        let names = [format!("OTEL_EXPORTER_OTLP_TRACES_{what}"), format!("OTEL_EXPORTER_OTLP_{what}")];
        names.into_iter().find_map(|name| Some((name.clone(), self.text(&name)?)))
    }

    fn url(&self) -> Result<Option<Url>, BadSetting> {
        let Some((name, text)) = self.of_traces("ENDPOINT") else { return Ok(None) };
        let no_url = || bad(&name, "must be the address of a collector, as in http://127.0.0.1:4318");
        let mut url = Url::parse(&text).map_err(|_| no_url())?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(no_url());
        }
        if !name.contains("_TRACES_") {
            // Of all that is collected there, traces have their own place.
            let path = format!("{}/v1/traces", url.path().trim_end_matches('/'));
            url.set_path(&path);
        }
        Ok(Some(url))
    }

    fn number(&self, name: &str, most: usize) -> Result<Option<usize>, BadSetting> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| (1..=most).contains(number));
        number.map(Some).ok_or_else(|| bad(name, "is not a number that it can be"))
    }

    fn resource(&self) -> Result<Vec<(String, String)>, BadSetting> {
        const NAME: &str = "OTEL_RESOURCE_ATTRIBUTES";
        let said = self.text(NAME).unwrap_or_default();
        let mut resource =
            pairs(&said).ok_or_else(|| bad(NAME, "must be a list as in name=value,name=value"))?;
        let name = self.text("OTEL_SERVICE_NAME");
        if let Some(name) = name {
            resource.retain(|(known, _)| known != "service.name");
            resource.insert(0, ("service.name".to_owned(), name));
        }
        for (name, value) in [
            ("service.name", "abide"),
            ("service.version", env!("CARGO_PKG_VERSION")),
            ("telemetry.sdk.name", "abide"),
            ("telemetry.sdk.language", "rust"),
            ("telemetry.sdk.version", env!("CARGO_PKG_VERSION")),
        ] {
            if !resource.iter().any(|(known, _)| known == name) {
                resource.push((name.to_owned(), value.to_owned()));
            }
        }
        Ok(resource)
    }
}

fn bad(variable: &str, problem: &'static str) -> BadSetting {
    BadSetting { variable: variable.to_owned(), problem }
}

fn milliseconds(name: &str, text: &str) -> Result<Duration, BadSetting> {
    let number: u64 = text.parse().map_err(|_| bad(name, "is not a number of milliseconds"))?;
    Ok(Duration::from_millis(number.clamp(1, 600_000)))
}

fn headers(name: &str, text: &str) -> Result<HeaderMap, BadSetting> {
    // The value may be a key: it is not repeated.
    let wrong = || bad(name, "must be a list of headers as in name=value,name=value");
    let mut headers = HeaderMap::new();
    for (name, value) in pairs(text).ok_or_else(wrong)? {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    Ok(headers)
}

/// Reads `name=value,name=value`, with `%XX` in values for what cannot stand there.
fn pairs(text: &str) -> Option<Vec<(String, String)>> {
    let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
    let pair = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let name = name.trim();
        (!name.is_empty()).then_some(())?;
        Some((name.to_owned(), decoded(value.trim())?))
    };
    parts.map(pair).collect()
}

fn decoded(text: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = rest.split_at_checked(2)?;
        let digits_text = std::str::from_utf8(digits.0).ok()?;
        bytes.push(u8::from_str_radix(digits_text, 16).ok()?);
        rest = digits.1;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Option<Settings>, String> {
        let find = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
        };
        Settings::of(find).map_err(|error| error.to_string())
    }

    #[test]
    fn without_a_collector_or_when_it_is_switched_off_there_is_nothing_to_do() {
        const TO: (&str, &str) = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318");
        assert!(read(&[]).unwrap().is_none());
        assert!(read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).unwrap().is_none());
        assert!(read(&[TO, ("OTEL_SDK_DISABLED", "TRUE")]).unwrap().is_none());
        assert!(read(&[TO, ("OTEL_TRACES_EXPORTER", "none")]).unwrap().is_none());
        assert!(read(&[TO, ("OTEL_SDK_DISABLED", "false")]).unwrap().is_some());
    }

    #[test]
    fn what_is_said_for_traces_goes_before_what_is_said_for_everything() {
        let url = |variables: &[(&str, &str)]| read(variables).unwrap().unwrap().url.to_string();
        let all = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/otel/");
        assert_eq!(url(&[all]), "http://c:4318/otel/v1/traces");
        assert_eq!(url(&[all, ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://t/here")]), "https://t/here");
        let headers = ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc, x-team = a%2Cb");
        let settings = read(&[all, headers]).unwrap().unwrap();
        assert_eq!(settings.headers["authorization"], "Bearer abc");
        assert_eq!(settings.headers["x-team"], "a,b");
        assert!(!format!("{settings:?}").contains("abc"));
        let settings = read(&[all, headers, ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x=1")]).unwrap().unwrap();
        assert_eq!(settings.headers.len(), 1);
        let shown =
            read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://ada:secret@c/?key=secret")]).unwrap().unwrap();
        assert_eq!(shown.shown(), "http://c/v1/traces");
    }

    #[test]
    fn a_service_has_the_name_that_it_is_given() {
        let to = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c");
        let resource = |variables: &[(&str, &str)]| read(variables).unwrap().unwrap().resource;
        assert_eq!(resource(&[to])[0], ("service.name".to_owned(), "abide".to_owned()));
        let said = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=x,deployment.environment.name=prod%20eu");
        assert!(
            resource(&[to, said]).contains(&("deployment.environment.name".to_owned(), "prod eu".to_owned()))
        );
        assert_eq!(resource(&[to, said])[0].1, "x");
        let named = resource(&[to, said, ("OTEL_SERVICE_NAME", "y")]);
        assert_eq!(named[0], ("service.name".to_owned(), "y".to_owned()));
        assert_eq!(named.iter().filter(|(name, _)| name == "service.name").count(), 1);
    }

    #[test]
    fn what_cannot_be_meant_is_refused_by_the_name_of_its_variable() {
        let to = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c");
        for (variable, text) in [
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "c:4318"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "authorization"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=%zz"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
            ("OTEL_TRACES_SAMPLER", "sometimes"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "0"),
            ("OTEL_RESOURCE_ATTRIBUTES", "=x"),
        ] {
            let error = read(&[to, (variable, text)]).unwrap_err();
            assert!(error.starts_with(variable), "{error}");
        }
        assert!(read(&[to, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")]).unwrap().is_some());
    }
}
