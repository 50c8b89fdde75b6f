//! Moments as text, in UTC, so that logs of several machines line up.

use abide_core::event::Timestamp;

/// Writes a moment as `2026-01-31 23:59:59.250Z`.
pub fn moment(at: Timestamp) -> String {
    let (days, millis) = (at.0.div_euclid(86_400_000), at.0.rem_euclid(86_400_000));
    let (year, month, day) = date(days);
    let seconds = millis / 1_000;
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}.{:03}Z",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60,
        millis % 1_000
    )
}

/// Returns the date that many days after 1970-01-01, by Howard Hinnant's `civil_from_days`.
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates() {
        // date -u -d @… +%FT%T
        assert_eq!(moment(Timestamp(0)), "1970-01-01 00:00:00.000Z");
        assert_eq!(moment(Timestamp(951_782_399_999)), "2000-02-28 23:59:59.999Z");
        assert_eq!(moment(Timestamp(951_782_400_000)), "2000-02-29 00:00:00.000Z");
        assert_eq!(moment(Timestamp(1_735_689_599_000)), "2024-12-31 23:59:59.000Z");
        assert_eq!(moment(Timestamp(-1)), "1969-12-31 23:59:59.999Z");
    }
}
