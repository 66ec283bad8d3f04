//! `Patience`: how long the sender of numbered messages waits for acknowledgements, for an untried path, and for any path.
#![forbid(unsafe_code)]

const MS: u64 = 1_000_000;

/// Without an acknowledgement for so long, another path is tried. The time doubles with each try: the peer may just not
/// make progress.
const FIRST: u64 = 500 * MS;
const LONGEST: u64 = 16_000 * MS;

/// Time until a path that has failed is tried again; it doubles with each failure.
const RETRY: u64 = 250 * MS;
const LONGEST_RETRY: u64 = 8_000 * MS;

/// How long an endpoint without a path lives: the peer may find one.
const LOST: u64 = 2_000 * MS;

/// Times are in nanoseconds of one clock.
pub struct Patience {
    /// While something is not acknowledged.
    until: Option<u64>,
    timeout: u64,
    /// Since when there has been no path.
    lost: Option<u64>,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            until: None,
            timeout: FIRST,
            lost: None,
        }
    }
}

impl Patience {
    /// Whether something is not acknowledged.
    pub fn is_waiting(&self) -> bool {
        self.until.is_some()
    }

    /// Something was sent. Returns whether an acknowledgement is waited for from now on, and was not before.
    pub fn begin(&mut self, now: impl FnOnce() -> u64) -> bool {
        let begins = self.until.is_none();
        if begins {
            self.until = Some(now() + self.timeout);
        }
        begins
    }

    /// An acknowledgement of something new has come; `more` is still to be acknowledged.
    pub fn progressed(&mut self, more: bool, now: impl FnOnce() -> u64) {
        self.timeout = FIRST;
        self.until = more.then(|| now() + FIRST);
    }

    /// Whether an acknowledgement is late. Then the next one is waited for.
    pub fn is_over(&mut self, now: u64) -> bool {
        let over = self.until.is_some_and(|until| until <= now);
        if over {
            self.timeout = (self.timeout * 2).min(LONGEST);
            self.until = Some(now + self.timeout);
        }
        over
    }

    /// There is no path, or none that is connected.
    pub fn lose(&mut self, now: u64) {
        self.lost.get_or_insert(now);
    }

    /// Whether that has been so for too long.
    pub fn is_lost(&self, now: u64) -> bool {
        self.lost.is_some_and(|since| now >= since + LOST)
    }

    /// The peer has answered.
    pub fn found(&mut self) {
        self.lost = None;
    }
}

/// The failures of one pair of interfaces.
#[derive(Clone, Copy, Default)]
pub struct Failures {
    count: u32,
    last: u64,
}

impl Failures {
    pub fn add(&mut self, now: u64) {
        self.count = self.count.saturating_add(1);
        self.last = now;
    }

    /// Whether a path by these interfaces may be opened (again), at most `retries` times after failures.
    pub fn may_retry(&self, now: u64, retries: u32) -> bool {
        let Some(before) = self.count.checked_sub(1) else {
            return true;
        };
        let pause = RETRY.saturating_mul(1 << before.min(16)).min(LONGEST_RETRY);
        self.count <= retries && now >= self.last + pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_for_an_acknowledgement_doubles_until_one_comes() {
        let mut p = Patience::default();
        assert!(!p.is_waiting() && !p.is_over(u64::MAX / 2));
        assert!(p.begin(|| 0) && !p.begin(|| FIRST));
        assert!(!p.is_over(FIRST - 1) && p.is_over(FIRST));
        assert!(!p.is_over(3 * FIRST - 1) && p.is_over(3 * FIRST));
        p.progressed(true, || 3 * FIRST);
        assert!(p.is_over(4 * FIRST));
        assert!(!p.is_over(6 * FIRST - 1) && p.is_over(6 * FIRST));
        p.progressed(false, || 0);
        assert!(!p.is_waiting());
        let (mut now, mut tries) = (0, 0);
        p.begin(|| 0);
        while tries < 10 {
            now += FIRST;
            tries += u32::from(p.is_over(now));
        }
        p.begin(|| 0);
        assert!(!p.is_over(now + LONGEST - 1) && p.is_over(now + LONGEST));
    }

    #[test]
    fn an_endpoint_without_a_path_lives_for_a_while() {
        let mut p = Patience::default();
        p.lose(5);
        p.lose(9);
        assert!(!p.is_lost(5) && !p.is_lost(4 + LOST) && p.is_lost(5 + LOST));
        p.found();
        assert!(!p.is_lost(5 + LOST));
    }

    #[test]
    fn a_path_is_tried_again_later_and_later_and_so_often() {
        let mut f = Failures::default();
        assert!(f.may_retry(0, 0));
        f.add(0);
        assert!(!f.may_retry(u64::MAX, 0) && !f.may_retry(RETRY - 1, 9) && f.may_retry(RETRY, 1));
        f.add(RETRY);
        assert!(!f.may_retry(3 * RETRY - 1, 9) && f.may_retry(3 * RETRY, 2));
        assert!(!f.may_retry(u64::MAX, 1));
        (0..100).for_each(|_| f.add(0));
        assert!(f.may_retry(LONGEST_RETRY, u32::MAX));
    }
}
