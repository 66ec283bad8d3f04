//! Protocol selection by message length, from the transports' attributes, the configuration, and a cost model of both.
#![forbid(unsafe_code)]

use crate::c::*;
use crate::ucp::config::TABLE;
use crate::ucp::staging;
use crate::ucs::config::{AUTO, AUTO_F64, Bytes, Config, Var, var};

/// The rendezvous schemes that `UCX_RNDV_SCHEME` allows. Fragments are always possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The receiver copies from mapped memory.
    pub maps: bool,
    /// The receiver gets the data through a transport.
    pub reads: bool,
    /// The sender puts the data through a transport.
    pub writes: bool,
    /// The tuner chooses by measured throughput.
    pub tunes: bool,
}

impl Rules {
    pub fn read(config: &Config) -> Rules {
        let scheme = config.printed(var!(TABLE, "RNDV_SCHEME"));
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

/// When a message is sent by rendezvous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RndvPolicy {
    Never,
    /// By length, if another worker can map the memory.
    Mapped,
    Always,
    ByLength,
    /// By a larger length: the sender asked for early completion.
    LongOnly,
}

/// The message lengths from which on an endpoint uses another protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thresholds {
    /// Rendezvous.
    pub rndv: usize,
    /// Rendezvous if the sender asked for early completion.
    pub rndv_fast: usize,
    /// Rendezvous of memory that the receiver can map.
    pub rndv_mapped: usize,
    /// Rendezvous of scattered data, which no transport reads in place.
    pub rndv_scattered: usize,
    /// Rendezvous of memory of devices that these or RDMA devices copy between both ends.
    pub rndv_device: usize,
    /// Rendezvous of memory that a device copies to where the receiver maps it.
    pub rndv_staged: usize,
    /// Zero-copy, if the transport supports it.
    pub zcopy: usize,
    /// Buffered copy instead of short.
    pub buffered: usize,
    /// A message that does not fit one transport message is sent by rendezvous, not in fragments.
    pub no_fragments: bool,
}

/// The transports of an endpoint.
pub struct Carriers<'a> {
    pub message: &'a uct_iface_attr,
    /// It puts data of a rendezvous.
    pub writes: bool,
    /// It gets them, too, by a key.
    pub reads: bool,
    /// Seconds until it knows memory that it reads or writes.
    pub registration: f64,
    /// The transport that reads the peer's memory, if any.
    pub copies: Option<&'a uct_iface_attr>,
    /// The peer is on this host.
    pub same_node: bool,
    /// The peer is the worker itself.
    pub to_itself: bool,
}

/// Measured bytes a second of a copy of data that another core has just written.
const COPY: f64 = 12.2e9;
/// The longest message that the model sends eagerly: the receiver has to buffer eager messages. Up to it, the model uses
/// rendezvous only where that is faster.
const EAGER_MAX: usize = 256 << 10;
/// The shortest message that the model sends by rendezvous.
const RNDV_MIN: usize = 1 << 10;
/// The shortest one of a worker to itself that waits in the sender's memory. Measured: copied twice, 3 KB take 52 ns and wait 62,
/// 4 KiB take 62 and 59 (`ucx_perftest -l -t tag_lat`, 2026-11-27, AMD EPYC).
const NAMED_MIN: usize = 4 << 10;

impl Thresholds {
    /// Of an endpoint that has no transport yet.
    pub const NONE: Thresholds = Thresholds {
        rndv: usize::MAX,
        rndv_fast: usize::MAX,
        rndv_mapped: usize::MAX,
        rndv_scattered: usize::MAX,
        rndv_device: usize::MAX,
        rndv_staged: usize::MAX,
        zcopy: usize::MAX,
        buffered: usize::MAX,
        no_fragments: false,
    };

