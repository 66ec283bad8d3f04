//! The revocation epoch: how a sender withdraws memory that an RTS has exposed. An application that closes an
//! endpoint by force owns the buffers of its requests again at once, even while a receiver copies from one of them.
//!
//! Each worker has an epoch, one word that peers may read, and advances it at each revocation. An RTS carries the
//! address of the word and its value. A receiver reads the word after its copy. If the epoch has advanced, the copied
//! bytes may be wrong, so the receiver requests the data by an RTR. The sender then sends the data, or answers that
//! the send was cancelled. The epoch advances before the application learns that its buffer is free.
#![forbid(unsafe_code)]

use crate::c::ucs_memory_type_t;
use crate::ucp::context::Context;
use crate::ucp::mem::{DeviceWindow, SharedWord};
use crate::ucp::rkey::RemoteKey;
use crate::ucs::sync::{Ordering, fence};
use crate::ucs_error;
use crate::uct::base::copy::PeerWord;
use crate::uct::internal::EpochGuard;
use core::cell::OnceCell;

/// The epoch of a worker, made with its first RTS whose buffer may be revoked.
#[derive(Default)]
pub struct RevocationEpoch {
    word: OnceCell<Option<SharedWord>>,
    /// The same number in memory of a device, for peers that can map nothing else.
    device: OnceCell<Option<DeviceWindow>>,
}

impl RevocationEpoch {
    /// The guard for a new RTS, and a key for peers that can map the word or read it by a device; empty if none can. `None` when no memory can be allocated for
    /// it.
    pub fn current(&self, context: &Context) -> Option<(EpochGuard, &[u8])> {
        let made = self.word.get_or_init(|| {
            let epoch = SharedWord::new(context).ok()?;
            epoch.word().store(1, Ordering::Relaxed);
            Some(epoch)
        });
        let epoch = made.as_ref()?;
        let guard = EpochGuard {
            at: core::ptr::from_ref(epoch.word()).addr() as u64,
            value: epoch.word().load(Ordering::Relaxed),
            rkey: 0,
        };
        Some((guard, epoch.key()))
    }

    /// As `current`, of a word in memory of the type and on the device of `near`, with a key by this domain.
    pub fn current_on_device(
        &self,
        context: &Context,
        domain: usize,
        near: (*mut u8, ucs_memory_type_t),
    ) -> Option<(EpochGuard, &[u8])> {
        const LENGTH: usize = size_of::<u64>();
        let (guard, _) = self.current(context)?;
        let made = self.device.get_or_init(|| {
            let word = DeviceWindow::new(context, domain, LENGTH, near).ok()?;
            word.memory().write(&guard.value.to_ne_bytes()).ok()?;
            Some(word)
        });
        let word = made.as_ref()?;
        let guard = EpochGuard {
            at: word.memory().address() as u64,
            ..guard
        };
        Some((guard, word.key()))
    }

    /// Revokes exposed buffers: advances the epoch.
    #[cold]
    pub fn advance(&self) {
        if let Some(Some(epoch)) = self.word.get() {
            let before = epoch.word().fetch_add(1, Ordering::Relaxed);
            if let Some(Some(device)) = self.device.get()
                && let Err(e) = device.memory().write(&(before + 1).to_ne_bytes())
            {
                ucs_error!(
                    "peers are not told that buffers in memory of a device are given back: {e}"
                );
            }
            // Release: a reader that sees what the owner now writes to the buffer, and then reads the word, sees the
            // new epoch. Pairs with the Acquire in `is_current`, or with the kernel's copy of both.
            fence(Ordering::Release);
        }
    }
}

/// The epoch of a peer, mapped here.
pub struct MappedEpoch<'a> {
    word: PeerWord<'a>,
    value: u64,
}

impl<'a> MappedEpoch<'a> {
    /// `None` when the word is outside the key's range or not aligned.
    pub fn find(key: &'a RemoteKey, guard: EpochGuard) -> Option<MappedEpoch<'a>> {
        let word = key.readable(guard.at, size_of::<u64>())?.peer_word()?;
        Some(MappedEpoch {
            word,
            value: guard.value,
        })
    }

    /// Whether nothing was revoked up to the reads before this call.
    pub fn is_current(&self) -> bool {
        // Acquire: pairs with the Release in `advance`.
        fence(Ordering::Acquire);
        self.word.load(Ordering::Relaxed) == self.value
    }
}
