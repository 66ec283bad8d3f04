//! The variables of the component, of both transports and of rc_verbs, and the values an interface works with.
#![forbid(unsafe_code)]

use crate::c::verbs::{IBV_MTU_256, IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096};
use crate::ucs::config::{AUTO, Bytes, Config, Count, Double, Kind, Row, Table, UInt, Var, var};
use crate::ucs::{Result, Status, memtype};
use crate::ucs_error;
use crate::uct::base::config as shared;

pub static MD: Table = Table {
    name: "RDMA memory domain configuration",
    prefix: "IB_",
    parent: None,
    rows: &[
        Row::new(
            "MEM_REG_OVERHEAD",
            "16us",
            Kind::PlainTime,
            "Seconds that a registration is believed to take, whatever its length.",
        ),
        Row::new(
            "MEM_REG_GROWTH",
            "0.06ns",
            Kind::PlainTime,
            "Seconds that each registered byte is believed to take.",
        ),
        Row::new(
            "FORK_INIT",
            "try",
            Kind::Ternary,
            "Prepare for fork() while memory is registered; not needed where the kernel copies registered pages.",
        ),
        Row::new(
            "ASYNC_EVENTS",
            "y",
            Kind::Bool,
            "Listen to asynchronous events of the device.",
        ),
        Row::new(
            "GID_INDEX",
            "auto",
            Kind::ULong,
            "Which entry of the port's table of global addresses to use.",
        ),
        Row::new(
            "SUBNET_PREFIX",
            "",
            Kind::Str,
            "The subnet of InfiniBand ports that are used, such as fe80:0:0:0; empty: all.",
        ),
        Row::without_effect(
            "ETH_PAUSE_ON",
            "y",
            &Kind::Bool,
            "The Ethernet has pause frames.",
            "nothing is chosen by it",
        ),
        Row::new(
            "ODP_PREFETCH",
            "n",
            Kind::Bool,
            "Fetch the pages of memory that is not pinned when it is registered.",
        ),
        Row::without_effect(
            "DEVICE_SPECS",
            "",
            &Kind::StrArray,
            "Devices that are not known by themselves.",
            "no device is treated by its identity",
        ),
        Row::without_effect(
            "PREFER_NEAREST_DEVICE",
            "y",
            &Kind::Bool,
            "Prefer the device that is the nearest to the processor.",
            "devices are chosen by their bandwidth and by UCX_NET_DEVICES",
        ),
        Row::without_effect(
            "INDIRECT_ATOMIC",
            "y",
            &Kind::Bool,
            "Have keys for atomics of their own.",
            "it is for adapters that are driven without libibverbs",
        ),
        Row::new(
            "GPU_DIRECT_RDMA",
            "try",
            Kind::Ternary,
            "Register memory of GPUs, by dmabufs or a kernel module of theirs; y: it is an error if neither is there.",
        ),
        Row::without_effect(
            "GDA_MAX_HCA_PER_GPU",
            "auto",
            &Kind::ULong,
            "Adapters that a GPU drives.",
            "no adapter is driven by a GPU",
        ),
        Row::without_effect(
            "GDA_DMABUF_ENABLE",
            "try",
            &Kind::Ternary,
            "Use dmabuf for adapters that a GPU drives.",
            "no adapter is driven by a GPU",
        ),
        Row::without_effect(
            "GDA_RETAIN_INACTIVE_CTX",
            "n",
            &Kind::Bool,
            "Keep contexts of adapters that a GPU drives.",
            "no adapter is driven by a GPU",
        ),
        Row::without_effect(
            "PCI_BW",
            "",
            &Kind::DeviceBandwidth,
            "The bandwidth of the bus of a device.",
            "the speed of the port is taken",
        ),
        Row::without_effect(
            "REG_MT_THRESH",
            "4G",
            &Kind::MemUnits,
            "Memory from this length on is registered by several threads.",
            "one thread registers it",
        ),
        Row::without_effect(
            "REG_MT_CHUNK",
            "2G",
            &Kind::MemUnits,
            "What each of these threads registers at a time.",
            "one thread registers it",
        ),
        Row::without_effect(
            "REG_MT_BIND",
            "n",
            &Kind::Bool,
            "Bind these threads to processors.",
            "one thread registers it",
        ),
        Row::without_effect(
            "PCI_RELAXED_ORDERING",
            "auto",
            &Kind::OnOffAuto,
            "Let the bus reorder writes to registered memory.",
            "it does not: receivers read what was written before",
        ),
        Row::without_effect(
            "MAX_IDLE_RKEY_COUNT",
            "16",
            &Kind::UInt,
            "Invalidated keys that are kept.",
            "it is for adapters that are driven without libibverbs",
        ),
        Row::without_effect(
            "REG_RETRY_CNT",
            "inf",
            &Kind::ULong,
            "How often a registration is tried again.",
            "it is tried once, and then data is copied",
        ),
        Row::without_effect(
            "SMKEY_BLOCK_SIZE",
            "8",
            &Kind::UInt,
            "Keys that are made at a time.",
            "it is for adapters that are driven without libibverbs",
        ),
        Row::without_effect(
            "XGVMI_UMR_ENABLE",
            "y",
            &Kind::Bool,
            "Keys for memory of other virtual machines.",
            "it is for adapters that are driven without libibverbs",
        ),
        Row::new(
            "ODP_MEM_TYPES",
            "host",
            Kind::Bitmap(&memtype::NAMES),
            "Types of memory that are registered without pinning where that is asked for and the device can.",
        ),
        Row::without_effect(
            "DIRECT_NIC",
            "y",
            &Kind::Bool,
            "Use adapters that are wired to a GPU and have a second way past it.",
            "it is for adapters that are driven without libibverbs",
        ),
    ],
};