    pub fn new(config: &Config, rules: &Rules, by: &Carriers<'_>) -> Thresholds {
        let of = |var: Var<Bytes>, auto: usize| match config.memunits(var) {
            AUTO => auto,
            bytes => bytes,
        };
        let configured = config.key_size(match by.same_node {
            true => var!(TABLE, "RNDV_THRESH", "intra"),
            false => var!(TABLE, "RNDV_THRESH", "inter"),
        });
        let (rndv, mapped) = match configured {
            AUTO => model(config, rules, by),
            bytes => (bytes, bytes),
        };
        Thresholds {
            rndv,
            rndv_fast: match configured {
                AUTO => rndv.max(of(var!(TABLE, "RNDV_SEND_NBR_THRESH"), rndv)),
                bytes => bytes,
            },
            rndv_mapped: mapped.min(rndv),
            rndv_scattered: match configured {
                AUTO => EAGER_MAX,
                bytes => bytes,
            },
            // It costs a copy less than an eager message.
            rndv_staged: match configured {
                AUTO => staging::SHORTEST,
                bytes => bytes,
            },
            // An eager message is copied by a device at either end, of which each copy takes as long as the only one of a
            // rendezvous.
            rndv_device: match configured {
                AUTO => RNDV_MIN,
                bytes => bytes,
            },
            zcopy: of(var!(TABLE, "ZCOPY_THRESH"), by.message.cap.am.max_bcopy),
            buffered: of(var!(TABLE, "BCOPY_THRESH"), usize::MAX),
            // To the worker itself: its receiver would gather the fragments in a buffer first.
            no_fragments: configured == AUTO && by.to_itself && rules.maps,
        }
    }
}

