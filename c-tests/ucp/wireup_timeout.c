/* A process is stopped before it accepts a connection; its kernel accepts it, so no system call fails. An endpoint
 * with error handling fails after UCX_WIREUP_TIMEOUT with its requests, also for a worker that sleeps; one without
 * waits, and continues when the process does. */
/* env: UCX_TLS=tcp UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_WIREUP_TIMEOUT=300ms */
/* timeout: 60 */
#include "failure.h"
#include "window.h"

#include <poll.h>
#include <signal.h>

static const ucp_request_param_t plain;

/* Sends its address, stops, and when it is woken takes one message. */
static void stopped(const pair_t *pair)
{
    char got[8] = "";
    ucs_status_ptr_t request;
    side_t side;

    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    pair_send_blob(pair, side.address, side.address_length);
    raise(SIGSTOP);
    request = ucp_tag_recv_nbx(side.worker, got, sizeof(got), 7, UINT64_MAX, &plain);
    CHECK(!UCS_PTR_IS_ERR(request));
    DRIVE_UNTIL(&side, &side, has_ended(request));
    CHECK_STR(got, "late");
    drop(request);
    pair_send(pair, got, 1);
    while (!pair_ready(pair)) {
        ucp_worker_progress(side.worker);
    }
    side_close(&side);
    pair_finish(pair);
}

static void sleep_until_told(side_t *side, const failure_t *failure)
{
    struct pollfd event = {.events = POLLIN};
    ucs_status_t status;

    CHECK_OK(ucp_worker_get_efd(side->worker, &event.fd));
    while (!failure->calls) {
        if (ucp_worker_progress(side->worker)) {
            continue;
        }
        status = ucp_worker_arm(side->worker);
        if (status != UCS_ERR_BUSY) {
            CHECK_OK(status);
            CHECK(poll(&event, 1, 30000) == 1);
        }
    }
}

int main(void)
{
    char late[8] = "late", byte;
    ucs_status_ptr_t waits[2], patient;
    failure_t failure;
    ucp_ep_h watched, other;
    double start;
    void *address;
    side_t side;
    pair_t pair = pair_start();
    int status;

    if (pair_is_child(&pair)) {
        stopped(&pair);
    }
    address = pair_recv_blob(&pair);
    CHECK(waitpid(pair.child, &status, WUNTRACED) == pair.child && WIFSTOPPED(status));
    side_open(&side, UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP, UCS_THREAD_MODE_SINGLE);
    start = now();
    watched = connect_watched(&side, address, &failure);
    other = side_connect(&side, address);
    waits[0] = ucp_tag_send_nbx(watched, late, sizeof(late), 1, &plain);
    waits[1] = ucp_ep_flush_nbx(watched, &plain);
    patient = ucp_tag_send_nbx(other, late, sizeof(late), 7, &plain);
    sleep_until_told(&side, &failure);
    CHECK(now() - start >= 0.3 && now() - start < 20);
    CHECK(failure.calls == 1 && failure.ep == watched);
    CHECK_STATUS(failure.status, UCS_ERR_ENDPOINT_TIMEOUT);
    CHECK_STR(outcome(waits[0]), ucs_status_string(UCS_ERR_ENDPOINT_TIMEOUT));
    CHECK_STR(outcome(waits[1]), ucs_status_string(UCS_ERR_ENDPOINT_TIMEOUT));
    drop(waits[0]);
    drop(waits[1]);
    waits[0] = ucp_ep_close_nb(watched, UCP_EP_CLOSE_MODE_FORCE);
    DRIVE_UNTIL(&side, &side, has_ended(waits[0]));
    drop(waits[0]);
    CHECK(!has_ended(patient));
    OK("an endpoint with error handling ends in time");

    CHECK(kill(pair.child, SIGCONT) == 0);
    DRIVE_UNTIL(&side, &side, has_ended(patient) && pair_ready(&pair));
    CHECK_STR(outcome(patient), ucs_status_string(UCS_OK));
    drop(patient);
    pair_recv(&pair, &byte, 1);
    waits[0] = ucp_ep_close_nb(other, UCP_EP_CLOSE_MODE_FLUSH);
    DRIVE_UNTIL(&side, &side, has_ended(waits[0]));
    drop(waits[0]);
    pair_send(&pair, &byte, 1);
    side_close(&side);
    free(address);
    pair_finish(&pair);
    CHECK_EQ(failure.calls, 1);
    OK("one without waits for its peer");
    return 0;
}
