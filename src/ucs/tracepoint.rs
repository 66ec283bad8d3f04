//! Static tracepoints (USDT probes) for tracers such as bpftrace, of the provider `ferrucx`. A probe is a `nop` and an ELF note that
//! says where its arguments stand; it costs nothing else until a tracer puts a breakpoint there. docs/PROBES.md lists them.
#![forbid(unsafe_code)]

use probe::probe;

/// A message is handed to a transport: its id (`wire::header::AmId`) and bytes, headers included. A transport without
/// room refuses it, and it is handed over again.
#[inline(always)]
pub fn send(id: u8, bytes: usize) {
    probe!(ferrucx, send, id, bytes);
}

/// A tagged message has found its receive: tag and bytes.
#[inline(always)]
pub fn tag_match(tag: u64, bytes: usize) {
    probe!(ferrucx, tag_match, tag, bytes);
}

/// A tagged message that no receive waits for is kept: tag and bytes.
#[inline(always)]
pub fn tag_unexpected(tag: u64, bytes: usize) {
    probe!(ferrucx, tag_unexpected, tag, bytes);
}

/// A request is complete: its address, status (`ucs_status_t`) and the bytes received.
#[inline(always)]
pub fn complete(request: *const u8, status: i8, bytes: usize) {
    probe!(ferrucx, complete, request, status, bytes);
}

/// The RTS of a rendezvous is sent: the sender's request, bytes of the message.
#[inline(always)]
pub fn rndv_send(request: *const u8, bytes: usize) {
    probe!(ferrucx, rndv_send, request, bytes);
}

/// The receiver of a rendezvous begins the transfer: its request, bytes of the message.
#[inline(always)]
pub fn rndv_receive(request: *const u8, bytes: usize) {
    probe!(ferrucx, rndv_receive, request, bytes);
}

/// An endpoint has failed: its number in the worker, status.
#[inline(always)]
pub fn ep_failed(ep: u64, status: i8) {
    probe!(ferrucx, ep_failed, ep, status);
}
