//! `SendPolicy`: when the queued frames of a connection are sent.
//!
//! It owns no socket and reads no clock: each event of the connection is a call, which returns what is to be sent.
//!
//! - A quiet connection sends at once: the first `BURST` frames after a progress call without a frame.
//! - A busy connection gathers: later frames wait for the next progress. `TX_BATCH` queued bytes are sent before.
//! - A sender that calls progress after each frame or two gathers over several progress calls, for at most `GATHER_NS`.
//! - Replies of message handlers from `BULK` bytes on wait for the end of the progress that runs the handlers.
//! - A payload in place is sent in whole segments, and the remainder is gathered. A corked one only waits.
//! - Nothing is gathered where no deferred flush can send it for an owner that makes no progress.
#![forbid(unsafe_code)]

use core::cell::Cell;

/// Frames that a connection sends at once after it was quiet.
const BURST: u32 = 4;
/// Queued copied bytes that are sent without waiting for more.
pub const TX_BATCH: usize = 64 << 10;
/// Queued copied bytes from which on replies of handlers wait for the end of the progress.
const BULK: usize = 2 << 10;
/// How long frames are gathered over several progress calls, in nanoseconds.
const GATHER_NS: u64 = 10_000;
/// Segments of at least this size are filled: the kernel's cost is the same for a short one.
const LONG_SEGMENT: usize = 16 << 10;
/// Longest remainder of a segment that is gathered.
const MAX_TAIL: usize = 8 << 10;
/// Sends of segments between two reads of the segment size.
const SENDS_PER_MEASUREMENT: u32 = 64;

/// What a connection does with its queue now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It sends all.
    SendAll,
    /// It sends whole segments and gathers the remainder.
    SendSegments,
    /// It sends nothing: the next progress or the deferred flush does.
    Gather,
}

pub struct SendPolicy {
    /// The connection is in the interface's list of those that progress flushes.
    gathering: Cell<bool>,
    /// A deferred flush sends what is gathered and not flushed by progress.
    may_gather: Cell<bool>,
    /// The progress call in which the last frame was queued, and how many further frames are sent at once.
    last_frame_at: Cell<u64>,
    immediate: Cell<u32>,
    /// Frames were queued since the last progress; progress calls in a row before which that was so.
    queued: Cell<bool>,
    busy_calls: Cell<u32>,
    /// When gathering over several progress calls ends; 0 if it has not begun.
    gather_until: Cell<u64>,
    /// The end of the current progress flushes, however busy the connection is.
    flush_at_end: Cell<bool>,
    /// The kernel's segment size if it is large, else 0.
    segment: Cell<usize>,
    sends_until_measured: Cell<u32>,
}

impl Default for SendPolicy {
    fn default() -> SendPolicy {
        SendPolicy {
            gathering: Cell::new(false),
            may_gather: Cell::new(true),
            last_frame_at: Cell::new(0),
            immediate: Cell::new(BURST),
            queued: Cell::new(false),
            busy_calls: Cell::new(0),
            gather_until: Cell::new(0),
            flush_at_end: Cell::new(false),
            segment: Cell::new(0),
            sends_until_measured: Cell::new(0),
        }
    }
}

impl SendPolicy {
    /// A copied frame was queued in progress call `call`; `waiting` copied bytes are queued. `in_handlers`: progress
    /// runs message handlers now.
    #[inline(always)]
    pub fn on_frame(&self, call: u64, waiting: usize, in_handlers: bool) -> Decision {
        let is_reply = in_handlers && waiting >= BULK;
        if (!is_reply && self.is_immediate(call)) || !self.may_gather() {
            return Decision::SendAll;
        }
        if is_reply {
            self.flush_at_end.set(true);
        } else if waiting < TX_BATCH {
            self.queued.set(true);
        }
        match waiting < TX_BATCH {
            true => Decision::Gather,
            false => Decision::SendSegments,
        }
    }

    /// A payload in place was queued in progress call `call`. `corked`: its sender queues the next one in the same call.
    #[inline]
    pub fn on_payload_in_place(&self, call: u64, corked: bool) -> Decision {
        let gathers = self.may_gather();
        if corked && gathers {
            self.queued.set(true);
            return Decision::Gather;
        }
        if self.is_immediate(call) || !gathers {
            return Decision::SendAll;
        }
        self.queued.set(true);
        Decision::SendSegments
    }

