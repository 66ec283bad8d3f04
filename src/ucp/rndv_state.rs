//! The states of a rendezvous, at its sender and at its receiver. `proto::rndv::sender` and `proto::rndv::receiver` have what
//! is done in each, with a sequence diagram. The tests list every state with every event.
#![forbid(unsafe_code)]

use crate::wire::id::RequestId;

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderState {
    /// The RTS is to be sent.
    SendRts,
    /// The receiver acts next.
    RtsSent,
    /// The receiver has requested a put into its memory.
    Put {
        receiver: RequestId,
        address: u64,
        length: usize,
        /// Put with notification: a message follows the data on the same connection.
        notify: bool,
    },
    /// The receiver has requested fragments.
    Data {
        receiver: RequestId,
        /// Bytes that are out.
        offset: usize,
        length: usize,
    },
    /// The request completes.
    Over,
}

impl core::fmt::Display for SenderState {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            SenderState::SendRts => "the RTS is to be sent",
            SenderState::RtsSent => "the RTS is sent, the receiver acts next",
            SenderState::Put { .. } => "the data are put into the receiver's memory",
            SenderState::Data { offset, length, .. } => {
                return write!(f, "{offset} of {length} bytes are sent as fragments");
            }
            SenderState::Over => "it completes",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderEvent {
    /// The RTS is out.
    RtsOut,
    /// An RTR came with an address that can be written.
    PutRequested {
        receiver: RequestId,
        address: u64,
        length: usize,
    },
    /// An RTR came without.
    DataRequested { receiver: RequestId, length: usize },
    /// The put begins, with notification or without.
    PutBegins { notify: bool },
    /// The put cannot begin.
    PutRefused,
    /// The put has completed or failed.
    PutCompleted,
    /// The fragments up to this offset are out.
    DataOut { offset: usize },
    /// The receiver has the data or cannot have them.
    Acknowledged,
}

impl core::fmt::Display for SenderEvent {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            SenderEvent::RtsOut => "an RTS that is sent",
            SenderEvent::PutRequested { .. } => "an RTR with an address",
            SenderEvent::DataRequested { .. } => "an RTR without an address",
            SenderEvent::PutBegins { .. } => "the begin of a put",
            SenderEvent::PutRefused => "the refusal of a put",
            SenderEvent::PutCompleted => "the end of a put",
            SenderEvent::DataOut { .. } => "a fragment that is sent",
            SenderEvent::Acknowledged => "an acknowledgement",
        })
    }
}

/// The receiver of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReceiverState {
    /// The message is matched; nothing was requested.
    #[default]
    Matched,
    /// A transport reads the sender's memory.
    Getting,
    /// The sender was asked for a put.
    AwaitPut,
    /// The sender was asked for fragments, or sends them instead of a put.
    AwaitData,
    /// All data are here. The request completes, unless a device has to copy them first.
    Over,
    /// A device copies the data to the buffer.
    Copying,
}

impl core::fmt::Display for ReceiverState {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            ReceiverState::Matched => "matched, nothing is requested yet",
            ReceiverState::Getting => "the sender's memory is read",
            ReceiverState::AwaitPut => "the sender is asked to put the data",
            ReceiverState::AwaitData => "the sender is asked for fragments",
            ReceiverState::Over => "it completes",
            ReceiverState::Copying => "a device copies the data to the buffer",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverEvent {
    /// A transport begins to read.
    GetBegins,
    /// The transport refuses, or the sender has revoked something meanwhile, so that what was read may be wrong.
    GetFailed,
    /// The transport has read the data, or has failed.
    Got,
    /// An RTR with an address is out.
    PutRequested,
    /// An RTR without one is out.
    DataRequested,
    /// A part was put.
    Put { last: bool },
    /// A fragment came.
    Fragment { last: bool },
    /// The sender cannot send the data.
    Failed,
    /// A device begins to copy the data to the buffer.
    CopyBegins,
    /// It has copied them, or has failed.
    Copied,
}

impl core::fmt::Display for ReceiverEvent {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            ReceiverEvent::GetBegins => "the begin of a get",
            ReceiverEvent::GetFailed => "the failure of a get",
            ReceiverEvent::Got => "the end of a get",
            ReceiverEvent::PutRequested => "an RTR with an address",
            ReceiverEvent::DataRequested => "an RTR without an address",
            ReceiverEvent::Put { .. } => "a put",
            ReceiverEvent::Fragment { .. } => "a fragment",
            ReceiverEvent::Failed => "the sender's failure",
            ReceiverEvent::CopyBegins => "the begin of a copy by a device",
            ReceiverEvent::Copied => "the end of a copy by a device",
        })
    }
}

/// The state has no transition for the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Illegal;

impl SenderState {
    /// The state after an event.
    pub fn on(self, event: SenderEvent) -> Result<SenderState, Illegal> {
        use SenderEvent as E;
        use SenderState::*;
        Ok(match (self, event) {
            (SendRts, E::RtsOut) => RtsSent,
            (
                RtsSent,
                E::PutRequested {
                    receiver,
                    address,
                    length,
                },
            ) => Put {
                receiver,
                address,
                length,
                notify: false,
            },
            (RtsSent, E::DataRequested { receiver, length })
            | (
                Put {
                    receiver, length, ..
                },
                E::PutRefused,
            ) => Data {
                receiver,
                offset: 0,
                length,
            },
            (
                Put {
                    receiver,
                    address,
                    length,
                    ..
                },
                E::PutBegins { notify },
            ) => Put {
                receiver,
                address,
                length,
                notify,
            },
            (
                Data {
                    receiver, length, ..
                },
                E::DataOut { offset },
            ) if offset < length => Data {
                receiver,
                offset,
                length,
            },
            (Data { .. }, E::DataOut { .. })
            | (Put { .. }, E::PutCompleted)
            | (RtsSent, E::Acknowledged) => Over,
            _ => return Err(Illegal),
        })
    }
}

