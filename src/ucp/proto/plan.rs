//! How messages go, by their length: what transports state about themselves, what the configuration
//! says, and a cost of each way that follows from both.

use crate::c::*;
use crate::ucs::config::{AUTO, AUTO_F64, Config};

/// What `UCX_RNDV_SCHEME` leaves of the ways an announced message can take. Sending it in pieces is
/// always possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The receiver copies it out of memory that is mapped.
    pub maps: bool,
    /// The receiver lets a transport read it.
    pub reads: bool,
    /// The sender lets a transport write it.
    pub writes: bool,
    /// Which is faster is found out.
    pub tunes: bool,
}

impl Rules {
    pub fn read(config: &Config) -> Rules {
        let scheme = config.get_text("RNDV_SCHEME").unwrap_or_default();
        let of = |names: &[&str]| scheme == "auto" || names.contains(&scheme.as_str());
        Rules {
            maps: of(&["rkey_ptr"]),
            // Pipelines are for memory of devices; of host memory upstream reads, for either.
            reads: of(&["get_zcopy", "get_ppln", "put_ppln"]),
            writes: of(&["put_zcopy"]),
            tunes: scheme == "auto",
        }
    }
}

/// Seconds that a transfer takes: once, and for each byte.
#[derive(Clone, Copy, Debug)]
struct Cost {
    once: f64,
    per_byte: f64,
}

impl Cost {
    /// The length from which on `other` is the cheaper one; `usize::MAX` when it never is.
    fn crossing(self, other: Cost) -> usize {
        let gain = self.per_byte - other.per_byte;
        if gain <= 0.0 {
            return usize::MAX;
        }
        // Negative and huge values stop at the ends of the type.
        ((other.once - self.once) / gain).ceil() as usize
    }
}

/// Whether a message is announced instead of sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announce {
    Never,
    /// By length, where another worker can map the memory.
    Mapped,
    Always,
    ByLength,
    /// By length, and later: the sender wants to be done early.
    LongOnly,
}

/// The lengths from which on an endpoint's messages go another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Announced instead of sent.
    pub announce: usize,
    /// The same where the sender wants to be done early.
    pub announce_fast: usize,
    /// The same for memory that the receiver can map.
    pub announce_mapped: usize,
    /// The same for scattered data, which nobody reads where they are.
    pub announce_scattered: usize,
    /// Sent without a copy, where the transport can.
    pub zcopy: usize,
    /// Not sent inline.
    pub buffered: usize,
    /// What is not sent as a whole is announced, not sent in pieces.
    pub no_pieces: bool,
}

/// What an endpoint's messages are carried by.
pub struct Carriers<'a> {
    pub message: &'a uct_iface_attr,
    /// The transport that reads the peer's memory, if there is one.
    pub bulk: Option<&'a uct_iface_attr>,
    /// "intra" or "inter": the peer is on this host, or elsewhere.
    pub place: &'static str,
    /// The peer is the worker itself.
    pub to_itself: bool,
}

/// Bytes a second of a copy of what another core has just written, as measured.
const COPY: f64 = 12.2e9;
/// Up to this length messages may be sent without being announced, whatever that costs: a receiver
/// that has not asked for them has to hold them. Below it nothing is announced where that saves nothing.
const MOST_EAGER: usize = 256 << 10;
/// A shorter message is never announced by the model.
const LEAST_ANNOUNCED: usize = 1 << 10;

impl Thresholds {
    /// Of an endpoint that has no transport yet.
    pub const NONE: Thresholds = Thresholds {
        announce: usize::MAX,
        announce_fast: usize::MAX,
        announce_mapped: usize::MAX,
        announce_scattered: usize::MAX,
        zcopy: usize::MAX,
        buffered: usize::MAX,
        no_pieces: false,
    };

