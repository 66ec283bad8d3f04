/* Two processes of UCP by worker address, each on a device of its own: fake0 and rxe1, which a cable joins. The argument
 * is the case:
 *   killed    the peer is killed while messages go: the endpoint fails within ten seconds
 *   early     the peer is killed before it has made any progress: the same
 *   stopped   the peer is stopped for a while before it has made any progress: messages go when it goes on
 *   down      the link of fake0 goes down while messages go: the endpoints of both fail, every request ends, and when the
 *             link is up again, new workers talk
 * Run by tests/rdma with UCX_TLS=rc_verbs and ud_verbs. */
#include <ucp/api/ucp.h>

#include "failure.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST = 20000, WINDOW = 16, REPORTED_S = 10, STOPPED_S = 2 };

static const ucp_request_param_t plain;
static char out[LONGEST], in[LONGEST];

/* A worker on this device, and an endpoint to the one of the other process. */
typedef struct {
    side_t side;
    failure_t failure;
    ucp_ep_h ep;
} end_t;

static void end_open(end_t *end, const pair_t *pair, const char *device)
{
    void *address;

    CHECK_EQ(setenv("UCX_NET_DEVICES", device, 1), 0);
    memset(end, 0, sizeof(*end));
    side_open(&end->side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    pair_send_blob(pair, end->side.address, end->side.address_length);
    address = pair_recv_blob(pair);
    end->ep = connect_watched(&end->side, address, &end->failure);
    free(address);
}

static void end_close(end_t *end)
{
    CHECK_OK(side_disconnect(&end->side, &end->side, end->ep, UCP_EP_CLOSE_FLAG_FORCE));
    side_close(&end->side);
}

static ucs_status_ptr_t send_to(end_t *end, size_t length)
{
    return ucp_tag_send_nbx(end->ep, out, length, 1, &plain);
}

static ucs_status_ptr_t receive(end_t *end)
{
    return ucp_tag_recv_nbx(end->side.worker, in, sizeof(in), 1, -1, &plain);
}

/* A short and a long message each way. */
static void talk(end_t *end, int first)
{
    static const size_t lengths[] = {8, LONGEST};
    unsigned i;

    for (i = 0; i < 2; ++i) {
        ucs_status_ptr_t sent;

        fill(out, lengths[i], first + i);
        memset(in, 0, sizeof(in));
        if (first) {
            sent = send_to(end, lengths[i]);
            CHECK_OK(side_wait(&end->side, &end->side, receive(end)));
        } else {
            CHECK_OK(side_wait(&end->side, &end->side, receive(end)));
            sent = send_to(end, lengths[i]);
        }
        CHECK_EQ(wrong_at(in, lengths[i], !first + i), lengths[i]);
        CHECK_OK(side_wait(&end->side, &end->side, sent));
    }
    CHECK_EQ(end->failure.calls, 0);
}

/* Sends until the endpoint fails; whatever was asked for has ended then. */
static void send_until_failure(end_t *end)
{
    ucs_status_ptr_t requests[WINDOW];
    double deadline = now() + 60;
    unsigned sent = 0, i;

    while (end->failure.calls == 0) {
        ucp_worker_progress(end->side.worker);
        if ((sent < WINDOW) && (end->failure.calls == 0)) {
            requests[sent] = send_to(end, sent % 2 ? LONGEST : 8);
            ++sent;
        }
        CHECK(now() < deadline);
    }
    /* The last is what a device says of its own link. */
    if ((end->failure.status != UCS_ERR_CONNECTION_RESET) && (end->failure.status != UCS_ERR_ENDPOINT_TIMEOUT) &&
        (end->failure.status != UCS_ERR_IO_ERROR)) {
        FAIL("the endpoint failed with %s", ucs_status_string(end->failure.status));
    }
    for (i = 0; i < sent; ++i) {
        ucs_status_t status = side_wait(&end->side, &end->side, requests[i]);
        CHECK((status == UCS_OK) || (status == UCS_ERR_CANCELED) || (status == end->failure.status));
    }
    CHECK(UCS_PTR_IS_ERR(send_to(end, 8)));
    CHECK_EQ(end->failure.calls, 1);
}

/* Nobody closes before the other has all messages. */
static void part(end_t *end, const pair_t *pair)
{
    char go = 0;

    pair_send(pair, &go, 1);
    while (!pair_ready(pair)) {
        ucp_worker_progress(end->side.worker);
    }
    pair_recv(pair, &go, 1);
    end_close(end);
    pair_finish(pair);
}

/* The child is stopped before it has made any progress. */
static void stand_still(end_t *end, const pair_t *pair)
{
    double start = now();
    int status;

    CHECK_EQ(kill(pair->child, SIGSTOP), 0);
    CHECK_EQ(waitpid(pair->child, &status, WUNTRACED), pair->child);
    CHECK(WIFSTOPPED(status));
    while (now() - start < STOPPED_S) {
        ucp_worker_progress(end->side.worker);
    }
    CHECK_EQ(end->failure.calls, 0);
    CHECK_EQ(kill(pair->child, SIGCONT), 0);
}

int main(int argc, char **argv)
{
    const char *what = argv[argc - 1];
    int early = !strcmp(what, "early"), stopped = !strcmp(what, "stopped");
    int killed = early || !strcmp(what, "killed");
    pair_t pair = pair_start();
    int parent = !pair_is_child(&pair);
    const char *device = parent ? "fake0:1" : "rxe1:1";
    static end_t end;
    double start;

    CHECK(killed || stopped || !strcmp(what, "down"));
    end_open(&end, &pair, device);
    if (early && !parent) {
        for (;;) {
            pause();
        }
    }
    if (stopped) {
        if (parent) {
            stand_still(&end, &pair);
        }
        pair_barrier(&pair);
    }
    if (!early) {
        talk(&end, parent);
    }
    if (killed && !parent) {
        for (;;) {
            ucp_worker_progress(end.side.worker);
        }
    }
    if (killed) {
        CHECK_EQ(kill(pair.child, SIGKILL), 0);
        start = now();
        send_until_failure(&end);
        CHECK(now() - start < REPORTED_S);
        end_close(&end);
        CHECK_EQ(waitpid(pair.child, NULL, 0), pair.child);
        OK("%s", what);
        return 0;
    }
    if (stopped) {
        part(&end, &pair);
        if (parent) {
            OK("stopped");
        }
        return 0;
    }
    if (parent) {
        CHECK_EQ(system("ip link set veth0 down"), 0);
    }
    pair_barrier(&pair);
    send_until_failure(&end);
    end_close(&end);
    pair_barrier(&pair);
    if (parent) {
        CHECK_EQ(system("ip link set veth0 up && for _ in $(seq 100); do"
                        " grep -q ACTIVE /sys/class/infiniband/fake0/ports/1/state && exit 0; sleep 0.1; done; exit 1"), 0);
    }
    pair_barrier(&pair);
    end_open(&end, &pair, device);
    talk(&end, parent);
    part(&end, &pair);
    if (parent) {
        OK("down");
    }
    return 0;
}
