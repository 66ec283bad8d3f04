//! What the tables say: the protocol of each kind of operation by length.

use super::Row;
use crate::c::*;
use crate::ucp::context::Context;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Capability, Ep, Lane};
use crate::ucp::op::{MessageKind, Stage, UserHeader};
use crate::ucp::plan::RndvPolicy;
use crate::ucp::proto::device_access;
use crate::ucp::proto::rndv::mapped;
use crate::ucp::proto::send;
use crate::ucp::proto::zcopy::Direction;
use crate::ucp::rndv_state::SenderState;
use crate::ucp::staging;
use crate::ucs::memtype::MemType;
use crate::wire::header::{AmHdr, StreamHdr};
use crate::wire::id::EpName;
use core::iter;

/// The operations that a table is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Tag,
    /// With UCP_OP_ATTR_FLAG_FAST_CMPL.
    TagFast,
    TagSync,
    Am,
    Stream,
    /// Messages from memory that the peer can map.
    Mapped,
    Put,
    /// To memory that is mapped here, as the next ones.
    PutMapped,
    Get,
    GetMapped,
    Atomic,
    AtomicMapped,
}

impl Verb {
    /// The features of which a context needs one.
    fn features(self) -> u32 {
        match self {
            Verb::Tag | Verb::TagFast | Verb::TagSync => UCP_FEATURE_TAG,
            Verb::Am => UCP_FEATURE_AM,
            Verb::Stream => UCP_FEATURE_STREAM,
            Verb::Mapped => UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_STREAM,
            Verb::Put | Verb::PutMapped | Verb::Get | Verb::GetMapped => UCP_FEATURE_RMA,
            Verb::Atomic | Verb::AtomicMapped => UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64,
        }
    }

    /// A message of this kind, and how it chooses a rendezvous unless it asks for one.
    fn message(self) -> Option<(MessageKind, RndvPolicy)> {
        let am = || MessageKind::Am {
            hdr: AmHdr {
                header: 0,
                id: 0,
                flags: 0,
                unused: 0,
            },
            reply: None,
            header: UserHeader::Ours(Box::default()),
        };
        let stream = || MessageKind::Stream {
            hdr: StreamHdr {
                ep: EpName::default(),
            },
        };
        Some(match self {
            Verb::Tag => (MessageKind::Tag { tag: 0 }, RndvPolicy::ByLength),
            Verb::TagFast => (MessageKind::Tag { tag: 0 }, RndvPolicy::LongOnly),
            Verb::TagSync => (MessageKind::TagSync { tag: 0 }, RndvPolicy::ByLength),
            Verb::Am => (am(), RndvPolicy::ByLength),
            Verb::Stream => (stream(), RndvPolicy::Mapped),
            _ => return None,
        })
    }

    /// Its rows for an endpoint; none if the endpoint has no such operations.
    fn rows(self, ep: &Ep) -> Vec<Row> {
        let name = ep.transport_name();
        let mapped = |way| match shares_memory(ep) {
            true => vec![row(0, way, &name)],
            false => Vec::new(),
        };
        match self {
            Verb::Mapped if ep.is_same_host() && ep.worker().proto().rules.maps && !is_own(ep) => {
                let way = "rendezvous copy from mapped remote memory";
                vec![row(ep.lane().thresholds.rndv_mapped, way, &name)]
            }
            Verb::Put => access_rows(ep).0,
            Verb::Get => access_rows(ep).1,
            Verb::PutMapped | Verb::GetMapped => mapped("copy"),
            Verb::Atomic => vec![row(0, "software emulation", &name)],
            Verb::AtomicMapped => mapped("processor instruction"),
            _ => Vec::new(),
        }
    }
}

const VERBS: [Verb; 12] = [
    Verb::Tag,
    Verb::TagFast,
    Verb::TagSync,
    Verb::Am,
    Verb::Stream,
    Verb::Mapped,
    Verb::Put,
    Verb::PutMapped,
    Verb::Get,
    Verb::GetMapped,
    Verb::Atomic,
    Verb::AtomicMapped,
];

/// What a table is about: operations, and the types of memory at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    pub verb: Verb,
    pub memory: ucs_memory_type_t,
    /// The peer's that is accessed; the host's of messages.
    pub remote: ucs_memory_type_t,
}