/// The length from which on the cheapest rendezvous scheme costs less than an eager send; and the same for mapped
/// memory.
fn model(config: &Config, rules: &Rules, by: &Carriers<'_>) -> (usize, usize) {
    let bandwidth = |attr: &uct_iface_attr| attr.bandwidth.dedicated + attr.bandwidth.shared;
    let step = |var| config.key_time(var).max(0.0);
    let bytes_a_second = bandwidth(by.message).max(1.0);
    let copy = match config.bandwidth(var!(TABLE, "BCOPY_BW")) {
        AUTO_F64 if by.to_itself => bytes_a_second,
        AUTO_F64 => COPY,
        given => given.max(1.0),
    };
    let message = by.message.latency.c + 2.0 * by.message.overhead;
    let eager = Cost {
        once: message,
        per_byte: 1.0 / bytes_a_second + 1.0 / copy,
    };
    // A transport with zero-copy sends copies longer messages into its buffers, in fragments.
    let in_place = by.message.cap.flags & UCT_IFACE_FLAG_AM_ZCOPY != 0;
    let fragments = in_place.then_some(Cost {
        per_byte: eager.per_byte + 1.0 / copy,
        ..eager
    });
    let rts = message + step(var!(TABLE, "PROTO_OVERHEAD", "rndv_rts"));
    // The sender, too, copies what the other core has in its cache: the place of an earlier message.
    let through = Cost {
        per_byte: 1.0 / bytes_a_second.min(copy) + 1.0 / copy,
        ..eager
    };
    let mapped = through.crossing(Cost {
        once: rts,
        per_byte: 1.0 / copy,
    });
    let mapped = if rules.maps && by.same_node {
        mapped.max(RNDV_MIN)
    } else {
        usize::MAX
    };
    if by.to_itself && rules.maps {
        // As `no_fragments` says.
        let mapped = mapped.max(NAMED_MIN).min(by.message.cap.am.max_bcopy);
        return (mapped, mapped);
    }
    let read = by.copies.filter(|_| rules.reads).map(|copies| Cost {
        once: rts + copies.latency.c + copies.overhead,
        per_byte: 1.0 / bandwidth(copies).max(1.0),
    });
    let read = read.or_else(|| {
        (rules.reads && by.reads).then(|| Cost {
            once: rts + message + 2.0 * by.registration,
            per_byte: 1.0 / bytes_a_second,
        })
    });
    let writes = rules.writes && by.writes;
    let write = writes.then(|| Cost {
        once: rts
            + 2.0 * (message + by.registration)
            + step(var!(TABLE, "PROTO_OVERHEAD", "rndv_rtr")),
        per_byte: 1.0 / bytes_a_second,
    });
    let ways = [read, write].into_iter().flatten();
    let crossing = |way| {
        let whole = eager.crossing(way);
        let longest = by.message.cap.am.max_zcopy;
        fragments.map_or(whole, |fragments| {
            whole.min(fragments.crossing(way).max(longest))
        })
    };
    let rndv = match ways.map(crossing).min() {
        Some(length) => length.clamp(RNDV_MIN, EAGER_MAX),
        None => EAGER_MAX,
    };
    (rndv, mapped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uct::api::UNQUERIED;

    fn attr(latency: f64, overhead: f64, bandwidth: f64, flags: u64) -> uct_iface_attr {
        let mut attr = UNQUERIED;
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
    fn a_worker_sends_itself_no_fragments_unless_it_is_told_to() {
        let itself = attr(0.0, 10e-9, 30e9, 0);
        let by = Carriers {
            message: &itself,
            writes: false,
            reads: false,
            registration: 0.0,
            copies: None,
            same_node: true,
            to_itself: true,
        };
        let t = thresholds(&[], AUTO_SCHEME, &by);
        assert!(t.no_fragments && t.rndv <= 8192, "{t:?}");
        assert!(!thresholds(&[("RNDV_THRESH", "1m")], AUTO_SCHEME, &by).no_fragments);
        let unmapped = Rules {
            maps: false,
            ..AUTO_SCHEME
        };
        assert!(!thresholds(&[], unmapped, &by).no_fragments);
    }

    #[test]
    fn the_cost_of_fragments_does_not_change_how_whole_messages_go() {
        let cma = attr(80e-9, 1e-6, 11e9, 0);
        let rndv = |flags, copies| {
            let mut tcp = attr(5e-6, 2e-6, 2.2e9, flags);
            tcp.cap.am.max_zcopy = 64 << 10;
            let by = Carriers {
                message: &tcp,
                writes: true,
                reads: false,
                registration: 0.0,
                copies,
                same_node: false,
                to_itself: false,
            };
            thresholds(&[], AUTO_SCHEME, &by).rndv
        };
        let in_place = UCT_IFACE_FLAG_AM_ZCOPY;
        assert_eq!(rndv(in_place, Some(&cma)), rndv(0, Some(&cma)));
        let alone = rndv(in_place, None);
        assert!(alone >= 64 << 10 && alone < rndv(0, None), "{alone}");
    }

    /// A read needs no word of the receiver's before it, a put does.
    #[test]
    fn a_device_reads_shorter_messages_than_it_writes() {
        let mut rc = attr(600e-9, 75e-9, 12e9, UCT_IFACE_FLAG_AM_ZCOPY);
        rc.cap.am.max_zcopy = 8192;
        let length = |reads, rules| {
            let by = Carriers {
                message: &rc,
                writes: true,
                reads,
                registration: 60e-9,
                copies: None,
                same_node: false,
                to_itself: false,
            };
            thresholds(&[], rules, &by).rndv
        };
        let only_puts = Rules {
            reads: false,
            ..AUTO_SCHEME
        };
        assert!(length(true, AUTO_SCHEME) < length(false, AUTO_SCHEME));
        assert_eq!(length(true, only_puts), length(false, AUTO_SCHEME));
    }

    #[test]
    fn faster_ways_are_taken_earlier_and_the_configuration_decides() {
        let shm = attr(80e-9, 10e-9, 15e9, 0);
        let cma = attr(80e-9, 1e-6, 11e9, 0);
        let pair = |copies| Carriers {
            message: &shm,
            writes: false,
            reads: false,
            registration: 0.0,
            copies,
            same_node: true,
            to_itself: false,
        };
        let both = thresholds(&[], AUTO_SCHEME, &pair(Some(&cma)));
        let alone = thresholds(&[], AUTO_SCHEME, &pair(None));
        assert!(both.rndv < alone.rndv, "{both:?} {alone:?}");
        assert!(both.rndv_mapped < both.rndv, "{both:?}");
        // 4 KiB take 0.51 us so, and 0.88 eagerly (`ucx_perftest -t tag_lat`, 2026-11-28, Intel Xeon).
        assert!(both.rndv_mapped < 4 << 10, "{both:?}");
        assert_eq!(alone.rndv, EAGER_MAX);
        assert!(both.rndv_fast >= both.rndv);
        assert!(both.rndv_scattered >= both.rndv);
        let none = Rules {
            maps: false,
            reads: false,
            writes: false,
            tunes: false,
        };
        let am = thresholds(&[], none, &pair(Some(&cma)));
        assert_eq!(am.rndv, EAGER_MAX);
        assert_eq!(am.rndv_mapped, EAGER_MAX);
        let set = [
            ("RNDV_THRESH", "intra:3k,inter:5k"),
            ("ZCOPY_THRESH", "7k"),
            ("BCOPY_THRESH", "20"),
        ];
        let t = thresholds(&set, AUTO_SCHEME, &pair(Some(&cma)));
        assert_eq!((t.rndv, t.rndv_fast, t.rndv_mapped), (3072, 3072, 3072));
        assert_eq!((t.zcopy, t.buffered), (7168, 20));
    }
}
