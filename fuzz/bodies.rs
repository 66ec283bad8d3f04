//! What takes bytes from strangers, each as a function of bytes that may do anything but crash. Shared by the fuzzer and by
//! `tests/fuzz_corpora.rs`, which runs what is kept in `fuzz/corpora`.

use ferrucx::abi::ucp::{context, ep, mem, request, tag, worker};
use ferrucx::c::*;
use ferrucx::ucp::ep::Ep;
use ferrucx::ucp::upstream::on_event;
use ferrucx::uct::internal::{UpstreamEvent, UpstreamMessage};
use ferrucx::uct::{auth, cm, cma, ib, shm, tcp};
use ferrucx::wire::blob::{HEAD, seal, split_first};
use ferrucx::wire::envelope::{self, EnvelopeKind, Look, Private};
use ferrucx::wire::greeting::ShortGreeting;
use ferrucx::wire::header::*;
use ferrucx::wire::id::{EpId, EpName};
use ferrucx::wire::{address::Address, rkey::Rkey, upstream};
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

/// What may do anything with the bytes but crash.
pub type Body = fn(&[u8]);

pub const BODIES: &[(&str, Body)] = &[
    ("frame", frame),
    ("greeting", greeting),
    ("headers", headers),
    ("address", address),
    ("rkey", rkey),
    ("upstream", foreign),
    ("upstream-frames", upstream_frames),
    ("upstream-messages", upstream_messages),
    ("keys", keys),
    ("router", router),
    ("proof", proof),
    ("rdma", rdma),
    ("datagrams", datagrams),
    ("handshakes", handshakes),
];

/// A stream of tcp's frames.
fn frame(mut data: &[u8]) {
    while let Ok(Some((_, length))) = tcp::wire::decode(data, 8192) {
        assert!(length > 0);
        let Some(rest) = data.get(length..) else {
            return;
        };
        data = rest;
    }
}

/// Addresses and keys of RDMA transports: what is decoded is written back the same.
fn rdma(data: &[u8]) {
    use ib::wire::{DeviceAddr, EpAddr, decode_key, encode_key};
    if let Some(bytes) = data.first_chunk()
        && let Some(address) = DeviceAddr::decode(bytes)
    {
        assert_eq!(address.encode(), *bytes);
    }
    if let Some(bytes) = data.first_chunk()
        && let Some(address) = EpAddr::decode(bytes)
    {
        assert_eq!(address.encode(), *bytes);
    }
    if let Some(bytes) = data.first_chunk()
        && let Some(key) = decode_key(*bytes)
    {
        assert_eq!(encode_key(key), *bytes);
    }
}

/// A datagram behind the header that the device writes, as one of each kind, and the addresses of `ud_verbs`.
fn datagrams(data: &[u8]) {
    use ib::grh::{GRH_LEN, decode_route};
    use ib::ud::wire::*;
    if let Some(bytes) = data.first_chunk() {
        let _ = decode_route(bytes);
    }
    let datagram = data.get(GRH_LEN..).unwrap_or(data);
    if let Some((bytes, payload)) = datagram.split_first_chunk() {
        let header = Header::decode(*bytes);
        assert_eq!(header.encode(), *bytes);
        let _ = decode_ack(payload);
        if let Some(request) = Request::decode(payload) {
            assert_eq!(request.encode(), payload);
        }
        if let Some(reply) = Reply::decode(payload) {
            assert_eq!(reply.encode(), payload);
        }
    }
    if let Some(bytes) = data.first_chunk()
        && let Some(queue_pair) = decode_iface(bytes)
    {
        assert_eq!(encode_iface(queue_pair), *bytes);
    }
    if let Some(bytes) = data.first_chunk()
        && let Some(address) = EpAddr::decode(bytes)
    {
        assert_eq!(address.encode(), *bytes);
    }
}