/// Choices of rows without effect.
const ADDRESS_TYPES: &[&str] = &["ib_local", "ib_site_local", "ib_global", "eth", "auto"];
const FLUSH_MODES: &[&str] = &["write0", "fc", "auto"];

/// Values of `ROCE_REACHABILITY_MODE`.
const REACHABILITY: &[&str] = &["route", "local_subnet", "all"];

const MTUS: &[&str] = &["default", "512", "1024", "2048", "4096", "256"];

pub static IB: Table = Table {
    name: "RDMA transport configuration",
    prefix: "IB_",
    parent: Some(&shared::IFACE),
    rows: &[
        Row::new(
            "SEG_SIZE",
            "8256",
            Kind::MemUnits,
            "Most bytes of one copied message, headers included. Both sides need the same.",
        ),
        Row::new(
            "TX_QUEUE_LEN",
            "256",
            Kind::UInt,
            "Work requests that an endpoint may have under way.",
        ),
        Row::new(
            "TX_MAX_BATCH",
            "16",
            Kind::UInt,
            "Short requests of a busy endpoint that are posted by one call, at most 16; 1: each by one of its own.",
        ),
        Row::new(
            "TX_MIN_INLINE",
            "64",
            Kind::MemUnits,
            "Bytes that the device shall be able to send from within a work request.",
        ),
        Row::new(
            "TX_MIN_SGE",
            "5",
            Kind::UInt,
            "Entries that a gather list shall be able to have.",
        ),
        Row::new(
            "RX_QUEUE_LEN",
            "4095",
            Kind::UInt,
            "Receive buffers that an interface may have posted. It begins with fewer.",
        ),
        Row::new(
            "IS_GLOBAL",
            "n",
            Kind::Bool,
            "Send with global addresses within a subnet too.",
        ),
        Row::new("SL", "auto", Kind::ULong, "Service level."),
        Row::new("TRAFFIC_CLASS", "auto", Kind::ULong, "Traffic class."),
        Row::new("HOP_LIMIT", "255", Kind::UInt, "Hop limit of packets."),
        Row::new(
            "ROCE_LOCAL_SUBNET",
            "n",
            Kind::Bool,
            "Reach only peers of the same IP subnet.",
        ),
        Row::new(
            "ROCE_SUBNET_PREFIX_LEN",
            "auto",
            Kind::ULong,
            "Bits of an IP subnet; auto: half of the address.",
        ),
        Row::new(
            "ROCE_SUBNETS",
            "all",
            Kind::AllowList,
            "Subnets of the addresses that an Ethernet port may be used with, such as 192.0.2.0/24,2001:db8::/32; ^ before them: all others.",
        ),
        Row::new(
            "ROCE_REACHABILITY_MODE",
            "route",
            Kind::Enum(REACHABILITY),
            "Which peers of an Ethernet port can be reached: those that the kernel has a route to from its interface, those of its subnet, or all.",
        ),
        Row::new(
            "PKEY",
            "auto",
            Kind::Hex,
            "Partition key; auto: the first with full membership.",
        ),
        Row::new(
            "PATH_MTU",
            "default",
            Kind::Enum(MTUS),
            "Most bytes of a packet; default: the smaller of both ports.",
        ),
        Row::inherited("ALLOC", "thp,mmap,heap"),
        Row::without_effect(
            "TX_MAX_POLL",
            "16",
            &Kind::UInt,
            "Completions of sends that are taken at a time.",
            "completions of sends and receives are in one queue, of which up to 64 are taken at a time",
        ),
        Row::without_effect(
            "RX_MAX_POLL",
            "16",
            &Kind::UInt,
            "Completions of receives that are taken at a time.",
            "completions of sends and receives are in one queue, of which up to 64 are taken at a time",
        ),
        Row::without_effect(
            "TX_INLINE_RESP",
            "64",
            &Kind::MemUnits,
            "Bytes of an answer that the device stores with its completion.",
            "libibverbs has no such answers",
        ),
        Row::without_effect(
            "RX_INLINE",
            "64",
            &Kind::MemUnits,
            "Bytes of a message that the device stores with its completion.",
            "libibverbs has no such completions",
        ),
        Row::without_effect(
            "RX_MAX_BATCH",
            "16",
            &Kind::UInt,
            "Receive buffers that are posted at a time.",
            "16 are, or half of a shorter queue",
        ),
        Row::without_effect(
            "TX_MAX_BUFS",
            "-1",
            &Kind::Int,
            "Most buffers.",
            "the length of the queue limits them",
        ),
        Row::without_effect(
            "TX_BUFS_GROW",
            "1024",
            &Kind::UInt,
            "Buffers that are made at a time.",
            "256 KiB are registered at a time",
        ),
        Row::without_effect(
            "TX_MAX_CHUNK_SIZE",
            "128m",
            &Kind::MemUnits,
            "Most memory that is registered for buffers at a time.",
            "256 KiB are registered at a time",
        ),
        Row::without_effect(
            "TX_GROW_FACTOR",
            "1.0",
            &Kind::Double,
            "Each further allocation is longer by this factor.",
            "256 KiB are registered at a time",
        ),
        Row::without_effect(
            "RX_MAX_BUFS",
            "-1",
            &Kind::Int,
            "Most receive buffers.",
            "the length of the queue limits them",
        ),
        Row::without_effect(
            "RX_BUFS_GROW",
            "0",
            &Kind::UInt,
            "Buffers that are made at a time.",
            "256 KiB are registered at a time",
        ),
        Row::without_effect(
            "RX_MAX_CHUNK_SIZE",
            "128m",
            &Kind::MemUnits,
            "Most memory that is registered for buffers at a time.",
            "256 KiB are registered at a time",
        ),
        Row::without_effect(
            "RX_GROW_FACTOR",
            "1.0",
            &Kind::Double,
            "Each further allocation is longer by this factor.",
            "256 KiB are registered at a time",
        ),
        Row::without_effect(
            "ADDR_TYPE",
            "auto",
            &Kind::Enum(ADDRESS_TYPES),
            "What an address of a device has in it.",
            "it has the identifier and the global address",
        ),
        Row::without_effect(
            "FLID_ROUTE",
            "y",
            &Kind::Bool,
            "Reach other subnets by identifiers of routers.",
            "peers of the same subnet are reached",
        ),
        Row::without_effect(
            "NUM_PATHS",
            "auto",
            &Kind::ULong,
            "Paths between two ports.",
            "one is used",
        ),
        Row::without_effect(
            "ROCE_PATH_FACTOR",
            "1",
            &Kind::UInt,
            "Distance of the source ports of paths.",
            "one path is used",
        ),
        Row::without_effect(
            "LID_PATH_BITS",
            "0",
            &Kind::StrArray,
            "Identifiers of the port that are used.",
            "its base identifier is",
        ),
        Row::without_effect(
            "COUNTER_SET_ID",
            "auto",
            &Kind::ULong,
            "The set of counters that packets count in.",
            "libibverbs has no sets to choose from",
        ),
        Row::without_effect(
            "REVERSE_SL",
            "auto",
            &Kind::ULong,
            "The service level of answers.",
            "it is that of requests",
        ),
        Row::without_effect(
            "SEND_OVERHEAD",
            "",
            &Kind::Str,
            "What posting a request costs, in parts.",
            "one cost of all requests is used",
        ),
    ],
};

