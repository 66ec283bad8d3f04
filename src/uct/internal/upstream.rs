//! What UCP and a transport tell each other of connections with upstream UCX.
#![forbid(unsafe_code)]

use crate::c::uct_ep_h;
use crate::ucs::Result;
use crate::wire::upstream::address::{Entry, Offer};
use crate::wire::upstream::private::Private;
use std::net::{IpAddr, SocketAddr};

/// How good the way to a transport of upstream's is. Upstream decides by the latencies that both sides tell each other,
/// so both take the same devices, which lets them share a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UpstreamWay {
    /// There is no connection yet by which both sides can send.
    pub is_new: bool,
    /// It is of another network than this device.
    pub is_far: bool,
    /// Nanoseconds.
    pub latency: u32,
}

/// A message of upstream UCX.
pub struct UpstreamMessage<'a> {
    pub id: u8,
    pub body: &'a [u8],
    /// Tells connections apart.
    pub connection: u64,
    /// The address of the device that it comes from. Its interface may be another one's of several.
    pub device: Option<&'a [u8]>,
    /// Our key of the lane that it comes by, if it comes by one.
    pub key: Option<u64>,
}

/// What comes of upstream UCX.
pub enum UpstreamEvent<'a> {
    Message(UpstreamMessage<'a>),
    /// The lane with this key can carry messages. In the middle of a call of the interface, too.
    Opened {
        key: u64,
    },
    /// This connection has ended, of the lane with that key if it has one: no more messages of it come.
    Closed {
        connection: u64,
        key: Option<u64>,
    },
    /// The peer has all that was sent by the lane with this key, which is closed (`UpstreamLanes::ask`).
    Acknowledged {
        key: u64,
    },
}

/// Lanes of an interface to endpoints of upstream's: connections of which each side names the other's end by a key. One of
/// the two sides connects; which one follows from their addresses.
pub trait UpstreamLanes {
    /// A new lane, if the interface has this network address: its key, which only the peer is told.
    fn open(&self, at: IpAddr) -> Option<u64>;

    /// What private data say, if they are of this transport.
    fn read(&self, private: &[u8]) -> Option<Private>;

    /// What the peer has to know of a lane: the interface, and the lane's address, which names the key that both have.
    fn describe(&self, key: u64) -> Option<(Offer, Vec<u8>)>;

    /// The network address that an entry of the peer's address leads to, if this interface can get there.
    fn ip_of(&self, entry: &Entry<'_>) -> Option<IpAddr>;

    /// Where the interface of an entry of the peer's address listens, which its connections say too.
    fn listener(&self, entry: &Entry<'_>) -> Option<SocketAddr>;

    /// The same of the interface at a network address that a lane leads to.
    fn listener_at(&self, ip: IpAddr, address: &[u8]) -> Option<SocketAddr>;

    /// The other end of a lane: it is connected to, or connects. A lane that is connected to another end gets another
    /// connection.
    fn meet(&self, key: u64, ip: IpAddr, address: &[u8]) -> Result<()>;

    /// The lane's address as it is once it leads to this end.
    fn name_for(&self, key: u64, ip: IpAddr, address: &[u8]) -> Result<Vec<u8>>;

    /// Whether the lane leads to this end already.
    fn leads_to(&self, key: u64, address: &[u8]) -> bool;

    /// Whether the lane can carry messages.
    fn is_open(&self, key: u64) -> bool;

    /// Sends a message as soon as the lane is open, before all that endpoints send by it.
    fn send(&self, key: u64, id: u8, body: &[u8]) -> Result<()>;

    /// An endpoint that sends by the lane, by `upstream_send` only. It closes the lane with it.
    fn join(&self, key: u64) -> Result<uct_ep_h>;

    /// The endpoint of the lane is about to be closed: the peer is asked then to acknowledge what was sent before, and either
    /// the answer or the end of the lane is told. Returns false if there is nobody to ask.
    fn ask(&self, key: u64) -> bool;

    /// Closes a lane; unknown keys are left.
    fn close(&self, key: u64);
}