impl Subject {
    pub fn of(verb: Verb, memory: ucs_memory_type_t) -> Subject {
        Subject {
            verb,
            memory,
            remote: UCS_MEMORY_TYPE_HOST,
        }
    }

    pub fn of_host(verb: Verb) -> Subject {
        Subject::of(verb, UCS_MEMORY_TYPE_HOST)
    }

    /// The tables of this kind: of messages by the type of memory here, of puts and gets by those of both ends.
    fn all(verb: Verb, devices: &[ucs_memory_type_t]) -> Vec<Subject> {
        let with_host = || iter::once(UCS_MEMORY_TYPE_HOST).chain(devices.iter().copied());
        let by_local = || with_host().map(|memory| Subject::of(verb, memory));
        match verb {
            Verb::Put | Verb::Get => by_local()
                .flat_map(|of| with_host().map(move |remote| Subject { remote, ..of }))
                .collect(),
            Verb::PutMapped | Verb::GetMapped => by_local().collect(),
            _ if verb.message().is_some() => by_local().collect(),
            _ => vec![Subject::of_host(verb)],
        }
    }

    fn is_of_host(self) -> bool {
        (self.memory, self.remote) == (UCS_MEMORY_TYPE_HOST, UCS_MEMORY_TYPE_HOST)
    }

    fn title(self) -> String {
        let name = |memory| MemType::from_c(memory).name();
        let (here, there) = (name(self.memory), name(self.remote));
        match self.verb {
            Verb::Tag => format!("tagged message by ucp_tag_send* from {here} memory"),
            Verb::TagFast => {
                format!("tagged message by ucp_tag_send*(fast-completion) from {here} memory")
            }
            Verb::TagSync => {
                format!("synchronous tagged message by ucp_tag_send_sync* from {here} memory")
            }
            Verb::Am => format!("active message by ucp_am_send* from {here} memory"),
            Verb::Stream => format!("stream message by ucp_stream_send* from {here} memory"),
            Verb::Mapped => {
                "message from host memory of ucp_mem_map that the peer can map".to_owned()
            }
            Verb::Put => format!("remote memory write by ucp_put* from {here} memory to {there}"),
            Verb::PutMapped => format!(
                "remote memory write by ucp_put* from {here} memory to host memory that is mapped here"
            ),
            Verb::Get => format!("remote memory read by ucp_get* into {here} memory from {there}"),
            Verb::GetMapped => format!(
                "remote memory read by ucp_get* into {here} memory from host memory that is mapped here"
            ),
            Verb::Atomic => "atomic operation by ucp_atomic_op* on host".to_owned(),
            Verb::AtomicMapped => {
                "atomic operation by ucp_atomic_op* on host memory that is mapped here".to_owned()
            }
        }
    }

    fn table(self, ep: &Ep) -> Table {
        let rows = match self.verb.message() {
            Some((kind, policy)) => message_rows(ep, &kind, policy, self.memory),
            None if self.is_of_host() => self.verb.rows(ep),
            None => device_access_rows(ep, self),
        };
        Table {
            subject: self,
            title: self.title(),
            rows,
        }
    }
}

/// The protocols of one kind of operation.
pub struct Table {
    pub subject: Subject,
    pub title: String,
    /// By their start; a range of lengths ends at the next one's.
    pub rows: Vec<Row>,
}

/// The tables of an endpoint, by the features of its context and the devices that it copies with.
pub fn tables(ep: &Ep) -> Vec<Table> {
    let context = ep.worker().context();
    let is_wanted = |verb: &Verb| context.params.features & u64::from(verb.features()) != 0;
    let verbs = || VERBS.into_iter().filter(is_wanted);
    let devices: Vec<_> = device_types(context).collect();
    let mut subjects: Vec<_> = verbs()
        .flat_map(|verb| Subject::all(verb, &devices))
        .collect();
    subjects.sort_by_key(|subject| !subject.is_of_host());
    subjects
        .into_iter()
        .map(|subject| subject.table(ep))
        .filter(|table| !table.rows.is_empty())
        .collect()
}

/// The types of memory besides the host's.
fn device_types(context: &Context) -> impl Iterator<Item = ucs_memory_type_t> {
    let types = context.device_memory.types();
    (0..u64::BITS).filter(move |kind| types & (1 << kind) != 0)
}

