//! Latencies of many attempts, to three significant digits whatever their size.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hdrhistogram::{
    Histogram,
    serialization::{Serializer as _, V2Serializer},
};
use onejob_reports::bench::Percentiles;

use super::Attempt;

/// Latencies in microseconds.
#[derive(Debug, Clone)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        // Three digits are a bound that the crate accepts.
        Self(Histogram::new(3).expect("three significant digits can be kept"))
    }
}

impl Latencies {
    /// Takes one more.
    pub fn record(&mut self, micros: u64) {
        // It grows with what it is given, which fails only where there is no memory; the least that it takes is one.
        let _ = self.0.record(micros.max(1));
    }

    /// Those of some attempts.
    pub fn of<'a>(attempts: impl Iterator<Item = &'a Attempt>) -> Self {
        let mut latencies = Self::default();
        attempts.for_each(|attempt| latencies.record(attempt.latency_us()));
        latencies
    }

    /// Takes all of another's.
    pub fn add(&mut self, other: &Self) {
        // Fails only where a histogram may not grow, and this one may.
        let _ = self.0.add(&other.0);
    }

    /// What is usually asked for; nothing where nothing was recorded.
    #[must_use]
    pub fn percentiles(&self) -> Option<Percentiles> {
        (!self.0.is_empty()).then(|| Percentiles {
            count: self.0.len(),
            p50: self.0.value_at_quantile(0.50),
            p90: self.0.value_at_quantile(0.90),
            p99: self.0.value_at_quantile(0.99),
            p999: self.0.value_at_quantile(0.999),
            max: self.0.max(),
        })
    }

    /// `HdrHistogram`'s V2 encoding in base64.
    #[must_use]
    pub fn encoded(&self) -> String {
        let mut bytes = Vec::new();
        // Writing into memory fails only where a count is beyond 2^63.
        if V2Serializer::new().serialize(&self.0, &mut bytes).is_err() {
            bytes.clear();
        }
        STANDARD.encode(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;

    use super::*;

    #[test]
    fn what_is_encoded_can_be_merged_by_others() {
        let mut latencies = Latencies::default();
        for micros in [0, 100, 200, 5_000_000] {
            latencies.record(micros);
        }
        let found = latencies.percentiles().expect("four were recorded");
        assert_eq!((found.count, found.p50), (4, 100));
        assert!(found.max >= 5_000_000 && found.max < 5_010_000, "{}", found.max);
        let bytes = STANDARD.decode(latencies.encoded()).expect("base64");
        let read: Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice()).expect("a histogram");
        assert_eq!((read.len(), read.max()), (4, found.max));
        assert!(Latencies::default().percentiles().is_none());
    }
}
