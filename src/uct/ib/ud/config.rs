//! The variables of ud_verbs and the values an interface works with.
#![forbid(unsafe_code)]

use super::window::{Limits, MIN_WINDOW};
use super::wire::{HEADER_LEN, REQUEST_LEN};
use crate::ucs::config::{Config, Kind, Row, Seconds, Table, Var, var};
use crate::ucs::{Result, Status};
use crate::ucs_error;
use crate::uct::ib::config::{IB, PathSettings, Reader};
use core::time::Duration;

static UD: Table = Table {
    name: "UD transport configuration",
    prefix: "UD_",
    parent: Some(&IB),
    rows: &[
        Row::inherited("MAX_NUM_EPS", "inf"),
        Row::inherited("SEG_SIZE", "8192"),
        Row::inherited("RX_QUEUE_LEN", "4096"),
        Row::inherited("TX_INLINE_RESP", "0"),
        Row::inherited("RX_INLINE", "0"),
        Row::new(
            "RX_QUEUE_LEN_INIT",
            "128",
            Kind::UInt,
            "Receive buffers that an interface begins with.",
        ),
        Row::new(
            "TIMEOUT",
            "30s",
            Kind::PlainTime,
            "How long a peer may be silent before it counts as gone.",
        ),
        Row::new(
            "TIMER_TICK",
            "10ms",
            Kind::PlainTime,
            "Time between two looks at retransmissions and delayed acknowledgements.",
        ),
        Row::new(
            "TIMER_BACKOFF",
            "2.0",
            Kind::Double,
            "Each further retransmission waits longer by this factor.",
        ),
        Row::new(
            "ETH_DGID_CHECK",
            "y",
            Kind::Bool,
            "Drop packets of an Ethernet port that are for another address than the interface's.",
        ),
        Row::new(
            "MAX_WINDOW",
            "1025",
            Kind::UInt,
            "Packets of an endpoint that may wait for their acknowledgement.",
        ),
        Row::new(
            "RX_ASYNC_MAX_POLL",
            "64",
            Kind::UInt,
            "Packets that the async thread takes at a time while the application makes no progress.",
        ),
        Row::without_effect(
            "TX_MAX_BATCH",
            "16",
            &Kind::UInt,
            "Packets that are posted by one call.",
            "each is posted by a call of its own",
        ),
        Row::without_effect(
            "ASYNC_TIMER_TICK",
            "100ms",
            &Kind::PlainTime,
            "Period of the timer while the application makes no progress.",
            "the timer of TIMER_TICK runs with and without it",
        ),
        Row::without_effect(
            "MIN_POKE_TIME",
            "250ms",
            &Kind::PlainTime,
            "How long a peer is silent before it is asked.",
            "it is asked when a retransmission is due",
        ),
        Row::without_effect(
            "LINGER_TIMEOUT",
            "5.0m",
            &Kind::PlainTime,
            "How long a closed endpoint still sends again what is lost.",
            "a closed endpoint is gone at once: what is to arrive has to be flushed before",
        ),
    ],
};

pub static UD_VERBS: Table = Table {
    name: "UD verbs transport configuration",
    prefix: "UD_VERBS_",
    parent: Some(&UD),
    rows: &[],
};

/// What an interface of ud_verbs is opened with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Most bytes of a datagram, the header included; the MTU may be smaller.
    pub segment: usize,
    pub send_queue: u32,
    pub inline: u32,
    pub sges: u32,
    pub receive_queue: u32,
    pub first_receives: u32,
    pub max_eps: usize,
    /// The length of a tick.
    pub tick: Duration,
    pub limits: Limits,
    pub check_destination: bool,
    /// Packets that the async thread takes at a time.
    pub async_polls: usize,
    pub path: PathSettings,
}

impl Settings {
    pub fn read(config: &Config) -> Result<Settings> {
        let from = Reader {
            config,
            prefix: "UCX_UD_VERBS_",
        };
        let time = |var: Var<Seconds>, min: f64, max: f64| {
            let seconds = config.time(var);
            if (min..=max).contains(&seconds) {
                return Ok(seconds);
            }
            let name = var.name();
            ucs_error!("UCX_UD_VERBS_{name} is {seconds}s: it must be between {min}s and {max}s");
            Err(Status::INVALID_PARAM)
        };
        let tick = time(var!(UD_VERBS, "TIMER_TICK"), 1e-4, 10.0)?;
        let backoff = config.double(var!(UD_VERBS, "TIMER_BACKOFF"));
        if !(1.0..=100.0).contains(&backoff) {
            ucs_error!("UCX_UD_VERBS_TIMER_BACKOFF is {backoff}: it must be between 1 and 100");
            return Err(Status::INVALID_PARAM);
        }
        let receive_queue = from.count(var!(UD_VERBS, "RX_QUEUE_LEN"), 32, 1 << 20)?;
        Ok(Settings {
            segment: from.bytes(var!(UD_VERBS, "SEG_SIZE"), 256, 1 << 20)? as usize,
            send_queue: from.count(var!(UD_VERBS, "TX_QUEUE_LEN"), 32, 1 << 16)?,
            // Control packets are sent inline.
            inline: from
                .bytes(var!(UD_VERBS, "TX_MIN_INLINE"), 0, 4096)?
                .max((HEADER_LEN + REQUEST_LEN) as u32),
            sges: from.count(var!(UD_VERBS, "TX_MIN_SGE"), 2, 64)?,
            receive_queue,
            first_receives: from
                .count(var!(UD_VERBS, "RX_QUEUE_LEN_INIT"), 32, 1 << 20)?
                .min(receive_queue),
            max_eps: config.ulong(var!(UD_VERBS, "MAX_NUM_EPS")),
            tick: Duration::from_secs_f64(tick),
            limits: Limits {
                // Sequence numbers have 16 bits, and half of them tell old from new.
                window: from.count(var!(UD_VERBS, "MAX_WINDOW"), MIN_WINDOW.into(), 1 << 14)?
                    as u16,
                timeout: (time(var!(UD_VERBS, "TIMEOUT"), tick, 1e5)? / tick) as u32,
                backoff: backoff as f32,
            },
            check_destination: config.bool(var!(UD_VERBS, "ETH_DGID_CHECK")),
            async_polls: from.count(var!(UD_VERBS, "RX_ASYNC_MAX_POLL"), 1, 1 << 16)? as usize,
            path: PathSettings::read(&from)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_readable() {
        let settings = Settings::read(&Config::read(&UD_VERBS, None).unwrap()).unwrap();
        assert_eq!((settings.segment, settings.receive_queue), (8192, 4096));
        assert_eq!(settings.limits.timeout, 3000);
        assert_eq!(settings.max_eps, crate::ucs::config::INF);
    }
}
