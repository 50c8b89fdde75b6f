//! After how long a provider wants to be asked again.

use reqwest::header::HeaderMap;
use std::time::Duration;

/// Returns the wait that the headers of a refusal name.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let wait = text("retry-after")?;
    if let Ok(seconds) = wait.parse() {
        return Some(Duration::from_secs(seconds));
    }
    // A moment counts from the provider's own clock: ours may be wrong.
    let seconds = moment(wait)?.saturating_sub(moment(text("date")?)?);
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Reads a date of HTTP (`Sun, 06 Nov 1994 08:49:37 GMT`), as seconds since 1970.
fn moment(text: &str) -> Option<i64> {
    let mut words = text.split(' ');
    let (_, day, month, year, time) =
        (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
    let day: i64 = day.parse().ok()?;
    let month = i64::try_from(MONTHS.iter().position(|name| *name == month)?).ok()? + 1;
    let year: i64 = year.parse().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut parts = time.split(':').map(|part| part.parse::<i64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    // Days since 1970, counted from a March: then a leap day is the last of its year.
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = years * 365 + years / 4 - years / 100 + years / 400 + (153 * months + 2) / 5 + day - 719_469;
    Some(days * 86_400 + hours * 3_600 + minutes * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(headers: &[(&'static str, &'static str)]) -> Option<u128> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        retry_after(&map).map(|wait| wait.as_millis())
    }

    #[test]
    fn every_way_to_say_it_is_understood() {
        assert_eq!(wait(&[("retry-after", "7")]), Some(7_000));
        assert_eq!(wait(&[("retry-after-ms", "150"), ("retry-after", "1")]), Some(150));
        let dates = |at, date| wait(&[("retry-after", at), ("date", date)]);
        assert_eq!(dates("Tue, 01 Mar 2022 00:00:05 GMT", "Mon, 28 Feb 2022 23:59:59 GMT"), Some(6_000));
        assert_eq!(dates("Fri, 01 Mar 2024 00:00:00 GMT", "Thu, 29 Feb 2024 00:00:00 GMT"), Some(86_400_000));
        assert_eq!(dates("Mon, 28 Feb 2022 00:00:00 GMT", "Tue, 01 Mar 2022 00:00:00 GMT"), Some(0));
        assert_eq!(wait(&[]), None);
        for nonsense in ["soon", "-1", "1.5", "Mon, 28 Foo 2022 00:00:00 GMT", ""] {
            assert_eq!(wait(&[("retry-after", nonsense)]), None, "{nonsense}");
        }
        assert_eq!(moment("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(moment("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
    }
}
