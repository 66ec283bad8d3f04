//! Features: the kinds of communication that a program asks for at `ucp_init`. What it did not ask for is refused.
#![forbid(unsafe_code)]

use super::context::Context;
use crate::c::*;
use crate::ucs::Status;
use crate::ucs::sync::{AtomicU32, Ordering};
use crate::{ucs_error, ucs_warn};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    Tag,
    Am,
    Stream,
    Rma,
    Atomic32,
    Atomic64,
}

impl Feature {
    pub const ALL: [Feature; 6] = [
        Feature::Tag,
        Feature::Am,
        Feature::Stream,
        Feature::Rma,
        Feature::Atomic32,
        Feature::Atomic64,
    ];

    /// Its bit among `ucp_feature`.
    pub const fn bit(self) -> u32 {
        match self {
            Feature::Tag => UCP_FEATURE_TAG,
            Feature::Am => UCP_FEATURE_AM,
            Feature::Stream => UCP_FEATURE_STREAM,
            Feature::Rma => UCP_FEATURE_RMA,
            Feature::Atomic32 => UCP_FEATURE_AMO32,
            Feature::Atomic64 => UCP_FEATURE_AMO64,
        }
    }

    /// That of an atomic of `size` bytes, 4 or 8.
    pub const fn of_atomic(size: u8) -> Feature {
        match size {
            4 => Feature::Atomic32,
            _ => Feature::Atomic64,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Feature::Tag => "UCP_FEATURE_TAG",
            Feature::Am => "UCP_FEATURE_AM",
            Feature::Stream => "UCP_FEATURE_STREAM",
            Feature::Rma => "UCP_FEATURE_RMA",
            Feature::Atomic32 => "UCP_FEATURE_AMO32",
            Feature::Atomic64 => "UCP_FEATURE_AMO64",
        }
    }

    /// What a program does by it.
    fn calls(self) -> &'static str {
        match self {
            Feature::Tag => "ucp_tag_*",
            Feature::Am => "ucp_am_* and ucp_worker_set_am_*",
            Feature::Stream => "ucp_stream_*",
            Feature::Rma => "ucp_put* and ucp_get*",
            Feature::Atomic32 => "ucp_atomic_* of 4 bytes",
            Feature::Atomic64 => "ucp_atomic_* of 8 bytes",
        }
    }
}

/// What the log was told of a context, once each: bits of calls that were refused, and of messages that were dropped.
#[derive(Default)]
pub struct Told {
    calls: AtomicU32,
    messages: AtomicU32,
}

fn is_first(told: &AtomicU32, feature: Feature) -> bool {
    // Relaxed: it guards nothing else.
    told.fetch_or(feature.bit(), Ordering::Relaxed) & feature.bit() == 0
}

impl Context {
    pub fn has_feature(&self, feature: Feature) -> bool {
        self.params.features & u64::from(feature.bit()) != 0
    }

    /// The status of a call that needs a feature which was not asked for.
    #[cold]
    pub fn refuse(&self, feature: Feature) -> Status {
        if is_first(&self.told.calls, feature) {
            ucs_error!(
                "{} are refused: {} was not asked for; set it in ucp_params.features at ucp_init",
                feature.calls(),
                feature.name()
            );
        }
        Status::INVALID_PARAM
    }

    /// A message came that no call here can receive.
    #[cold]
    pub fn dropped(&self, feature: Feature) {
        if is_first(&self.told.messages, feature) {
            ucs_warn!(
                "messages by {} are dropped: {} was not asked for here; set it in ucp_params.features at ucp_init",
                feature.calls(),
                feature.name()
            );
        }
    }
}