static RC: Table = Table {
    name: "RC transport configuration",
    prefix: "RC_",
    parent: Some(&IB),
    rows: &[
        Row::inherited("MAX_NUM_EPS", "256"),
        Row::new(
            "MAX_RD_ATOMIC",
            "auto",
            Kind::ULong,
            "Reads and atomics that a connection may have under way; auto: what the device can.",
        ),
        Row::new(
            "TIMEOUT",
            "1.0s",
            Kind::PlainTime,
            "How long a packet waits for its acknowledgement before it is sent again.",
        ),
        Row::new(
            "RETRY_COUNT",
            "7",
            Kind::UInt,
            "How often a packet is sent again before the peer counts as gone, at most 7.",
        ),
        Row::new(
            "CONNECT_TIMEOUT",
            "5m",
            Kind::PlainTime,
            "How long an endpoint waits for an interface that it is to be connected to and whose process lives; the peer answers in its progress.",
        ),
        Row::new(
            "RNR_TIMEOUT",
            "1ms",
            Kind::PlainTime,
            "How long a sender waits for a receiver that has no buffer posted.",
        ),
        Row::new(
            "RNR_RETRY_COUNT",
            "7",
            Kind::UInt,
            "How often it tries again; 7: without end.",
        ),
        Row::new(
            "FC_ENABLE",
            "y",
            Kind::Bool,
            "Limit the messages of an endpoint that the peer has not handled.",
        ),
        Row::new("FC_WND_SIZE", "512", Kind::UInt, "That limit, in messages."),
        Row::new(
            "FC_HARD_THRESH",
            "0.25",
            Kind::Double,
            "When less than this part of the window is left, the peer shall grant another at once.",
        ),
        Row::without_effect(
            "FENCE",
            "auto",
            &Kind::Str,
            "How a fence is made.",
            "a request behind a fence waits for reads and atomics before it, which is all that a device lets others overtake",
        ),
        Row::without_effect(
            "TX_NUM_GET_BYTES",
            "inf",
            &Kind::MemUnits,
            "Most bytes of reads under way.",
            "TX_QUEUE_LEN and MAX_GET_ZCOPY limit them",
        ),
        Row::new(
            "MAX_GET_ZCOPY",
            "auto",
            Kind::MemUnits,
            "Most bytes of one get without copying; auto: what the device can.",
        ),
        Row::new(
            "TX_NUM_GET_OPS",
            "",
            Kind::Deprecated,
            "TX_QUEUE_LEN limits reads under way.",
        ),
        Row::without_effect(
            "TX_POLL_ALWAYS",
            "n",
            &Kind::Bool,
            "Look for completions of sends also where messages have come.",
            "both are in one queue",
        ),
        Row::without_effect(
            "ECE",
            "auto",
            &Kind::Str,
            "Options of connections that both devices negotiate.",
            "none are negotiated",
        ),
    ],
};