/// A datagram of `rc_verbs` behind the header that the device writes, and its interface addresses.
fn handshakes(data: &[u8]) {
    use ib::rc::wire::*;
    let datagram = data.get(ib::grh::GRH_LEN..).unwrap_or(data);
    if let Some(bytes) = datagram.first_chunk()
        && let Some(message) = Message::decode(bytes)
    {
        assert_eq!(message.encode(), *bytes);
    }
    if let Some(bytes) = data.first_chunk()
        && let Some(address) = IfaceAddr::decode(bytes)
    {
        assert_eq!(address.encode(), *bytes);
    }
}

/// The connection managers' messages.
fn greeting(data: &[u8]) {
    if let Some(message @ ib::cm::wire::Message::Private(private)) = ib::cm::wire::decode(data) {
        assert!(data.starts_with(&ib::cm::wire::encode(message)));
        short_greeting(private);
    }
    short_greeting(data);
    for chunk in data.chunks(cm::tcp::wire::HEADER_LEN) {
        if let Ok(bytes) = chunk.try_into()
            && let Ok(header) = cm::tcp::wire::decode(bytes, 2048)
        {
            assert!(header.len <= 2048);
        }
    }
}

/// What is read is written back the same, and so are its addresses.
fn short_greeting(data: &[u8]) {
    let lengths = |transport| {
        let known = transport == 5 || transport == 6;
        known.then_some((ib::wire::SHORT_DEVICE_LEN, ib::wire::SHORT_PAIR_LEN))
    };
    let Some(greeting) = ShortGreeting::decode(data, lengths) else {
        return;
    };
    assert_eq!(greeting.encode(data.len()), data);
    for (_, iface) in &greeting.ifaces {
        let long = ib::wire::lengthen(&greeting.device, iface, ib::rc::wire::encode_iface);
        if let Some((device, long)) = long {
            let short = ib::wire::shorten(&device, &long, ib::rc::wire::decode_iface);
            assert_eq!(short, Some((greeting.device.clone(), iface.clone())));
        }
    }
}

/// What the two ends of a hand-shake take of each other, and the records behind it: nobody knows the secret but an
/// opening that is kept, which is nothing without its maker.
fn proof(data: &[u8]) {
    let secret = auth::Secret::of(b"the secret of the fuzzer").unwrap();
    let purpose = auth::Purpose::Data;
    if let Some(opening) = data.first_chunk() {
        let _ = auth::answer(&secret, purpose, data.len().is_multiple_of(2), opening);
    }
    let (asks, opening) = auth::Initiator::begin(&secret, purpose, true).unwrap();
    if let Some(answer) = data.first_chunk() {
        assert!(asks.finish(answer).is_err());
    }
    let answered = auth::answer(&secret, purpose, false, &opening);
    let mut opener = answered.ok().unwrap().session.opener;
    let mut out = vec![0; auth::MAX_RECORD];
    assert!(opener.open_alone(data, &mut out).is_err());
    let answered = auth::answer(&secret, purpose, false, &opening);
    let mut opener = answered.ok().unwrap().session.opener;
    let mut rest = data;
    while !rest.is_empty() && !opener.is_ready() {
        let room = opener.room();
        let n = room.len().min(rest.len());
        room[..n].copy_from_slice(&rest[..n]);
        opener.received(n);
        rest = &rest[n..];
    }
    assert!(!matches!(opener.open(&mut out), Ok(Some(_))));
}

