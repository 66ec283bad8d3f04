//! The variables of contexts, workers and endpoints: `UCX_TLS`, `UCX_RNDV_THRESH` and the like.
//!
//! Read by `ucp_config_read`; a context keeps the values it was made with.
#![forbid(unsafe_code)]

use crate::c::{
    UCP_OP_ATTR_FLAG_FAST_CMPL, UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL, UCP_OP_ATTR_FLAG_MULTI_SEND,
    UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
};
use crate::ucs::config::{Config, Kind, Row, Table, global, is_of_foreign_component, ucm, var};
use crate::ucs::{Result, Status, memtype};
use crate::uct::registry;
use crate::{ucs_debug, ucs_error};

pub const RNDV_SCHEMES: &[&str] = &[
    "auto",
    "get_zcopy",
    "put_zcopy",
    "get_ppln",
    "put_ppln",
    "am",
    "rkey_ptr",
];
pub const ATOMIC_MODES: &[&str] = &["cpu", "device", "guess"];
const FENCE_MODES: &[&str] = &["weak", STRONG_FENCE, "auto", "ep_based"];
const STRONG_FENCE: &str = "strong";
const VERSIONS: &[&str] = &["v1", "v2"];
const OP_FLAGS: &[&str] = &["no_imm_cmpl", "fast_cmpl", "force_imm_cmpl", "multi_send"];
/// What they are in `ucp_request_param_t`.
const OP_ATTR_FLAGS: [u32; OP_FLAGS.len()] = [
    UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
    UCP_OP_ATTR_FLAG_FAST_CMPL,
    UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL,
    UCP_OP_ATTR_FLAG_MULTI_SEND,
];

/// `UCX_EXTRA_OP_ATTR_FLAGS`, as `UCP_OP_ATTR_FLAG_*`.
pub fn extra_op_flags(config: &Config) -> u32 {
    let given = config.bitmap(var!(TABLE, "EXTRA_OP_ATTR_FLAGS"));
    let flags = OP_ATTR_FLAGS.iter().enumerate();
    flags
        .filter(|(bit, _)| given >> bit & 1 != 0)
        .fold(0, |all, (_, flag)| all | flag)
}

/// Whether a fence waits until all accesses are complete.
pub fn has_strong_fences(config: &Config) -> bool {
    FENCE_MODES[config.enum_index(var!(TABLE, "FENCE_MODE"))] == STRONG_FENCE
}

const PLACES: &[(&str, &str)] = &[
    ("intra", "peers on the same node"),
    ("inter", "peers on other nodes"),
];
const OVERHEADS: &[(&str, &str)] = &[
    ("single", "one fragment"),
    ("multi", "several fragments"),
    ("rndv_offload", "rendezvous by hardware"),
    ("rndv_rtr", "asking the sender to write"),
    ("rndv_rts", "asking the receiver to read"),
    ("sw", "an operation made of active messages"),
    ("rkey_ptr", "reading the peer's memory directly"),
];

const fn second_name(name: &'static str, of: &'static str) -> Row {
    Row::new(name, "", Kind::Alias(of), "")
}

/// Sets an option by name: one of this table, or else a global one, at once and for all, or else one of a component,
/// which is kept for the components that a context with this configuration opens, and not checked before.
/// `INVALID_PARAM`: there is none of this name, or the text does not fit.
pub fn modify(config: &mut Config, name: &str, text: &str) -> Result<()> {
    match config.set(name, text) {
        Err(Status::NO_ELEM) => {}
        done => return done,
    }
    match global::set(name, text) {
        Err(Status::NO_ELEM) => {}
        done => return done,
    }
    let ours = ucm::TABLE.has(name) || registry::tables().iter().any(|table| table.has(name));
    if !ours && !is_of_foreign_component(name) {
        ucs_error!("ucp_config_modify: no option that may change now is named '{name}'");
        return Err(Status::INVALID_PARAM);
    }
    if !ours {
        ucs_debug!("{name}={text} is for a component of UCX that is not built in: no effect");
    }
    config.keep_for_others(name, text);
    Ok(())
}