pub static RC_VERBS: Table = Table {
    name: "RC verbs transport configuration",
    prefix: "RC_VERBS_",
    parent: Some(&RC),
    rows: &[
        Row::new(
            "FC_SOFT_THRESH",
            "0.5",
            Kind::Double,
            "When less than this part of the window is left, the peer shall grant another with its next message.",
        ),
        Row::new(
            "TX_CQ_MODERATION",
            "64",
            Kind::UInt,
            "Work requests of an endpoint of which at least one asks for a completion.",
        ),
        Row::new(
            "TX_CQ_LEN",
            "4096",
            Kind::UInt,
            "Work requests that the endpoints of an interface may have under way together.",
        ),
        Row::new(
            "MAX_AM_HDR",
            "128",
            Kind::MemUnits,
            "Most bytes of the header of a message that is sent without copying.",
        ),
        Row::without_effect(
            "TX_MAX_WR",
            "-1",
            &Kind::Int,
            "Limit of the work requests of an endpoint.",
            "TX_QUEUE_LEN is",
        ),
        Row::without_effect(
            "FLUSH_MODE",
            "auto",
            &Kind::Enum(FLUSH_MODES),
            "How a flush makes sure that writes have arrived.",
            "a write of no bytes follows them",
        ),
    ],
};

/// What an interface of rc_verbs is opened with.
#[derive(Clone, Debug)]
pub struct Settings {
    pub segment: usize,
    pub send_queue: u32,
    /// Short requests that are posted at a time.
    pub batch: u32,
    pub inline: u32,
    pub sges: u32,
    pub receive_queue: u32,
    /// Of all endpoints together.
    pub sends: u32,
    pub moderation: u32,
    pub max_header: usize,
    pub max_get: usize,
    pub max_eps: usize,
    /// `None`: what the device can.
    pub reads: Option<u8>,
    pub timeout: u8,
    pub retries: u8,
    pub rnr_timer: u8,
    pub rnr_retries: u8,
    /// Seconds: how long a handshake may take, how long a peer's process may be silent meanwhile, and after what time a quiet peer of a passive connection is asked.
    pub connect_timeout: f64,
    pub silence: f64,
    pub probe: f64,
    /// Messages; `None` without flow control.
    pub window: Option<u32>,
    pub soft: f64,
    pub hard: f64,
    pub path: PathSettings,
}

