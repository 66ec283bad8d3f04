//! What the tables say: the protocol of each kind of operation by length.

use super::{Row, ways};
use crate::c::*;
use crate::ucp::context::Context;
use crate::ucp::dt::Data;
use crate::ucp::ep::{Capability, Ep};
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
        let all_lengths = |way| vec![row(0, way, &ep.transport_name())];
        let rows = match self.verb {
            Verb::Put | Verb::PutMapped | Verb::Get | Verb::GetMapped => access_rows(ep, self),
            Verb::Mapped if ways::maps_messages(ep) => {
                let from = ep.lane().thresholds.rndv_mapped;
                vec![row(from, ways::COPY_FROM_MAPPED, &ep.transport_name())]
            }
            Verb::Atomic => all_lengths(ways::BY_MESSAGES),
            Verb::AtomicMapped if ways::shares_memory(ep) => all_lengths("processor instruction"),
            verb => match verb.message() {
                Some((kind, policy)) => message_rows(ep, &kind, policy, self.memory),
                None => Vec::new(),
            },
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
    let device_memory = &ep.worker().context().device_memory;
    if device_memory.copier(memory).is_some() {
        lengths.extend([
            t.rndv_device,
            t.rndv_staged,
            t.rndv_scattered,
            staging::SHORTEST,
            after(staging::LONGEST),
        ]);
    }
    rows_of(ep, memory, lengths, |data| {
        ways::message(ep, kind, data, policy)
    })
}

/// The protocol of puts or gets by length, between the types of memory of a table.
fn access_rows(ep: &Ep, subject: Subject) -> Vec<Row> {
    if matches!(subject.verb, Verb::PutMapped | Verb::GetMapped) && !ways::shares_memory(ep) {
        return Vec::new();
    }
    let best = ep.access_lanes(subject.remote).next();
    let by = best.map(|(capability, _)| capability);
    let after = |limit: usize| limit.saturating_add(1);
    let mut lengths = vec![
        0,
        1,
        device_access::FROM_HOST,
        staging::SHORTEST,
        after(ways::rdma_buffer(ep, Direction::Put)),
        after(ways::rdma_buffer(ep, Direction::Get)),
    ];
    lengths.extend(ep.longest_put_message().map(after));
    rows_of(ep, subject.memory, lengths, |data| {
        of_access(ep, subject, by, data)
    })
}

/// A row for each range of lengths whose messages or accesses go the same way. Both may change at these lengths only.
fn rows_of(
    ep: &Ep,
    memory: ucs_memory_type_t,
    mut lengths: Vec<usize>,
    way_of: impl Fn(&Data) -> (String, String),
) -> Vec<Row> {
    let copier = ep.worker().context().device_memory.copier(memory);
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
        let (way, by) = way_of(&data);
        if rows
            .last()
            .is_none_or(|last| (&last.way, &last.by) != (&way, &by))
        {
            rows.push(row(from, &way, &by));
        }
    }
    rows
}

/// The protocol of an access whose key wants a lane with a capability, and its transport.
pub fn of_access(
    ep: &Ep,
    subject: Subject,
    by: Option<Capability>,
    data: &Data,
) -> (String, String) {
    let remote = subject.remote;
    match subject.verb {
        Verb::Put => ways::access(ep, by, (remote, Direction::Put), data),
        Verb::Get => ways::access(ep, by, (remote, Direction::Get), data),
        _ => ways::mapped_access(ep, data),
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
    let way = ways::message(ep, &kind, data, policy).0;
    (Subject::of(verb, memory), way)
}
