/* What an application is told when its device fails (docs/COMPATIBILITY.md): each request that was under way ends, with the
 * status of the error handler or as cancelled, and later calls answer an error. Two contexts of one process, which the
 * stand-in for libibverbs connects. The arguments are the setting of the stand-in that breaks the next work request, and the
 * statuses that the error handler may tell. Run by tests/verbs with UCX_TLS=rc_verbs and ud_verbs. */
#include "failure.h"
#include "stand_in.h"

#include <stdlib.h>

enum { WINDOW = 32, LONG = 300000 };

static const ucp_request_param_t plain;
static side_t origin, owner;
static char from[LONG], to[LONG];

static void send_one(ucp_ep_h ep, side_t *receiver)
{
    CHECK_OK(side_wait(&origin, &owner, ucp_tag_send_nbx(ep, from, 8, 1, &plain)));
    CHECK_OK(side_wait(&origin, &owner, ucp_tag_recv_nbx(receiver->worker, to, 8, 1, -1, &plain)));
}

int main(int argc, char **argv)
{
    ucs_status_ptr_t requests[WINDOW];
    failure_t failure, other;
    ucp_ep_h ep, back;
    int i, sent, known = 0;

    CHECK(argc >= 3);
    side_open(&origin, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&owner, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep = connect_watched(&origin, owner.address, &failure);
    back = connect_watched(&owner, origin.address, &other);
    for (i = 0; i < 2; ++i) {
        send_one(ep, &owner);
        send_one(back, &origin);
    }
    *setting(argv[1]) = *setting("sent") + 1;
    for (sent = 0; (sent < WINDOW) && (failure.calls == 0); ++sent) {
        requests[sent] = ucp_tag_send_nbx(ep, from, sent % 2 ? LONG : 8, 2, &plain);
        ucp_worker_progress(origin.worker);
    }
    DRIVE_UNTIL(&origin, &owner, failure.calls > 0);
    for (i = 2; i < argc; ++i) {
        known |= !strcmp(argv[i], ucs_status_string(failure.status));
    }
    if (!known) {
        FAIL("%s: the handler got '%s'", argv[1], ucs_status_string(failure.status));
    }
    for (i = 0; i < sent; ++i) {
        ucs_status_t status = side_wait(&origin, &owner, requests[i]);

        CHECK((status == UCS_OK) || (status == UCS_ERR_CANCELED) || (status == failure.status));
    }
    CHECK(UCS_PTR_IS_ERR(ucp_tag_send_nbx(ep, from, 8, 2, &plain)));
    CHECK_EQ(failure.calls, 1);
    CHECK_OK(side_disconnect(&origin, &owner, ep, UCP_EP_CLOSE_FLAG_FORCE));
    CHECK_OK(side_disconnect(&origin, &owner, back, UCP_EP_CLOSE_FLAG_FORCE));
    side_close(&origin);
    side_close(&owner);
    OK("%s", argv[1]);
    return 0;
}