/// How packets travel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSettings {
    pub is_global: bool,
    pub service_level: u8,
    pub traffic_class: Option<u8>,
    pub hop_limit: u8,
    /// Bits of the subnet that peers must share.
    pub subnet: Option<Option<u8>>,
    /// The kernel must have a route to peers.
    pub needs_route: bool,
    pub partition: Option<u16>,
    /// `IBV_MTU_*`.
    pub mtu: Option<u32>,
}

/// Seconds that a peer's process may be silent before it has connected, at least: its thread may get no processor for a while.
const LEAST_SILENCE: f64 = 5.0;
/// So many timeouts of a packet pass before a quiet peer is asked whether it lives.
const PROBE_TIMEOUTS: f64 = 30.0;
/// The limits of work that is counted with 16 bits.
const MAX_SEND_QUEUE: u32 = 1 << 14;

/// Reads numbers of a transport's variables and refuses those out of range, by the transport's own spelling.
pub struct Reader<'a> {
    pub config: &'a Config,
    /// As `UCX_RC_VERBS_`.
    pub prefix: &'static str,
}

impl Reader<'_> {
    fn within(&self, name: &str, value: usize, min: usize, max: usize) -> Result<u32> {
        if (min..=max).contains(&value) {
            return Ok(value as u32);
        }
        ucs_error!(
            "{}{name} is {value}: it must be between {min} and {max}",
            self.prefix
        );
        Err(Status::INVALID_PARAM)
    }

    pub fn count(&self, var: Var<UInt>, min: usize, max: usize) -> Result<u32> {
        self.within(var.name(), self.config.uint(var) as usize, min, max)
    }

    pub fn bytes(&self, var: Var<Bytes>, min: usize, max: usize) -> Result<u32> {
        self.within(var.name(), self.config.memunits(var), min, max)
    }

    /// `None`: auto.
    pub fn optional(&self, var: Var<Count>, min: usize, max: usize) -> Result<Option<u32>> {
        match self.config.ulong(var) {
            AUTO => Ok(None),
            n => self.within(var.name(), n, min, max).map(Some),
        }
    }
}