pub static TABLE: Table = Table {
    name: "UCP context configuration",
    prefix: "",
    parent: None,
    rows: &[
        Row::new(
            "NET_DEVICES",
            "all",
            Kind::AllowRanges,
            "Network devices to use.",
        ),
        Row::new(
            "SHM_DEVICES",
            "all",
            Kind::AllowRanges,
            "Devices between processes of one node to use.",
        ),
        Row::new(
            "ACC_DEVICES",
            "all",
            Kind::AllowRanges,
            "Accelerator devices to use.",
        ),
        Row::new(
            "SELF_DEVICES",
            "all",
            Kind::AllowRanges,
            "Devices within one process to use.",
        ),
        Row::new(
            "TLS",
            "all",
            Kind::AllowList,
            "Transports to use, in any order. Besides the names of transports:\n\
             \x20all       : every transport\n\
             \x20sm, shm   : every transport between processes of one node\n\
             \x20mm        : posix, sysv and xpmem\n\
             \x20A backslash before a name takes it as it is; NAME:aux uses it only to connect.",
        ),
        Row::without_effect(
            "PROTOS",
            "all",
            &Kind::AllowList,
            "Protocols to use.",
            "the library has one engine, which has no protocols to choose among",
        ),
        Row::new(
            "ALLOC_PRIO",
            "md:sysv,md:posix,thp,md:*,mmap,heap",
            Kind::StrArray,
            "How memory is allocated, in the order tried: `md:NAME` by that memory domain or\n\
             component, or one of thp, huge, mmap, heap.",
        ),
        Row::without_effect(
            "RNDV_FRAG_SIZE",
            "host:512K,cuda:4M",
            &Kind::StrArray,
            "Fragments of pipelined rendezvous, by memory type.",
            "device memory is staged in windows, whose length and number are measured",
        ),
        Row::without_effect(
            "RNDV_FRAG_ALLOC_COUNT",
            "host:128,cuda:128",
            &Kind::StrArray,
            "How many such fragments are allocated at a time, by memory type.",
            "device memory is staged in windows, whose length and number are measured",
        ),
        Row::new(
            "SOCKADDR_TLS_PRIORITY",
            "rdmacm,tcp,sockcm",
            Kind::StrArray,
            "Connection managers for socket addresses, in the order in which a client tries them; `*` is any.",
        ),
        Row::new(
            "SOCKADDR_AUX_TLS",
            "",
            Kind::Deprecated,
            "TLS says which transports connect.",
        ),
        Row::new(
            "WARN_INVALID_CONFIG",
            "y",
            Kind::Bool,
            "Warn about devices and transports that do not exist.",
        ),
        Row::new(
            "RX_MPOOL_SIZES",
            "64,1k",
            Kind::Array(&Kind::MemUnits),
            "Size classes of buffers for messages that came before their receive.",
        ),
        Row::new(
            "RCACHE_ENABLE",
            "try",
            Kind::Ternary,
            "Remember registrations of user memory.",
        ),
        Row::new(
            "RCACHE_MEM_PRIO",
            "500",
            Kind::UInt,
            "Priority of the cache among handlers of memory events.",
        ),
        Row::without_effect(
            "RCACHE_OVERHEAD",
            "auto",
            &Kind::Time,
            "Cost of looking up a remembered registration.",
            "a registration counts in full where protocols are chosen, remembered or not",
        ),
        Row::new(
            "RCACHE_MAX_REGIONS",
            "inf",
            Kind::ULong,
            "Most registrations that are remembered.",
        ),
        Row::new(
            "RCACHE_MAX_SIZE",
            "inf",
            Kind::MemUnits,
            "Most bytes whose registrations are remembered.",
        ),
        Row::new(
            "RCACHE_MAX_UNRELEASED",
            "inf",
            Kind::MemUnits,
            "Most bytes that wait to be deregistered.",
        ),
        Row::new(
            "RCACHE_PURGE_ON_FORK",
            "y",
            Kind::Bool,
            "Forget registrations before fork().",
        ),
        Row::without_effect(
            "SELECT_DISTANCE_MD",
            "cuda_cpy",
            &Kind::Str,
            "Memory domain whose distance counts when transports are chosen.",
            "transports are not chosen by the distance of one memory domain",
        ),
        Row::without_effect(
            "MEMTYPE_REG_WHOLE_ALLOC_TYPES",
            "cuda",
            &Kind::Bitmap(&memtype::NAMES),
            "Memory types of which whole allocations are registered.",
            "device memory is staged, and not registered",
        ),
        Row::without_effect(
            "RNDV_MEMTYPE_DIRECT_SIZE",
            "inf",
            &Kind::MemUnits,
            "Up to this size, rendezvous of device memory goes without staging.",
            "device memory is always staged",
        ),
        Row::new(
            "BCOPY_THRESH",
            "auto",
            Kind::MemUnits,
            "From this size on, messages are buffered and not sent inline.",
        ),
        Row::new(
            "RNDV_THRESH",
            "auto",
            Kind::KeyValue(PLACES, &Kind::MemUnits),
            "From this size on, messages go by rendezvous",
        ),
        Row::new(
            "RNDV_SEND_NBR_THRESH",
            "256k",
            Kind::MemUnits,
            "The same for sends with a request of the user's and fast completion.",
        ),
        Row::without_effect(
            "RNDV_THRESH_FALLBACK",
            "inf",
            &Kind::MemUnits,
            "The same where the rendezvous of the peer's memory type is not known to be faster.",
            "rendezvous begins at the same size for all memory types",
        ),
        Row::without_effect(
            "RNDV_PERF_DIFF",
            "1",
            &Kind::Double,
            "By how many percent rendezvous may be slower and still be chosen.",
            "RNDV_THRESH or measured throughput decides",
        ),
        Row::new(
            "MULTI_LANE_MAX_RATIO",
            "4",
            Kind::Double,
            "Lanes slower than the fastest by more than this do not share messages with it.",
        ),
        Row::without_effect(
            "MULTI_PATH_RATIO",
            "auto",
            &Kind::PositiveDouble,
            "Share of the bandwidth that each further path of a device adds; auto: by the number of paths.",
            "no device has several paths here",
        ),
        second_name("MAX_EAGER_LANES", "MAX_EAGER_RAILS"),
        Row::new(
            "MAX_EAGER_RAILS",
            "1",
            Kind::UInt,
            "Most devices that share one eager message.",
        ),
        second_name("MAX_RNDV_LANES", "MAX_RNDV_RAILS"),
        Row::new(
            "MAX_RNDV_RAILS",
            "2",
            Kind::UInt,
            "Most devices that share one rendezvous.",
        ),
        second_name("MAX_RMA_LANES", "MAX_RMA_RAILS"),
        Row::new(
            "MAX_RMA_RAILS",
            "1",
            Kind::UInt,
            "Most devices that share one put or get.",
        ),
        Row::new(
            "MIN_RNDV_CHUNK_SIZE",
            "16k",
            Kind::MemUnits,
            "A rendezvous is not split into smaller parts.",
        ),
        Row::new(
            "MIN_RMA_CHUNK_SIZE",
            "8k",
            Kind::MemUnits,
            "A put or get is not split into smaller parts.",
        ),
        Row::without_effect(
            "RMA_ZCOPY_MAX_SEG_SIZE",
            "auto",
            &Kind::MemUnits,
            "Largest part of a put or get without copy.",
            "parts are as long as the transport allows",
        ),
        Row::new(
            "RNDV_SCHEME",
            "auto",
            Kind::Enum(RNDV_SCHEMES),
            "How the data of a rendezvous moves: the receiver reads (get), the sender writes (put),\nin fragments (ppln), as active messages (am), or by mapped memory (rkey_ptr).",
        ),
        Row::without_effect(
            "RKEY_PTR_SEG_SIZE",
            "512k",
            &Kind::MemUnits,
            "How much is copied from mapped memory in one round of progress.",
            "mapped memory is copied in one go",
        ),
        Row::new(
            "ZCOPY_THRESH",
            "auto",
            Kind::MemUnits,
            "From this size on, messages are sent without copy.",
        ),
        Row::new(
            "BCOPY_BW",
            "auto",
            Kind::Bandwidth,
            "Bandwidth of a copy in memory.",
        ),
        Row::without_effect(
            "ATOMIC_MODE",
            "guess",
            &Kind::Enum(ATOMIC_MODES),
            "Who executes atomics: the processor, the device, or what fits the transports.",
            "atomics are executed by the owner's processor",
        ),
        Row::without_effect(
            "ADDRESS_DEBUG_INFO",
            "n",
            &Kind::Bool,
            "Put names into worker addresses.",
            "worker addresses have no names",
        ),
        second_name("MAX_WORKER_NAME", "MAX_WORKER_ADDRESS_NAME"),
        Row::without_effect(
            "MAX_WORKER_ADDRESS_NAME",
            "32",
            &Kind::UInt,
            "Longest name in a worker address, with ADDRESS_DEBUG_INFO.",
            "worker addresses have no names",
        ),
        Row::without_effect(
            "USE_MT_MUTEX",
            "n",
            &Kind::Bool,
            "In workers for many threads, wait in the kernel and not by spinning.",
            "the lock of a worker spins first and waits in the kernel then",
        ),
        Row::without_effect(
            "ADAPTIVE_PROGRESS",
            "y",
            &Kind::Bool,
            "Poll interfaces only while they have endpoints or listeners.",
            "an interface without endpoints costs nothing",
        ),
        Row::new(
            "SEG_SIZE",
            "8k",
            Kind::MemUnits,
            "Segments of the memory that workers register beforehand.",
        ),
        Row::without_effect(
            "TM_THRESH",
            "1k",
            &Kind::MemUnits,
            "From this size on, receives are matched by the device.",
            "no device matches tags here",
        ),
        Row::without_effect(
            "TM_MAX_BB_SIZE",
            "1k",
            &Kind::MemUnits,
            "Up to this size, device-matched receives use buffers of the worker.",
            "no device matches tags here",
        ),
        Row::without_effect(
            "TM_FORCE_THRESH",
            "8k",
            &Kind::MemUnits,
            "From this size on, a receive makes all earlier ones device-matched.",
            "no device matches tags here",
        ),
        Row::without_effect(
            "TM_SW_RNDV",
            "n",
            &Kind::Ternary,
            "With device matching, do rendezvous in software.",
            "no device matches tags here",
        ),
        Row::new(
            "NUM_EPS",
            "auto",
            Kind::ULong,
            "How many endpoints to expect, in place of what the program says.",
        ),
        Row::new(
            "NUM_PPN",
            "auto",
            Kind::ULong,
            "How many processes on the node to expect, in place of what the program says.",
        ),
        second_name("RNDV_FRAG_MEM_TYPE", "RNDV_FRAG_MEM_TYPES"),
        Row::without_effect(
            "RNDV_FRAG_MEM_TYPES",
            "host,cuda",
            &Kind::Bitmap(&memtype::NAMES),
            "Memory types of the fragments of pipelined rendezvous.",
            "device memory is staged in windows, whose length and number are measured",
        ),
        Row::without_effect(
            "MEMTYPE_COPY_ENABLE",
            "y",
            &Kind::Bool,
            "Copy between memory types through staging buffers.",
            "device memory is always staged",
        ),
        Row::without_effect(
            "RNDV_PIPELINE_SEND_THRESH",
            "inf",
            &Kind::MemUnits,
            "From this size on, the sender also stages the data of a pipelined rendezvous.",
            "device memory is staged in windows, whose length and number are measured",
        ),
        Row::without_effect(
            "RNDV_PIPELINE_SHM_ENABLE",
            "y",
            &Kind::Bool,
            "Use pipelined rendezvous between processes of one node.",
            "device memory is staged in windows, whose length and number are measured",
        ),
        Row::without_effect(
            "RNDV_PIPELINE_ERROR_HANDLING",
            "n",
            &Kind::Bool,
            "Use pipelined rendezvous on endpoints with error handling.",
            "device memory is staged in windows, whose length and number are measured",
        ),
        Row::without_effect(
            "RMA_PPLN_ENABLE",
            "n",
            &Kind::Bool,
            "Use rendezvous for put and get.",
            "puts and gets need no rendezvous",
        ),
        Row::without_effect(
            "FLUSH_WORKER_EPS",
            "y",
            &Kind::Bool,
            "Flush a worker by flushing its endpoints.",
            "a worker is flushed endpoint by endpoint",
        ),
        Row::new(
            "FENCE_MODE",
            "auto",
            Kind::Enum(FENCE_MODES),
            "Orders the accesses of each endpoint, waiting where its transport does not keep the order (weak, auto, ep_based), or waits until all are complete, so that those of different endpoints are in order too (strong).",
        ),
        Row::without_effect(
            "UNIFIED_MODE",
            "n",
            &Kind::Bool,
            "Promise that all nodes have the same devices: addresses get shorter.",
            "addresses are short in any case",
        ),
        Row::new(
            "CM_USE_ALL_DEVICES",
            "y",
            Kind::Bool,
            "Endpoints between client and server use all devices, shared memory included, and not only the one that the connection manager connected by.",
        ),
        Row::new(
            "LISTENER_BACKLOG",
            "auto",
            Kind::ULong,
            "Connections that wait to be accepted; no more than the system allows.",
        ),
        Row::without_effect(
            "PROTO_ENABLE",
            "y",
            &Kind::Bool,
            "Choose protocols by cost.",
            "the library has one engine",
        ),
        Row::without_effect(
            "PROTO_REQUEST_RESET",
            "n",
            &Kind::Bool,
            "Restart requests whose protocol changes, for tests.",
            "the library has one engine",
        ),
        Row::new(
            "UNEXPECTED_MAX_SIZE",
            "auto",
            Kind::MemUnits,
            "When messages that nobody receives take so much memory, the worker stops receiving until some\n\
             are taken, unless the program waits for something. auto: a quarter of the machine's memory.",
        ),
        Row::new(
            "INFO_SOCKET",
            "n",
            Kind::Bool,
            "Let `ferrucx-info dump` and `top` of the same user ask this process what it does: its workers answer on a\n\
             socket in the folder $XDG_RUNTIME_DIR/ferrucx.",
        ),
        Row::new(
            "PROGRESS_THREAD",
            "n",
            Kind::Bool,
            "Give each worker a thread that makes progress while the program does not. Callbacks may run on it,\n\
             as on any thread of a program that uses a worker with several: the worker is in MULTI mode.",
        ),
        Row::new(
            "UPSTREAM_PEERS",
            "try",
            Kind::Ternary,
            "Talk to processes of upstream UCX over tcp, by worker address and by socket address. With y no connection\n\
             is made by rdmacm, which they do not understand.",
        ),
        Row::new(
            "WIREUP_TIMEOUT",
            "2m",
            Kind::Time,
            "How long a client waits for its server to accept, and an endpoint with error handling for its\n\
             peer to take a connection, before the endpoint fails.",
        ),
        Row::new(
            "KEEPALIVE_INTERVAL",
            "20s",
            Kind::Time,
            "Time between checks whether peers live, on endpoints with error handling.",
        ),
        Row::new(
            "KEEPALIVE_NUM_EPS",
            "128",
            Kind::UInt,
            "Most endpoints that one round checks.",
        ),
        Row::new(
            "RECOVERY_RETRIES",
            "inf",
            Kind::UInt,
            "How often a failed path is connected again in mode FAILOVER.",
        ),
        Row::without_effect(
            "DYNAMIC_TL_SWITCH_INTERVAL",
            "inf",
            &Kind::Time,
            "Time between rounds of moving busy endpoints to better transports.",
            "endpoints keep their transports",
        ),
        Row::without_effect(
            "DYNAMIC_TL_PROGRESS_FACTOR",
            "auto",
            &Kind::Time,
            "Time between looks at the clock for such a round.",
            "endpoints keep their transports",
        ),
        Row::without_effect(
            "RESOLVE_REMOTE_EP_ID",
            "off",
            &Kind::OnOffAuto,
            "Have the peer's endpoint id before the first message.",
            "wire-up tells the peer's endpoint id in any case",
        ),
        Row::without_effect(
            "PROTO_INDIRECT_ID",
            "auto",
            &Kind::OnOffAuto,
            "Name requests by ids and not by addresses.",
            "they always have ids",
        ),
        Row::without_effect(
            "RNDV_PUT_FORCE_FLUSH",
            "n",
            &Kind::Bool,
            "Flush after the writes of a rendezvous, where the transport would not need it.",
            "the writes of a rendezvous are confirmed in any case",
        ),
        Row::without_effect(
            "PROTO_EMULATION_ENABLE",
            "y",
            &Kind::Bool,
            "Make puts, gets and atomics of active messages where the transport has none.",
            "what a transport cannot do is always made of active messages",
        ),
        Row::without_effect(
            "SA_DATA_VERSION",
            "v2",
            &Kind::Enum(VERSIONS),
            "Version of what connection managers exchange.",
            "there is one version",
        ),
        Row::without_effect(
            "RKEY_MPOOL_MAX_MD",
            "2",
            &Kind::Int,
            "Remote keys of up to this many memory domains come from a pool.",
            "remote keys have one size",
        ),
        Row::without_effect(
            "ADDRESS_VERSION",
            "v1",
            &Kind::Enum(VERSIONS),
            "Version of worker addresses.",
            "there is one version",
        ),
        Row::new(
            "PROTO_INFO",
            "auto",
            Kind::Str,
            "Print the chosen protocols: y, n, auto, used (at the end, with the number of operations), or a pattern of titles.",
        ),
        Row::without_effect(
            "RNDV_ALIGN_THRESH",
            "64k",
            &Kind::MemUnits,
            "From this size on, parts of a rendezvous are aligned.",
            "parts of a rendezvous are aligned in any case",
        ),
        Row::new(
            "PROTO_INFO_DIR",
            "",
            Kind::Str,
            "Folder to which the chosen protocols are written.",
        ),
        Row::new(
            "REG_NONBLOCK_MEM_TYPES",
            "",
            Kind::Bitmap(&memtype::NAMES),
            "Memory types that are registered without pinning, by devices that fetch pages on demand, and by no others if there is one.",
        ),
        Row::new(
            "REG_NONBLOCK_FALLBACK",
            "y",
            Kind::Bool,
            "Pin memory of these types where no device fetches pages on demand; else it is not registered, but copied.",
        ),
        Row::without_effect(
            "PREFER_OFFLOAD",
            "y",
            &Kind::Bool,
            "Prefer transports whose device moves the data by itself.",
            "the fastest transport is taken",
        ),
        Row::new(
            "PROTO_OVERHEAD",
            "single:5ns,multi:10ns,rndv_offload:40ns,rndv_rtr:40ns,rndv_rts:275ns,sw:40ns,rkey_ptr:0",
            Kind::KeyValue(OVERHEADS, &Kind::PlainTime),
            "Cost of protocol steps",
        ),
        Row::without_effect(
            "GVA_ENABLE",
            "off",
            &Kind::OnOffAuto,
            "Register the whole address space once.",
            "the address space is not registered as a whole",
        ),
        Row::without_effect(
            "GVA_MLOCK",
            "y",
            &Kind::Bool,
            "Lock what the global registration covers.",
            "the address space is not registered as a whole",
        ),
        Row::without_effect(
            "GVA_PREFETCH",
            "y",
            &Kind::Bool,
            "Prefetch what the global registration covers.",
            "the address space is not registered as a whole",
        ),
        Row::new(
            "EXTRA_OP_ATTR_FLAGS",
            "",
            Kind::Bitmap(OP_FLAGS),
            "Flags that every operation on a buffer gets besides its own.",
        ),
        Row::without_effect(
            "MAX_PRIORITY_EPS",
            "20",
            &Kind::UInt,
            "Most endpoints that dynamic switching favours.",
            "endpoints keep their transports",
        ),
        Row::without_effect(
            "WIREUP_VIA_AM_LANE",
            "n",
            &Kind::Bool,
            "Exchange connection messages over the lane of active messages.",
            "connection messages go over the lane of active messages in any case",
        ),
        Row::without_effect(
            "CONNECT_ALL_TO_ALL",
            "n",
            &Kind::Bool,
            "Use every pair of a local and a remote device.",
            "a local device is connected with one remote device",
        ),
        Row::new(
            "SINGLE_NET_DEVICE",
            "n",
            Kind::Bool,
            "Use one network device only, the nearest.",
        ),
        Row::without_effect(
            "MAX_HCA_PER_GPU",
            "inf",
            &Kind::ULong,
            "Most network devices that serve one accelerator.",
            "no network device reaches device memory",
        ),
        Row::new(
            "NODE_LOCAL_ID",
            "auto",
            Kind::ULong,
            "Number of this process on its node, in place of what the program says.",
        ),
        Row::new(
            "PRINT_TRANSPORT_TABLES",
            "auto",
            Kind::OnOffAuto,
            "Print which transports and devices there are and which lanes endpoints got.",
        ),
        Row::without_effect(
            "MAX_COMPONENT_MDS",
            "16",
            &Kind::ULong,
            "Most memory domains of one component.",
            "all memory domains are used",
        ),
    ],
};