impl ReceiverState {
    /// The state after an event.
    pub fn on(self, event: ReceiverEvent) -> Result<ReceiverState, Illegal> {
        use ReceiverEvent as E;
        use ReceiverState::*;
        Ok(match (self, event) {
            (Matched, E::GetBegins) => Getting,
            (Getting, E::GetFailed) => Matched,
            (Matched, E::PutRequested) => AwaitPut,
            (Matched, E::DataRequested) => AwaitData,
            (AwaitPut, E::Put { last: false }) => AwaitPut,
            // The put could not begin.
            (AwaitPut | AwaitData, E::Fragment { last: false }) => AwaitData,
            (Getting, E::Got)
            | (AwaitPut, E::Put { last: true })
            | (AwaitPut | AwaitData, E::Fragment { last: true } | E::Failed)
            | (Copying, E::Copied) => Over,
            // That of a message in fragments, which nobody has asked for, is `Matched` to the end.
            (Over | Matched, E::CopyBegins) => Copying,
            _ => return Err(Illegal),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    /// One line a state: `State: Event -> State, ...`, legal transitions only.
    fn table<S: Copy + Debug, E: Copy + Debug>(
        states: &[S],
        events: &[E],
        on: impl Fn(S, E) -> Result<S, Illegal>,
    ) -> String {
        let line = |state: &S| {
            let legal = events.iter().filter_map(|event| {
                let next = on(*state, *event).ok()?;
                Some(format!("{event:?} -> {next:?}"))
            });
            let legal: Vec<String> = legal.collect();
            format!("{state:?}: {}\n", legal.join(", "))
        };
        let text: String = states.iter().map(line).collect();
        text.replace("receiver: RequestId(7), ", "")
            .replace(", length: 9", "")
    }

    #[test]
    fn the_transitions_of_a_sender() {
        let (receiver, address, length) = (RequestId(7), 8, 9);
        let states = [
            SenderState::SendRts,
            SenderState::RtsSent,
            SenderState::Put {
                receiver,
                address,
                length,
                notify: false,
            },
            SenderState::Data {
                receiver,
                offset: 0,
                length,
            },
            SenderState::Over,
        ];
        let events = [
            SenderEvent::RtsOut,
            SenderEvent::PutRequested {
                receiver,
                address,
                length,
            },
            SenderEvent::DataRequested { receiver, length },
            SenderEvent::PutBegins { notify: true },
            SenderEvent::PutRefused,
            SenderEvent::PutCompleted,
            SenderEvent::DataOut { offset: 4 },
            SenderEvent::DataOut { offset: 9 },
            SenderEvent::Acknowledged,
        ];
        let all = table(&states, &events, SenderState::on);
        println!("{all}");
        let expected = "\
SendRts: RtsOut -> RtsSent
RtsSent: PutRequested { address: 8 } -> Put { address: 8, notify: false }, DataRequested { length: 9 } -> Data { offset: 0 }, Acknowledged -> Over
Put { address: 8, notify: false }: PutBegins { notify: true } -> Put { address: 8, notify: true }, PutRefused -> Data { offset: 0 }, PutCompleted -> Over
Data { offset: 0 }: DataOut { offset: 4 } -> Data { offset: 4 }, DataOut { offset: 9 } -> Over
Over: \n";
        assert_eq!(all, expected);
    }

    #[test]
    fn the_transitions_of_a_receiver() {
        let states = [
            ReceiverState::Matched,
            ReceiverState::Getting,
            ReceiverState::AwaitPut,
            ReceiverState::AwaitData,
            ReceiverState::Over,
            ReceiverState::Copying,
        ];
        let events = [
            ReceiverEvent::GetBegins,
            ReceiverEvent::GetFailed,
            ReceiverEvent::Got,
            ReceiverEvent::PutRequested,
            ReceiverEvent::DataRequested,
            ReceiverEvent::Put { last: false },
            ReceiverEvent::Put { last: true },
            ReceiverEvent::Fragment { last: false },
            ReceiverEvent::Fragment { last: true },
            ReceiverEvent::Failed,
            ReceiverEvent::CopyBegins,
            ReceiverEvent::Copied,
        ];
        let all = table(&states, &events, ReceiverState::on);
        println!("{all}");
        let expected = "\
Matched: GetBegins -> Getting, PutRequested -> AwaitPut, DataRequested -> AwaitData, CopyBegins -> Copying
Getting: GetFailed -> Matched, Got -> Over
AwaitPut: Put { last: false } -> AwaitPut, Put { last: true } -> Over, Fragment { last: false } -> AwaitData, Fragment { last: true } -> Over, Failed -> Over
AwaitData: Fragment { last: false } -> AwaitData, Fragment { last: true } -> Over, Failed -> Over
Over: CopyBegins -> Copying
Copying: Copied -> Over
";
        assert_eq!(all, expected);
    }
}
