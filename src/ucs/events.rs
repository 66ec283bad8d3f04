//! `Events`: the events that a descriptor is watched for, or that happened, as UCX's bits.
//!
//! Shared by async contexts and event sets, which both wait by epoll.
#![forbid(unsafe_code)]

use crate::c;

bitflags::bitflags! {
    /// `ucs_event_set_types_t`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Events: u8 {
        const READ = c::UCS_EVENT_SET_EVREAD as u8;
        const WRITE = c::UCS_EVENT_SET_EVWRITE as u8;
        const ERROR = c::UCS_EVENT_SET_EVERR as u8;
        /// Report each change once instead of the state.
        const EDGE = c::UCS_EVENT_SET_EDGE_TRIGGERED as u8;
    }
}

const BITS: [(Events, i32); 4] = [
    (Events::READ, libc::EPOLLIN),
    (Events::WRITE, libc::EPOLLOUT),
    (Events::ERROR, libc::EPOLLERR),
    (Events::EDGE, libc::EPOLLET),
];

impl Events {
    pub fn to_epoll(self) -> u32 {
        BITS.iter()
            .filter(|(event, _)| self.contains(*event))
            .fold(0, |bits, (_, bit)| bits | *bit as u32)
    }

    pub fn from_epoll(bits: u32) -> Events {
        BITS.iter()
            .filter(|(_, bit)| bits & *bit as u32 != 0)
            .fold(Events::empty(), |events, (event, _)| events | *event)
    }
}