    pub fn new(config: &Config, rules: &Rules, by: &Carriers<'_>) -> Thresholds {
        let of = |name: &str, auto: usize| match config.memunits(name) {
            AUTO => auto,
            bytes => bytes,
        };
        let configured = config.key_size("RNDV_THRESH", by.place);
        let (announce, mapped) = match configured {
            AUTO => model(config, rules, by),
            bytes => (bytes, bytes),
        };
        Thresholds {
            announce,
            announce_fast: match configured {
                AUTO => announce.max(of("RNDV_SEND_NBR_THRESH", announce)),
                bytes => bytes,
            },
            announce_mapped: mapped.min(announce),
            announce_scattered: match configured {
                AUTO => MOST_EAGER,
                bytes => bytes,
            },
            zcopy: of("ZCOPY_THRESH", by.message.cap.am.max_bcopy),
            buffered: of("BCOPY_THRESH", usize::MAX),
            // To the worker itself: its receiver would gather the pieces in a buffer first.
            no_pieces: configured == AUTO && by.to_itself && rules.maps,
        }
    }
}

/// From which length on the cheapest way of an announced message costs less than sending it; and the
/// same where its memory is mapped.
fn model(config: &Config, rules: &Rules, by: &Carriers<'_>) -> (usize, usize) {
    let bandwidth = |attr: &uct_iface_attr| attr.bandwidth.dedicated + attr.bandwidth.shared;
    let step = |name| config.key_f64("PROTO_OVERHEAD", name).max(0.0);
    let bytes_a_second = bandwidth(by.message).max(1.0);
    let copy = match config.bandwidth("BCOPY_BW") {
        AUTO_F64 if by.to_itself => bytes_a_second,
        AUTO_F64 => COPY,
        given => given.max(1.0),
    };
    let message = by.message.latency.c + 2.0 * by.message.overhead;
    let eager = Cost {
        once: message,
        per_byte: 1.0 / bytes_a_second + 1.0 / copy,
    };
    // A transport that sends in place copies what is too long for that, in pieces, into its buffers first.
    let in_place = by.message.cap.flags & UCT_IFACE_FLAG_AM_ZCOPY != 0;
    let pieces = in_place.then_some(Cost {
        per_byte: eager.per_byte + 1.0 / copy,
        ..eager
    });
    let announced = message + step("rndv_rts");
    let mapped = eager.crossing(Cost {
        once: announced,
        per_byte: 1.0 / copy,
    });
    let mapped = if rules.maps && by.place == "intra" {
        mapped.max(LEAST_ANNOUNCED)
    } else {
        usize::MAX
    };
    if by.to_itself && rules.maps {
        // As `no_pieces` says.
        let mapped = mapped.min(by.message.cap.am.max_bcopy);
        return (mapped, mapped);
    }
    let read = by.bulk.filter(|_| rules.reads).map(|bulk| Cost {
        once: announced + bulk.latency.c + bulk.overhead,
        per_byte: 1.0 / bandwidth(bulk).max(1.0),
    });
    let writes = rules.writes && by.message.cap.flags & UCT_IFACE_FLAG_PUT_ZCOPY != 0;
    let write = writes.then(|| Cost {
        once: announced + 2.0 * message + step("rndv_rtr"),
        per_byte: 1.0 / bytes_a_second,
    });
    let ways = [read, write].into_iter().flatten();
    let crossing = |way| {
        let whole = eager.crossing(way);
        let longest = by.message.cap.am.max_zcopy;
        pieces.map_or(whole, |pieces| whole.min(pieces.crossing(way).max(longest)))
    };
    let announce = match ways.map(crossing).min() {
        Some(length) => length.clamp(LEAST_ANNOUNCED, MOST_EAGER),
        None => MOST_EAGER,
    };
    (announce, mapped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ucp::config::TABLE;

    fn attr(latency: f64, overhead: f64, bandwidth: f64, flags: u64) -> uct_iface_attr {
        // SAFETY: integers, floats and a plain C address struct: zero is a value of each.
        let mut attr: uct_iface_attr = unsafe { core::mem::zeroed() };
        attr.latency.c = latency;
        attr.overhead = overhead;
        attr.bandwidth.dedicated = bandwidth;
        attr.cap.flags = flags;
        attr.cap.am.max_bcopy = 8192;
        attr
    }

    const AUTO_SCHEME: Rules = Rules {
        maps: true,
        reads: true,
        writes: true,
        tunes: true,
    };

    fn thresholds(set: &[(&str, &str)], rules: Rules, by: &Carriers<'_>) -> Thresholds {
        let mut config = Config::read(&TABLE, None).unwrap();
        for (name, value) in set {
            config.set(name, value).unwrap();
        }
        Thresholds::new(&config, &rules, by)
    }

    #[test]
    fn the_crossing_is_where_both_cost_the_same() {
        let a = Cost {
            once: 1.0,
            per_byte: 0.5,
        };
        let b = Cost {
            once: 11.0,
            per_byte: 0.25,
        };
        assert_eq!(a.crossing(b), 40);
        assert_eq!(b.crossing(a), usize::MAX);
        assert_eq!(
            a.crossing(Cost {
                once: 0.0,
                per_byte: 0.25
            }),
            0
        );
    }

    #[test]
    fn a_worker_sends_itself_no_pieces_unless_it_is_told_to() {
        let itself = attr(0.0, 10e-9, 30e9, 0);
        let by = Carriers {
            message: &itself,
            bulk: None,
            place: "intra",
            to_itself: true,
        };
        let t = thresholds(&[], AUTO_SCHEME, &by);
        assert!(t.no_pieces && t.announce <= 8192, "{t:?}");
        assert!(!thresholds(&[("RNDV_THRESH", "1m")], AUTO_SCHEME, &by).no_pieces);
        let unmapped = Rules {
            maps: false,
            ..AUTO_SCHEME
        };
        assert!(!thresholds(&[], unmapped, &by).no_pieces);
    }

    #[test]
    fn what_pieces_cost_does_not_change_how_whole_messages_go() {
        let flags = UCT_IFACE_FLAG_AM_ZCOPY | UCT_IFACE_FLAG_PUT_ZCOPY;
        let cma = attr(80e-9, 1e-6, 11e9, 0);
        let announce = |flags, bulk| {
            let mut tcp = attr(5e-6, 2e-6, 2.2e9, flags);
            tcp.cap.am.max_zcopy = 64 << 10;
            let by = Carriers {
                message: &tcp,
                bulk,
                place: "inter",
                to_itself: false,
            };
            thresholds(&[], AUTO_SCHEME, &by).announce
        };
        let copied = UCT_IFACE_FLAG_PUT_ZCOPY;
        assert_eq!(announce(flags, Some(&cma)), announce(copied, Some(&cma)));
        let alone = announce(flags, None);
        assert!(
            alone >= 64 << 10 && alone < announce(copied, None),
            "{alone}"
        );
    }

    #[test]
    fn faster_ways_are_taken_earlier_and_the_configuration_decides() {
        let shm = attr(80e-9, 10e-9, 15e9, 0);
        let cma = attr(80e-9, 1e-6, 11e9, 0);
        let pair = |bulk| Carriers {
            message: &shm,
            bulk,
            place: "intra",
            to_itself: false,
        };
        let both = thresholds(&[], AUTO_SCHEME, &pair(Some(&cma)));
        let alone = thresholds(&[], AUTO_SCHEME, &pair(None));
        assert!(both.announce < alone.announce, "{both:?} {alone:?}");
        assert!(both.announce_mapped < both.announce, "{both:?}");
        assert_eq!(alone.announce, MOST_EAGER);
        assert!(both.announce_fast >= both.announce);
        assert!(both.announce_scattered >= both.announce);
        let none = Rules {
            maps: false,
            reads: false,
            writes: false,
            tunes: false,
        };
        let am = thresholds(&[], none, &pair(Some(&cma)));
        assert_eq!(am.announce, MOST_EAGER);
        assert_eq!(am.announce_mapped, MOST_EAGER);
        let set = [
            ("RNDV_THRESH", "intra:3k,inter:5k"),
            ("ZCOPY_THRESH", "7k"),
            ("BCOPY_THRESH", "20"),
        ];
        let t = thresholds(&set, AUTO_SCHEME, &pair(Some(&cma)));
        assert_eq!(
            (t.announce, t.announce_fast, t.announce_mapped),
            (3072, 3072, 3072)
        );
        assert_eq!((t.zcopy, t.buffered), (7168, 20));
    }
}
