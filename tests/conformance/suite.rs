//! The list of the tests: `suite!` makes a module of them for one transport.

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
                am::short_inside_keeps_payloads,
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
                life::a_sender_is_turned_away,
                many::senders_share_a_receiver,
                many::senders_that_die_harm_no_one_else,
                life::endpoints_close_with_work_under_way,
                life::no_completion_outlives_its_endpoint,
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