impl PathSettings {
    pub fn read(from: &Reader<'_>) -> Result<PathSettings> {
        let config = from.config;
        let prefix_len = || match config.ulong(var!(RC_VERBS, "ROCE_SUBNET_PREFIX_LEN")) {
            AUTO => None,
            n => Some(n.min(128) as u8),
        };
        let mode = REACHABILITY[config.enum_index(var!(RC_VERBS, "ROCE_REACHABILITY_MODE"))];
        Ok(PathSettings {
            is_global: config.bool(var!(RC_VERBS, "IS_GLOBAL")),
            service_level: from.optional(var!(RC_VERBS, "SL"), 0, 15)?.unwrap_or(0) as u8,
            traffic_class: from
                .optional(var!(RC_VERBS, "TRAFFIC_CLASS"), 0, 255)?
                .map(|n| n as u8),
            hop_limit: from.count(var!(RC_VERBS, "HOP_LIMIT"), 1, 255)? as u8,
            subnet: (mode == "local_subnet" || config.bool(var!(RC_VERBS, "ROCE_LOCAL_SUBNET")))
                .then(prefix_len),
            needs_route: mode == "route",
            partition: from
                .optional(var!(RC_VERBS, "PKEY"), 1, 0xffff)?
                .map(|n| n as u16),
            mtu: match MTUS[config.enum_index(var!(RC_VERBS, "PATH_MTU"))] {
                "256" => Some(IBV_MTU_256),
                "512" => Some(IBV_MTU_512),
                "1024" => Some(IBV_MTU_1024),
                "2048" => Some(IBV_MTU_2048),
                "4096" => Some(IBV_MTU_4096),
                _ => None,
            },
        })
    }
}

impl Settings {
    pub fn read(config: &Config) -> Result<Settings> {
        let from = Reader {
            config,
            prefix: "UCX_RC_VERBS_",
        };
        let max_header = from.bytes(var!(RC_VERBS, "MAX_AM_HDR"), 0, 4096)? as usize;
        let segment = from.bytes(var!(RC_VERBS, "SEG_SIZE"), 256, 1 << 20)? as usize;
        let send_queue = from.count(var!(RC_VERBS, "TX_QUEUE_LEN"), 4, MAX_SEND_QUEUE as usize)?;
        let auto = |n: usize| (n != AUTO).then_some(n);
        let thresh = |var: Var<Double>| {
            let part = config.double(var);
            if (0.0..1.0).contains(&part) {
                return Ok(part);
            }
            let name = var.name();
            ucs_error!("UCX_RC_VERBS_{name} is {part}: it must be at least 0 and below 1");
            Err(Status::INVALID_PARAM)
        };
        let retries = from.count(var!(RC_VERBS, "RETRY_COUNT"), 0, 7)?;
        let timeout = config.time(var!(RC_VERBS, "TIMEOUT"));
        let moderation = from.count(
            var!(RC_VERBS, "TX_CQ_MODERATION"),
            1,
            MAX_SEND_QUEUE as usize,
        )?;
        Ok(Settings {
            segment,
            send_queue,
            batch: from.count(var!(RC_VERBS, "TX_MAX_BATCH"), 1, usize::MAX)?,
            inline: from.bytes(var!(RC_VERBS, "TX_MIN_INLINE"), 0, 4096)?,
            sges: from.count(var!(RC_VERBS, "TX_MIN_SGE"), 2, 64)?,
            receive_queue: from.count(var!(RC_VERBS, "RX_QUEUE_LEN"), 16, 1 << 20)?,
            sends: from.count(var!(RC_VERBS, "TX_CQ_LEN"), 64, 1 << 20)?,
            // Half of the queue may wait for a completion that frees the other half.
            moderation: moderation.min(send_queue / 2),
            max_header: max_header.min(segment / 2),
            max_get: config.memunits(var!(RC_VERBS, "MAX_GET_ZCOPY")),
            max_eps: config.ulong(var!(RC_VERBS, "MAX_NUM_EPS")),
            reads: auto(config.ulong(var!(RC_VERBS, "MAX_RD_ATOMIC"))).map(|n| n.min(255) as u8),
            timeout: timeout_exponent(timeout),
            retries: retries as u8,
            connect_timeout: config.time(var!(RC_VERBS, "CONNECT_TIMEOUT")),
            // As long as a packet that nobody acknowledges is sent again.
            silence: (timeout * f64::from(retries + 1)).max(LEAST_SILENCE),
            probe: (timeout * PROBE_TIMEOUTS).max(1.0),
            rnr_timer: rnr_code(config.time(var!(RC_VERBS, "RNR_TIMEOUT"))),
            rnr_retries: from.count(var!(RC_VERBS, "RNR_RETRY_COUNT"), 0, 7)? as u8,
            window: match config.bool(var!(RC_VERBS, "FC_ENABLE")) {
                true => Some(from.count(var!(RC_VERBS, "FC_WND_SIZE"), 2, 1 << 15)?),
                false => None,
            },
            soft: thresh(var!(RC_VERBS, "FC_SOFT_THRESH"))?,
            hard: thresh(var!(RC_VERBS, "FC_HARD_THRESH"))?,
            path: PathSettings::read(&from)?,
        })
    }
}

