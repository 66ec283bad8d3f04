//! The conformance suite: what every UCT transport must do, asked through the C functions and the op
//! tables that clients call. Generic over component, transport and device.
//!
//! A new transport adds one `suite!` line. Both ends live in one process, except where a peer must die or
//! where resources are counted: then this binary runs itself as the peer (`peer.rs`). A test that a
//! transport cannot take part in (no active messages, no events) asserts that the calls answer
//! UNSUPPORTED instead, so that no combination passes by doing nothing.
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is a C call under test on handles that `side.rs` keeps alive"
)]

mod am;
mod attributes;
mod endpoint;
mod events;
mod input;
mod life;
mod many;
mod order;
mod pair;
mod peer;
mod rma;
mod side;
#[allow(dead_code, reason = "each crate uses a part of it")]
#[path = "../../src/ucs/test_rng.rs"]
mod test_rng;

use side::{Security, Tl};

macro_rules! suite {
    ($name:ident, $component:literal, $transport:literal, $device:literal, $security:ident) => {
        mod $name {
            use super::*;
            const TL: Tl = Tl {
                component: $component,
                transport: $transport,
                device: $device,
                security: Security::$security,
            };
            suite!(@tests
                attributes::are_consistent,
                attributes::what_is_not_advertised_is_unsupported,
                attributes::memory_domain_is_consistent,
                am::short_keeps_payloads,
                am::short_iov_keeps_payloads,
                am::bcopy_keeps_payloads,
                am::zcopy_keeps_payloads,
                am::message_limits_hold,
                am::handlers_change_at_any_time,
                am::descriptors_stay_until_released,
                am::kept_descriptors_outlive_the_flow,
                am::handlers_may_send,
                order::messages_of_an_endpoint_stay_in_order,
                order::endpoints_connect_to_each_other,
                order::pending_requests_are_served_in_turn,
                order::pending_requests_are_purged,
                order::flush_completes,
                order::flush_waits_for_what_was_sent,
                rma::put_and_get_match_an_oracle,
                rma::memory_limits_hold,
                rma::atomics_match_an_oracle,
                rma::misaligned_atomics_are_refused,
                rma::rkey_ptr_reaches_the_memory,
                rma::ranges_of_keys_hold,
                rma::damaged_keys_are_refused,
                rma::long_transfers_are_cut_and_flushed,
                events::descriptor_wakes_without_losses,
                events::arm_is_busy_while_something_waits,
                life::progress_is_switched,
                life::check_of_a_living_peer_is_quiet,
                life::addresses_work_at_any_alignment,
                life::foreign_addresses_are_unreachable,
                life::churn_leaves_nothing_behind,
                life::death_of_the_peer_is_reported_once,
                life::two_processes_talk,
                many::senders_share_a_receiver,
                many::senders_that_die_harm_no_one_else,
                life::endpoints_close_with_work_under_way,
                input::nulls_and_wrong_values_get_statuses,
            );
        }
    };
    (@tests $($file:ident::$test:ident,)*) => {
        $(#[test]
        fn $test() {
            side::watched(|| $file::$test(&TL));
        })*
    };
}

suite!(self_memory, "self", "self", "memory", Off);
suite!(sysv_memory, "sysv", "sysv", "memory", Off);
suite!(posix_memory, "posix", "posix", "memory", Off);
suite!(tcp_lo, "tcp", "tcp", "lo", Off);
suite!(tcp_proof, "tcp", "tcp", "lo", Proof);
suite!(tcp_encrypted, "tcp", "tcp", "lo", Encryption);
suite!(cma_memory, "cma", "cma", "memory", Off);