/// The bytes as a header of each kind.
fn headers(data: &[u8]) {
    fn one<H: Header + PartialEq + std::fmt::Debug>(data: &[u8]) {
        if let Some((header, rest)) = H::split(data) {
            assert_eq!(rest.len() + H::LEN, data.len());
            let mut bytes = vec![0; H::LEN];
            header.encode(&mut ferrucx::wire::Writer::new(&mut bytes));
            assert_eq!(H::split(&bytes).map(|(again, _)| again), Some(header));
        }
    }
    one::<WireupHdr>(data);
    one::<TagHdr>(data);
    one::<TagSyncHdr>(data);
    one::<FirstHdr>(data);
    one::<MiddleHdr>(data);
    one::<RtsHdr>(data);
    one::<Extent>(data);
    if let Some((total, list)) = data.split_first_chunk()
        && let Some(extents) = take_extents(list, u64::from_le_bytes(*total))
    {
        let sum = extents.iter().map(|extent| extent.length).sum();
        assert_eq!(u64::from_le_bytes(*total), sum);
        assert_eq!(list.len(), extents.len() * Extent::LEN);
    }
    one::<RtrHdr>(data);
    one::<DataHdr>(data);
    one::<AckHdr>(data);
    one::<AmHdr>(data);
    one::<AmReplyHdr>(data);
    one::<StreamHdr>(data);
    one::<PutHdr>(data);
    one::<GetHdr>(data);
    one::<GetReplyHdr>(data);
    one::<AmoHdr>(data);
    one::<AmoReplyHdr>(data);
    one::<FenceHdr>(data);
    one::<CloseHdr>(data);
    one::<PutDoneHdr>(data);
    one::<PartHdr>(data);
    one::<PartTakenHdr>(data);
    one::<FirstAckHdr>(data);
    one::<JoinHdr>(data);
    one::<SequencedHdr>(data);
    one::<SequencedAckHdr>(data);
    one::<SequencedEndHdr>(data);
    one::<EpFailedHdr>(data);
}

/// A sealed blob with such a body.
fn sealed(data: &[u8]) -> Vec<u8> {
    let mut blob = vec![0; HEAD];
    blob.extend_from_slice(&data[..data.len().min(4000)]);
    seal(&mut blob, 0);
    blob
}

/// A worker's address, as it came and with a right sum.
fn address(data: &[u8]) {
    let known = |number| number < 5;
    let _ = (
        Address::unpack(data, known),
        Address::from_envelope(data, known),
    );
    if let Ok(address) = Address::unpack(&sealed(data), known) {
        assert_eq!(Address::unpack(&address.pack(), known), Ok(address.clone()));
        let envelope = address.to_envelope(&[]);
        assert_eq!(Address::from_envelope(&envelope, known), Ok(address));
    }
}

/// A remote key, as it came and with a right sum.
fn rkey(data: &[u8]) {
    let _ = Rkey::unpack(data);
    let _ = Rkey::from_envelope(EnvelopeKind::Key, data);
    let _ = Rkey::from_envelope(EnvelopeKind::Handle, data);
    let _ = Rkey::from_envelope(
        EnvelopeKind::Handle,
        &envelope::wrap_handle(data.len(), |out| out.extend_from_slice(data)),
    );
    let (first, rest) = split_first(data);
    assert_eq!([first, rest].concat(), data);
    if let Ok((key, keys)) = Rkey::unpack(&sealed(data)) {
        assert_eq!(Rkey::unpack(&key.pack(keys)), Ok((key, keys)));
    }
}

/// What may be of another implementation, and what is around ours.
fn foreign(data: &[u8]) {
    for kind in [
        EnvelopeKind::Address,
        EnvelopeKind::Key,
        EnvelopeKind::Handle,
    ] {
        let _ = upstream::recognise(kind, data);
        let _ = upstream::Address::with_entries(data, upstream::address::Place::Wireup);
        let mut need = 0;
        while let Look::Need(more) = envelope::look(kind, &data[..need.min(data.len())]) {
            assert!(more > need && more < 32);
            if more > data.len() {
                break;
            }
            need = more;
        }
    }
    if let Some(private) = Private::unwrap(data) {
        assert_eq!(Private::unwrap(&private.wrap(None)), Some(private));
    }
    let _ = upstream::private::Private::decode(data, 0x19cf, 2, 10);
}

/// Addresses and keys of the transports.
fn keys(data: &[u8]) {
    let _ = tcp::wire::DeviceAddr::decode(data);
    if let Some(bytes) = data.first_chunk() {
        let _ = tcp::wire::IfaceAddr::decode(bytes);
    }
    if let Some(bytes) = data.first_chunk() {
        let _ = shm::wire::SegmentKey::decode(bytes);
    }
    if let Some(bytes) = data.first_chunk() {
        let _ = shm::wire::MemKey::decode(bytes);
    }
    if let Some(bytes) = data.first_chunk() {
        let _ = cma::wire::decode(bytes);
    }
}