/// The specification's code of a timeout, `4.096us * 2^code`: the shortest that is not shorter than `seconds`.
fn timeout_exponent(seconds: f64) -> u8 {
    const UNIT: f64 = 4.096e-6;
    (1..31)
        .find(|code| UNIT * f64::from(1u32 << code) >= seconds)
        .unwrap_or(31)
}

/// The specification's code of the time that a sender waits for a receiver without buffers: the shortest that is not
/// shorter than `seconds`.
fn rnr_code(seconds: f64) -> u8 {
    /// Hundredths of a millisecond of the codes from 1 on; code 0 is the longest.
    const CENTIMILLIS: [u32; 31] = [
        1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536,
        2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
    ];
    CENTIMILLIS
        .iter()
        .position(|&c| f64::from(c) * 1e-5 >= seconds)
        .map_or(0, |at| at as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_become_the_specifications_codes() {
        assert_eq!(timeout_exponent(1.0), 18);
        assert_eq!(timeout_exponent(0.05), 14);
        assert_eq!(timeout_exponent(0.0), 1);
        assert_eq!(timeout_exponent(f64::INFINITY), 31);
        assert_eq!(rnr_code(0.001), 14);
        assert_eq!(rnr_code(0.00001), 1);
        assert_eq!(rnr_code(0.491), 31);
        assert_eq!(rnr_code(0.6), 0);
    }

    #[test]
    fn defaults_are_readable() {
        let settings = Settings::read(&Config::read(&RC_VERBS, None).unwrap()).unwrap();
        assert_eq!((settings.segment, settings.window), (8256, Some(512)));
        assert_eq!(settings.path.mtu, None);
    }

    /// Names and defaults of upstream's variables; `?` where the default is not stated, `# deprecated` where the name is
    /// accepted and does nothing.
    #[test]
    fn names_and_defaults_are_upstreams() {
        let text = include_str!("../../../tests/rdma_names.tsv");
        let tables = [
            &MD,
            &RC_VERBS,
            &crate::uct::ib::ud::UD_VERBS,
            &crate::uct::ib::cm::TABLE,
        ];
        let entries: Vec<_> = tables
            .iter()
            .flat_map(|table| Config::read(table, None).unwrap().entries().to_vec())
            .collect();
        let mut count = 0;
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let (name, default) = line.split_once('\t').unwrap();
            let ours = entries
                .iter()
                .find(|entry| entry.name_under("UCX_") == name);
            let ours = ours.unwrap_or_else(|| panic!("{name} is missing"));
            match default {
                "?" => {}
                "# deprecated" => assert!(matches!(ours.kind, Kind::Deprecated), "{name}"),
                default => assert_eq!(
                    ours.kind.parse(default),
                    Some(ours.default_value()),
                    "{name}"
                ),
            }
            count += 1;
        }
        assert!(count > 140);
    }
}