fn row(from: usize, way: &str, by: &str) -> Row {
    Row {
        from,
        way: way.to_owned(),
        by: by.to_owned(),
        count: 0,
    }
}

/// The protocol of a contiguous message from a type of memory by length.
fn message_rows(
    ep: &Ep,
    kind: &MessageKind,
    policy: RndvPolicy,
    memory: ucs_memory_type_t,
) -> Vec<Row> {
    let lane = ep.lane();
    let t = &lane.thresholds;
    let head = kind.header_len();
    let after = |limit: usize| limit.saturating_add(1);
    let mut lengths = vec![
        0,
        1,
        after(lane.max_short),
        t.zcopy,
        t.rndv,
        t.rndv_fast,
        after(lane.max_bcopy.saturating_sub(head)),
        after(lane.max_zcopy.saturating_sub(head)),
    ];
    let copier = ep.worker().context().device_memory.copier(memory);
    if copier.is_some() {
        lengths.extend([
            t.rndv_device,
            t.rndv_staged,
            t.rndv_scattered,
            staging::SHORTEST,
            after(staging::LONGEST),
        ]);
    }
    lengths.retain(|length| *length < usize::MAX - 1);
    lengths.sort_unstable();
    let mut rows: Vec<Row> = Vec::new();
    for from in lengths {
        // Memory at null is in no region, so mapped memory gets a table of its own.
        let data = Data::contig(core::ptr::null_mut(), from);
        let data = match copier {
            Some(copier) => data.staged(copier, memory),
            None => data,
        };
        let (way, by) = message_way(ep, kind, &data, policy);
        if rows
            .last()
            .is_none_or(|last| (&last.way, &last.by) != (&way, &by))
        {
            rows.push(row(from, &way, &by));
        }
    }
    rows
}

/// The protocol of one message, and its transport.
fn message_way(ep: &Ep, kind: &MessageKind, data: &Data, policy: RndvPolicy) -> (String, String) {
    let lane = ep.lane();
    let name = ep.transport_name();
    let short = data.contiguous().is_some() && data.len() <= lane.max_short;
    if kind.word().is_some() && lane.am_short.is_some() && short && policy != RndvPolicy::Always {
        return ("eager short".to_owned(), name);
    }
    match send::plan(ep, kind, data, policy) {
        Stage::Whole => ("eager copy-in copy-out".to_owned(), name),
        Stage::WholeInPlace => ("eager zero-copy copy-out".to_owned(), name),
        Stage::Rndv(SenderState::SendRts) => rndv_way(ep, data),
        _ => ("multi-frag eager copy-in copy-out".to_owned(), name),
    }
}

/// How the data of a rendezvous message move. The receiver decides it, by the same rules as far as
/// its configuration is the same.
fn rndv_way(ep: &Ep, data: &Data) -> (String, String) {
    let rules = ep.worker().proto().rules;
    let (reads, writes) = match (data.device_block(), data.contiguous()) {
        (Some((_, kind)), _) => {
            let copies = ep.device_lane(kind).or_else(|| ep.rdma_lane(kind));
            (copies, copies)
        }
        (None, None) => (None, None),
        (None, Some(_)) => {
            let copies = ep.lane_with(Capability::SingleCopy);
            let device = ep.lane_with(Capability::Rdma);
            let put = ep.lane_with(Capability::PutByKey);
            (copies.or(device), copies.or(put).or(device))
        }
    };
    let (how, by) = if is_own(ep) && rules.maps {
        ("copy from mapped remote memory", ep.transport_name())
    } else if let Some(lane) = reads.filter(|_| rules.reads) {
        ("zero-copy read from remote", ep.name_of(lane.iface))
    } else if let Some(lane) = writes.filter(|_| rules.writes) {
        ("zero-copy write to remote", ep.name_of(lane.iface))
    } else if mapped::is_stageable(ep, data) {
        (
            "device copy to memory that the peer maps",
            ep.transport_name(),
        )
    } else if mapped::goes_by_parts(ep, data) {
        (
            "pipeline through memory that the peer maps",
            ep.transport_name(),
        )
    } else if let Some(lane) =
        mapped::lane_for_device_parts(ep).filter(|_| mapped::goes_by_device_parts(ep, data))
    {
        ("pipeline through device memory", ep.name_of(lane.iface))
    } else {
        ("fragmented copy-in copy-out", ep.transport_name())
    };
    (format!("(?) rendezvous {how}"), by)
}