    /// A control frame was queued: it is sent with the next frame, or by the next progress.
    #[inline]
    pub fn on_control_frame(&self) -> Decision {
        match self.may_gather() {
            true => Decision::Gather,
            false => Decision::SendAll,
        }
    }

    /// The kernel takes bytes again.
    pub fn on_room(&self) -> Decision {
        match self.segment.get() > 0 && self.may_gather() {
            true => Decision::SendSegments,
            false => Decision::SendAll,
        }
    }

    /// Progress begins, of a connection that gathers. `sends`: the connection is open, and the kernel takes bytes.
    pub fn on_progress(&self, sends: bool, now: impl FnOnce() -> u64) -> Decision {
        if !self.queued.replace(false) {
            self.busy_calls.set(0);
        } else if sends {
            let calls = self.busy_calls.get().saturating_add(1);
            self.busy_calls.set(calls);
            if calls > 1 && self.waits_for_more(now()) {
                return Decision::Gather;
            }
        }
        self.gathering.set(false);
        Decision::SendAll
    }

    /// Progress ends, of a connection that gathers.
    pub fn on_progress_end(&self) -> Decision {
        let asked = self.flush_at_end.replace(false);
        if !asked && (!self.queued.get() || self.busy_calls.get() > 1) {
            return Decision::Gather;
        }
        self.stop_gathering();
        Decision::SendAll
    }