/// Bytes of a message for `pack`.
struct Message<'a>(&'a [u8]);

unsafe extern "C" fn pack(to: *mut c_void, arg: *mut c_void) -> usize {
    // SAFETY: `arg` is the message of `router`, and the transport has room for what it holds.
    unsafe {
        let message = &*arg.cast::<Message<'_>>();
        to.cast::<u8>()
            .copy_from_nonoverlapping(message.0.as_ptr(), message.0.len());
        message.0.len()
    }
}

/// The one context of all runs, over `self` alone.
fn shared_context() -> ucp_context_h {
    static CONTEXT: OnceLock<usize> = OnceLock::new();
    *CONTEXT.get_or_init(|| {
        // SAFETY: before any thread of ours; the structs are as C would give them.
        unsafe {
            std::env::set_var("UCX_TLS", "self");
            std::env::set_var("UCX_LOG_LEVEL", "fatal");
            // Keys name memory by address too.
            std::env::set_var("UCX_UPSTREAM_PEERS", "y");
            let mut params: ucp_params_t = std::mem::zeroed();
            params.field_mask = u64::from(UCP_PARAM_FIELD_FEATURES);
            params.features = u64::from(
                UCP_FEATURE_TAG
                    | UCP_FEATURE_AM
                    | UCP_FEATURE_STREAM
                    | UCP_FEATURE_RMA
                    | UCP_FEATURE_AMO64,
            );
            let mut context: ucp_context_h = null_mut();
            assert_eq!(
                context::ucp_init_version(1, 22, &params, null(), &mut context),
                UCS_OK
            );
            context as usize
        }
    }) as ucp_context_h
}

/// Messages of any kind to a worker that receives: pairs of an id and a length, each with so many bytes.
fn router(data: &[u8]) {
    with_receiver(|w, h, _| {
        let mut data = data;
        // SAFETY: a live endpoint, over `self`.
        let lane = unsafe { *(*h.cast::<Ep>()).lane() };
        let send = lane.am_bcopy.expect("self has buffered messages");
        while let [id, length, rest @ ..] = data {
            let (now, later) = rest.split_at(rest.len().min(usize::from(*length)));
            let message = Message(now);
            // SAFETY: as above; the message lives as long as the call.
            unsafe {
                send(
                    lane.ep,
                    *id % 32,
                    Some(pack),
                    (&raw const message).cast_mut().cast(),
                    0,
                );
                worker::ucp_worker_progress(w);
            }
            data = later;
        }
    });
}

/// Messages in upstream's format to a worker that receives: an id, which of its first words are names that the worker has
/// given out, and a length, each with so many bytes.
fn upstream_messages(data: &[u8]) {
    with_receiver(|w, h, memory| {
        // SAFETY: a live endpoint.
        let ep = unsafe { &*h.cast::<Ep>() };
        ep.set_upstream();
        let (uuid, id) = (7, EpId(9));
        ep.named_by_upstream(EpName { uuid, id });
        let mut data = data;
        while let [id, names, length, rest @ ..] = data {
            let (now, later) = rest.split_at(rest.len().min(usize::from(*length)));
            let mut body = now.to_vec();
            for (word, bytes) in body.as_chunks_mut().0.iter_mut().enumerate().take(4) {
                match names >> (2 * word) & 3 {
                    1 => *bytes = ep.id.get().to_le_bytes(),
                    2 => *bytes = memory.to_le_bytes(),
                    _ => {}
                }
            }
            let message = UpstreamMessage {
                id: *id % 32,
                body: &body,
                connection: 5,
                device: None,
                key: None,
            };
            let _ = on_event(ep.worker(), &UpstreamEvent::Message(message));
            // SAFETY: a live worker.
            unsafe { worker::ucp_worker_progress(w) };
            data = later;
        }
        let _ = on_event(
            ep.worker(),
            &UpstreamEvent::Closed {
                connection: 5,
                key: Some(5),
            },
        );
    });
}