/// How puts and gets of memory that is not mapped go.
fn access_rows(ep: &Ep) -> (Vec<Row>, Vec<Row>) {
    let emulated = || row(0, "software emulation", &ep.transport_name());
    let zero_copy = |from, lane: Lane| row(from, "zero-copy", &ep.name_of(lane.iface));
    let lane_with = |capability| ep.lane_with(capability);
    match (
        lane_with(Capability::SingleCopy),
        lane_with(Capability::PutByKey),
    ) {
        (Some(lane), _) => (vec![zero_copy(0, lane)], vec![zero_copy(0, lane)]),
        (None, Some(lane)) => {
            let puts = match ep.longest_put_message() {
                Some(most) => vec![emulated(), zero_copy(most + 1, lane)],
                None => vec![zero_copy(0, lane)],
            };
            (puts, vec![emulated()])
        }
        (None, None) => (vec![emulated()], vec![emulated()]),
    }
}

/// Whether an endpoint leads back to its worker.
fn is_own(ep: &Ep) -> bool {
    ep.remote_uuid.get() == ep.worker().uuid
}

/// Whether memory of the peer's may be mapped here.
fn shares_memory(ep: &Ep) -> bool {
    ep.is_same_host() || is_own(ep)
}

/// How puts and gets go whose memory is a device's at one end or both.
fn device_access_rows(ep: &Ep, subject: Subject) -> Vec<Row> {
    let memory = &ep.worker().context().device_memory;
    let is_mapped = matches!(subject.verb, Verb::PutMapped | Verb::GetMapped);
    if is_mapped && !shares_memory(ep) {
        return Vec::new();
    }
    let mut rows: Vec<Row> = Vec::new();
    for from in [0, 1, device_access::FROM_HOST, staging::SHORTEST] {
        let data = Data::contig(core::ptr::null_mut(), from);
        let data = match memory.copier(subject.memory) {
            Some(copier) => data.staged(copier, subject.memory),
            None => data,
        };
        let (way, by) = match is_mapped {
            true if device_access::copier(ep, &data).is_some() => {
                ("device copy", ep.transport_name())
            }
            true => ("copy", ep.transport_name()),
            false => device_access_way(ep, subject, &data),
        };
        if rows
            .last()
            .is_none_or(|last| (last.way.as_str(), &last.by) != (way, &by))
        {
            rows.push(row(from, way, &by));
        }
    }
    rows
}

/// How one of them goes to memory that is not mapped, as far as the peer's key has what the lane needs.
fn device_access_way(ep: &Ep, subject: Subject, data: &Data) -> (&'static str, String) {
    let direction = match subject.verb {
        Verb::Put => Direction::Put,
        _ => Direction::Get,
    };
    let by_host = || {
        ep.lane_with(Capability::SingleCopy)
            .or_else(|| ep.lane_with(Capability::PutByKey))
    };
    let lane = match subject.remote {
        UCS_MEMORY_TYPE_HOST if by_host().is_some() => None,
        UCS_MEMORY_TYPE_HOST => ep.rdma_lane(subject.memory),
        remote if ep.device_lane(remote).is_some() => {
            device_access::lane(ep, data, remote, direction)
        }
        _ => ep.rdma_lane(subject.memory),
    };
    match lane.filter(|_| !data.is_empty()) {
        Some(lane) => ("zero-copy", ep.name_of(lane.iface)),
        None => ("software emulation", ep.transport_name()),
    }
}

/// What the table is about that a message belongs to, and its protocol there. `policy` is what it is sent with.
pub fn of_message(ep: &Ep, verb: Verb, data: &Data, policy: RndvPolicy) -> (Subject, String) {
    let memory = data.memory_type();
    let Some((kind, _)) = verb.message() else {
        return (Subject::of(verb, memory), String::new());
    };
    let stage = send::plan(ep, &kind, data, policy);
    let is_rndv = stage == Stage::Rndv(SenderState::SendRts);
    if is_rndv && mapped::is_mappable_elsewhere(ep, data) {
        return (Subject::of_host(Verb::Mapped), String::new());
    }
    let way = message_way(ep, &kind, data, policy).0;
    (Subject::of(verb, memory), way)
}