    /// Whether frames that are queued now are gathered.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.immediate.get() == 0 && self.gathering.get()
    }

    #[inline]
    pub fn is_gathering(&self) -> bool {
        self.gathering.get()
    }

    /// The connection was added to the list that progress flushes.
    pub fn start_gathering(&self) {
        self.gathering.set(true);
        self.gather_until.set(0);
    }

    /// The connection was removed from the list that progress flushes.
    pub fn stop_gathering(&self) {
        self.gathering.set(false);
        self.queued.set(false);
    }

    /// There is no deferred flush: from now on every frame is sent at once.
    #[cold]
    pub fn forbid_gathering(&self) {
        self.may_gather.set(false);
        self.stop_gathering();
    }

    /// The peer waits for the next frames: they are sent at once, as on a quiet connection.
    pub fn expect_urgent_frames(&self) {
        self.immediate.set(BURST);
    }

    /// The end of the current progress flushes if `urgent`.
    #[inline]
    pub fn flush_at_end_if(&self, urgent: bool) {
        self.flush_at_end.set(self.flush_at_end.get() | urgent);
    }

    /// How many of `unsent` bytes are not sent, as they do not fill a segment.
    pub fn tail(&self, unsent: usize) -> usize {
        match unsent.checked_rem(self.segment.get()) {
            Some(tail) if tail < unsent && tail <= MAX_TAIL => tail,
            _ => 0,
        }
    }

    /// A send of segments follows: whether the segment size is to be read before. It grows when the peer has shown that
    /// it takes much.
    pub fn wants_segment_size(&self) -> bool {
        let sends = self.sends_until_measured.get();
        self.sends_until_measured
            .set(sends.checked_sub(1).unwrap_or(SENDS_PER_MEASUREMENT));
        sends == 0
    }

    /// The kernel sends so many bytes at a time.
    pub fn set_segment_size(&self, size: usize) {
        let is_long = size >= LONG_SEGMENT;
        self.segment.set(if is_long { size } else { 0 });
    }

    /// Whether a frame that is queued in this progress call is one of the first on a connection that was quiet.
    #[inline(always)]
    fn is_immediate(&self, call: u64) -> bool {
        if call.wrapping_sub(self.last_frame_at.replace(call)) > 1 {
            self.immediate.set(BURST);
        }
        let left = self.immediate.get();
        self.immediate.set(left.saturating_sub(1));
        left > 0
    }

    #[inline(always)]
    fn may_gather(&self) -> bool {
        self.gathering.get() || self.may_gather.get()
    }

    /// Whether a busy sender gets more time, of which the first call sets the end.
    fn waits_for_more(&self, now: u64) -> bool {
        match self.gather_until.get() {
            0 => {
                self.gather_until.set(now + GATHER_NS);
                true
            }
            until => now < until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Decision::*;
    use super::*;

    /// A connection and its interface as the policy sees them: a clock, a count of progress calls, a queue.
    #[derive(Default)]
    struct Model {
        policy: SendPolicy,
        now: u64,
        call: u64,
        waiting: usize,
    }

    impl Model {
        /// Does what the connection does with a decision.
        fn apply(&mut self, decision: Decision) -> Decision {
            if decision != SendAll && !self.policy.is_gathering() {
                self.policy.start_gathering();
            }
            match decision {
                SendAll => self.waiting = 0,
                SendSegments => self.waiting = self.policy.tail(self.waiting),
                Gather => {}
            }
            decision
        }

        fn queue(&mut self, bytes: usize) {
            self.waiting += bytes;
        }

        fn frame(&mut self, bytes: usize, in_handlers: bool) -> Decision {
            self.queue(bytes);
            let decision = self.policy.on_frame(self.call, self.waiting, in_handlers);
            self.apply(decision);
            assert!(self.waiting < TX_BATCH);
            decision
        }

        fn payload(&mut self, bytes: usize, corked: bool) -> Decision {
            self.queue(bytes);
            let decision = self.policy.on_payload_in_place(self.call, corked);
            self.apply(decision)
        }

        /// A progress call of a connection with room; `None` if it is not in the list.
        fn progress(&mut self) -> Option<Decision> {
            self.call += 1;
            let now = self.now;
            let listed = self.policy.is_gathering();
            listed.then(|| {
                let decision = self.policy.on_progress(true, || now);
                self.apply(decision)
            })
        }

        fn progress_end(&mut self) -> Option<Decision> {
            let listed = self.policy.is_gathering();
            listed.then(|| {
                let decision = self.policy.on_progress_end();
                self.apply(decision)
            })
        }

        /// After the first frames, which are sent at once.
        fn busy() -> Model {
            let mut model = Model::default();
            for _ in 0..BURST {
                assert_eq!(model.frame(8, false), SendAll);
            }
            model
        }
    }

    #[test]
    fn the_first_frames_are_sent_at_once_and_later_ones_gathered() {
        let mut model = Model::busy();
        assert!(!model.policy.is_busy());
        assert_eq!(model.frame(8, false), Gather);
        assert!(model.policy.is_busy());
        assert_eq!(model.progress(), Some(SendAll));
        assert!(!model.policy.is_busy());
        assert_eq!(model.frame(8, false), Gather);
    }

    #[test]
    fn a_new_connection_has_nothing_to_flush_and_no_segments() {
        let policy = SendPolicy::default();
        assert_eq!(policy.on_progress_end(), Gather);
        assert_eq!(policy.on_room(), SendAll);
    }

    /// Whatever the sender queues in the first progress call that it is busy in leaves with the end of that call.
    #[test]
    fn the_end_of_progress_flushes_until_the_sender_was_busy_in_two_calls() {
        type Queue = fn(&mut Model) -> Decision;
        let queues: [(Queue, Decision); 3] = [
            (|model| model.frame(8, false), Gather),
            (|model| model.payload(8, true), Gather),
            (|model| model.payload(8, false), SendSegments),
        ];
        for (queue, decision) in queues {
            let mut model = Model::busy();
            assert_eq!(queue(&mut model), decision);
            assert_eq!(model.progress_end(), Some(SendAll));
            assert_eq!(queue(&mut model), decision);
            assert_eq!(model.progress(), Some(SendAll));
            assert_eq!(queue(&mut model), decision);
            assert_eq!(model.progress_end(), Some(SendAll));
            assert_eq!(queue(&mut model), decision);
            assert_eq!(model.progress(), Some(Gather));
            assert_eq!(queue(&mut model), decision);
            assert_eq!(model.progress_end(), Some(Gather));
        }
    }

    #[test]
    fn a_call_in_which_nothing_was_queued_ends_the_gathering_over_calls() {
        let mut model = Model::busy();
        model.frame(8, false);
        assert_eq!(model.progress(), Some(SendAll));
        model.frame(8, false);
        assert_eq!(model.progress(), Some(Gather));
        assert_eq!(model.progress(), Some(SendAll));
        for _ in 0..BURST {
            model.frame(8, false);
        }
        model.frame(8, false);
        assert_eq!(model.progress(), Some(SendAll));
    }

    #[test]
    fn each_gathering_over_calls_has_its_own_time() {
        let mut model = Model::busy();
        model.frame(8, false);
        assert_eq!(model.progress(), Some(SendAll));
        for _ in 0..2 {
            model.frame(8, false);
            assert_eq!(model.progress(), Some(Gather));
            model.now += GATHER_NS;
            model.frame(8, false);
            assert_eq!(model.progress(), Some(SendAll));
        }
    }

    #[test]
    fn a_control_frame_alone_does_not_make_the_sender_busy() {
        let mut model = Model::busy();
        assert_eq!(model.frame(8, false), Gather);
        assert_eq!(model.progress_end(), Some(SendAll));
        let decision = model.policy.on_control_frame();
        assert_eq!(model.apply(decision), Gather);
        assert_eq!(model.progress_end(), Some(Gather));
    }

    #[test]
    fn a_progress_call_without_a_frame_makes_the_connection_quiet() {
        let mut model = Model::busy();
        model.progress();
        assert_eq!(model.frame(8, false), Gather);
        model.progress();
        model.progress();
        for _ in 0..BURST {
            assert_eq!(model.frame(8, false), SendAll);
        }
        assert_eq!(model.frame(8, false), Gather);
    }

    #[test]
    fn frames_after_a_fence_are_sent_at_once() {
        let mut model = Model::busy();
        assert_eq!(model.frame(8, false), Gather);
        model.policy.expect_urgent_frames();
        assert_eq!(model.frame(8, false), SendAll);
    }

    #[test]
    fn a_batch_is_sent_before_progress() {
        let mut model = Model::busy();
        assert_eq!(model.frame(TX_BATCH - 1, false), Gather);
        assert_eq!(model.frame(1, false), SendSegments);
        assert_eq!(model.waiting, 0);
    }

    #[test]
    fn progress_after_each_frame_gathers_for_a_short_while() {
        let mut model = Model::busy();
        model.now = 5_000_000;
        model.frame(8, false);
        assert_eq!(model.progress(), Some(SendAll));
        for _ in 0..9 {
            model.frame(8, false);
            assert_eq!(model.progress(), Some(Gather));
            model.now += GATHER_NS / 9;
        }
        model.now += 1;
        model.frame(8, false);
        assert_eq!(model.progress(), Some(SendAll));
    }

    #[test]
    fn a_progress_call_without_a_new_frame_sends_what_was_gathered() {
        let mut model = Model::busy();
        model.frame(8, false);
        model.progress();
        model.frame(8, false);
        assert_eq!(model.progress(), Some(Gather));
        assert_eq!(model.progress(), Some(SendAll));
    }

    #[test]
    fn a_blocked_connection_does_not_wait_for_more() {
        let policy = Model::busy().policy;
        policy.start_gathering();
        for _ in 0..5 {
            policy.on_frame(0, 8, false);
            assert_eq!(policy.on_progress(false, || unreachable!()), SendAll);
            policy.start_gathering();
        }
    }

    #[test]
    fn replies_wait_for_the_end_of_the_progress_and_not_longer() {
        let mut model = Model::default();
        model.progress();
        assert_eq!(model.frame(BULK - 1, true), SendAll);
        assert_eq!(model.frame(BULK, true), Gather);
        assert_eq!(model.frame(BULK, true), Gather);
        assert_eq!(model.progress_end(), Some(SendAll));
        assert_eq!(model.progress_end(), None);
        // The last of a batch of replies does not wait for progress either.
        assert_eq!(model.frame(TX_BATCH, true), SendSegments);
    }

    #[test]
    fn the_end_of_progress_sends_frames_of_handlers_unless_the_sender_is_busy() {
        let mut model = Model::busy();
        model.progress();
        model.frame(8, true);
        assert_eq!(model.progress_end(), Some(SendAll));
        for _ in 0..3 {
            model.frame(8, false);
            model.progress();
        }
        model.frame(8, true);
        assert_eq!(model.progress_end(), Some(Gather));
        model.policy.flush_at_end_if(false);
        assert_eq!(model.progress_end(), Some(Gather));
        model.policy.flush_at_end_if(true);
        assert_eq!(model.progress_end(), Some(SendAll));
    }

    #[test]
    fn control_frames_wait_for_progress() {
        let mut model = Model::default();
        model.queue(8);
        let decision = model.policy.on_control_frame();
        assert_eq!(model.apply(decision), Gather);
        assert_eq!(model.progress(), Some(SendAll));
    }

    #[test]
    fn whole_segments_of_a_busy_sender_are_sent_and_a_short_remainder_waits() {
        let segment = 65_483;
        let mut model = Model::busy();
        assert!(model.policy.wants_segment_size());
        model.policy.set_segment_size(segment);
        for _ in 0..SENDS_PER_MEASUREMENT {
            assert!(!model.policy.wants_segment_size());
        }
        assert!(model.policy.wants_segment_size());
        assert_eq!(model.payload(segment + 100, false), SendSegments);
        assert_eq!(model.waiting, 100);
        assert_eq!(model.policy.on_room(), SendSegments);
        assert_eq!(model.payload(100, true), Gather);
        for (unsent, tail) in [
            (0, 0),
            (100, 0),
            (segment - 1, 0),
            (segment, 0),
            (2 * segment + MAX_TAIL, MAX_TAIL),
            (2 * segment + MAX_TAIL + 1, 0),
        ] {
            assert_eq!(model.policy.tail(unsent), tail);
        }
        model.policy.set_segment_size(LONG_SEGMENT - 1);
        assert_eq!(model.policy.tail(LONG_SEGMENT + 1), 0);
        assert_eq!(model.policy.on_room(), SendAll);
    }

    #[test]
    fn nothing_is_gathered_without_a_deferred_flush() {
        let mut model = Model::busy();
        model.frame(8, false);
        model.policy.forbid_gathering();
        for waiting in [8, BULK, TX_BATCH] {
            assert_eq!(model.frame(waiting, false), SendAll);
            assert_eq!(model.frame(waiting, true), SendAll);
            assert_eq!(model.payload(waiting, false), SendAll);
            assert_eq!(model.payload(waiting, true), SendAll);
        }
        assert_eq!(model.policy.on_control_frame(), SendAll);
        model.policy.set_segment_size(LONG_SEGMENT);
        assert_eq!(model.policy.on_room(), SendAll);
        assert!(!model.policy.is_busy() && !model.policy.is_gathering());
    }

    /// Any order of events: what is queued is in the list that progress flushes, and no byte waits for longer than
    /// `GATHER_NS` after the first progress that kept it, as progress calls go on.
    #[test]
    fn no_byte_waits_for_long_while_progress_is_called() {
        let mut seed = 7u64;
        let mut below = |n: u64| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for round in 0..(if cfg!(miri) { 2 } else { 200 }) {
            let mut model = Model {
                now: 1 + below(1 << 40),
                ..Model::default()
            };
            if round % 2 == 0 {
                model.policy.set_segment_size(65_483);
            }
            // The first progress since which the oldest byte was kept.
            let mut kept_at: Option<u64> = None;
            for _ in 0..2000 {
                model.now += below(3000);
                match below(8) {
                    0..=3 => {
                        model.frame(1 + below(3000) as usize, false);
                    }
                    4 => {
                        model.payload(1 + below(100_000) as usize, below(2) == 0);
                    }
                    5 => model.policy.expect_urgent_frames(),
                    _ => {
                        let at = model.now;
                        let decision = model.progress();
                        match decision {
                            Some(Gather) => {
                                let first = *kept_at.get_or_insert(at);
                                assert!(at < first + GATHER_NS);
                            }
                            _ => {
                                assert_eq!(model.waiting, 0);
                                kept_at = None;
                            }
                        }
                        for _ in 0..below(3) {
                            model.frame(1 + below(4000) as usize, true);
                        }
                        let bulk = model.policy.flush_at_end.get();
                        let end = model.progress_end();
                        assert!(!bulk || end == Some(SendAll) || model.waiting == 0);
                    }
                }
                if model.waiting == 0 {
                    kept_at = None;
                }
                assert!(model.waiting == 0 || model.policy.is_gathering());
            }
        }
    }
}