/// A stream of frames in upstream's format, and what begins one.
fn upstream_frames(mut data: &[u8]) {
    use tcp::upstream::frames::{
        Device, Frame, Opening, decode, device, iface, iface_port, read_device,
    };
    if let Ok(Some((opening, length))) = Opening::decode(data) {
        // What is behind an IPv4 address means nothing.
        let again = opening.encode();
        assert_eq!(again.len(), length);
        assert_eq!(Opening::decode(&again), Ok(Some((opening, length))));
    }
    if let Some(Device::Ip(ip)) = read_device(data) {
        assert_eq!(read_device(&device(ip)), Some(Device::Ip(ip)));
    }
    if let Some(port) = data.get(..2).and_then(iface_port) {
        assert_eq!(iface(port), data[..2]);
    }
    while let Ok(Some((frame, length))) = decode(data, 8192) {
        assert!(length > 0);
        let behind = match frame {
            Frame::Put { len, .. } => usize::try_from(len).unwrap_or(usize::MAX),
            _ => 0,
        };
        let Some(rest) = data.get(length..).and_then(|rest| rest.get(behind..)) else {
            return;
        };
        data = rest;
    }
}

/// Calls `f` with a worker that receives, an endpoint of it to itself, and the address of memory that it exports.
fn with_receiver(f: impl FnOnce(ucp_worker_h, ucp_ep_h, u64)) {
    let shared = shared_context();
    let mut memory = [0u8; 4096];
    let mut room = [[0u8; 600]; 2];
    // SAFETY: handles are used as their functions ask, and everything is waited for or given back.
    unsafe {
        let params: ucp_worker_params_t = std::mem::zeroed();
        let mut w: ucp_worker_h = null_mut();
        assert_eq!(worker::ucp_worker_create(shared, &params, &mut w), UCS_OK);
        let (mut own, mut length) = (null_mut(), 0);
        assert_eq!(
            worker::ucp_worker_get_address(w, &mut own, &mut length),
            UCS_OK
        );
        let mut ep_params: ucp_ep_params_t = std::mem::zeroed();
        ep_params.field_mask = u64::from(UCP_EP_PARAM_FIELD_REMOTE_ADDRESS);
        ep_params.address = own;
        let mut h: ucp_ep_h = null_mut();
        assert_eq!(ep::ucp_ep_create(w, &ep_params, &mut h), UCS_OK);
        let mut map: ucp_mem_map_params_t = std::mem::zeroed();
        map.field_mask =
            u64::from(UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH);
        map.address = memory.as_mut_ptr().cast();
        map.length = memory.len();
        let mut memh: ucp_mem_h = null_mut();
        assert_eq!(mem::ucp_mem_map(shared, &map, &mut memh), UCS_OK);
        let plain: ucp_request_param_t = std::mem::zeroed();
        let received = room
            .each_mut()
            .map(|to| tag::ucp_tag_recv_nbx(w, to.as_mut_ptr().cast(), to.len(), 0, 0, &plain));
        let (mut key, mut key_length) = (null_mut(), 0);
        assert_eq!(
            mem::ucp_rkey_pack(shared, memh, &mut key, &mut key_length),
            UCS_OK
        );
        mem::ucp_rkey_buffer_release(key);
        f(w, h, map.address as u64);
        for _ in 0..4 {
            worker::ucp_worker_progress(w);
        }
        for r in received {
            if !r.is_null() && (r as isize) > 0 {
                request::ucp_request_cancel(w, r);
                request::ucp_request_free(r);
            }
        }
        worker::ucp_worker_release_address(w, own);
        worker::ucp_worker_destroy(w);
        assert_eq!(mem::ucp_mem_unmap(shared, memh), UCS_OK);
    }
}
