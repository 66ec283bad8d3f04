/* Messages that a handler keeps stay whole while their senders send more, end or are killed, and while others take their
 * place. A worker can be destroyed while messages are kept. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal */
/* timeout: 60 */
#include "peers.h"

/* More senders than there are wide lanes. */
enum { SENDERS = 12, KEEP = 1, COUNT = 2, MORE = 300, MOST = 8000, LENGTH = 5000 };

static side_t side;
static struct {
    void *data;
    uint64_t seed;
} kept[SENDERS];
static unsigned keeping, counted;

/* Headers are the seed of the data. */
static ucs_status_t on_keep(void *arg, const void *header, size_t header_length, void *data, size_t length,
                            const ucp_am_recv_param_t *param)
{
    CHECK(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA);
    CHECK_EQ(length, LENGTH);
    kept[keeping].data = data;
    memcpy(&kept[keeping].seed, header, sizeof(kept[keeping].seed));
    ++keeping;
    return UCS_INPROGRESS;
}

static ucs_status_t on_count(void *arg, const void *header, size_t header_length, void *data, size_t length,
                             const ucp_am_recv_param_t *param)
{
    uint64_t seed;

    CHECK_EQ(header_length, sizeof(seed));
    memcpy(&seed, header, sizeof(seed));
    CHECK_PATTERN(data, length, seed);
    ++counted;
    return UCS_OK;
}

static void send_data(ucp_ep_h ep, unsigned id, uint64_t seed, size_t length)
{
    static unsigned char data[MOST];
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_EAGER};

    fill(data, length, seed);
    request_finish(side.worker, ucp_am_send_nbx(ep, id, &seed, sizeof(seed), data, length, &param));
}

static void run_sender(const pair_t *pair, unsigned sender)
{
    void *address = pair_recv_blob(pair);
    ucp_request_param_t flush = {0};
    unsigned number;
    ucp_ep_h ep;

    side_open(&side, UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&side, address);
    free(address);
    send_data(ep, KEEP, sender * 1000, LENGTH);
    for (number = 1; number <= MORE; ++number) {
        send_data(ep, COUNT, sender * 1000 + number, 1 + (number * 2654435761u) % MOST);
    }
    request_finish(side.worker, ucp_ep_flush_nbx(ep, &flush));
    pair_barrier(pair);
    if (sender % 2) {
        raise(SIGKILL);
    }
    CHECK_OK(side_disconnect(&side, &side, ep, 0));
    side_close(&side);
    exit(0);
}

static void handle(unsigned id, ucp_am_recv_callback_t cb)
{
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
                                      .id = id,
                                      .cb = cb};

    CHECK_OK(ucp_worker_set_am_recv_handler(side.worker, &handler));
}

static void check_kept(void)
{
    unsigned i;

    for (i = 0; i < keeping; ++i) {
        CHECK_PATTERN(kept[i].data, LENGTH, kept[i].seed);
    }
}

/* One sender comes, sends and ends. */
static void serve(const pair_t *pair, unsigned sender)
{
    unsigned expected_kept = keeping + 1, expected = counted + MORE, i;
    int status;

    pair_send_blob(pair, side.address, side.address_length);
    WORKERS_UNTIL(side.worker, side.worker, (keeping == expected_kept) && (counted == expected) && pair_ready(pair));
    pair_barrier(pair);
    while (waitpid(pair->child, &status, WNOHANG) == 0) {
        ucp_worker_progress(side.worker);
    }
    close(pair->fd);
    CHECK(sender % 2 ? WIFSIGNALED(status) : WIFEXITED(status) && (WEXITSTATUS(status) == 0));
    for (i = 0; i < 100; ++i) {
        ucp_worker_progress(side.worker);
    }
    check_kept();
}

static void give_back(void)
{
    static unsigned char target[LENGTH];
    ucp_request_param_t param = {0};
    unsigned i;

    for (i = 0; i < keeping; ++i) {
        if (i % 3) {
            ucp_am_data_release(side.worker, kept[i].data);
        } else {
            CHECK(ucp_am_recv_data_nbx(side.worker, kept[i].data, target, LENGTH, &param) == NULL);
            CHECK_PATTERN(target, LENGTH, kept[i].seed);
        }
    }
    keeping = 0;
}

static void run(const void *transport)
{
    pair_t pairs[2 * SENDERS];
    unsigned i;

    CHECK_EQ(setenv("UCX_TLS", transport, 1), 0);
    for (i = 0; i < 2 * SENDERS; ++i) {
        pairs[i] = pair_start();
        if (pair_is_child(&pairs[i])) {
            run_sender(&pairs[i], i);
        }
    }
    side_open(&side, UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    handle(KEEP, on_keep);
    handle(COUNT, on_count);
    for (i = 0; i < SENDERS; ++i) {
        serve(&pairs[i], i);
    }
    give_back();
    for (; i < 2 * SENDERS; ++i) {
        serve(&pairs[i], i);
    }
    side_close(&side);
}

static void check_transport(const char *transport)
{
    CHECK_EQ(pair_apart(run, transport), 0);
    OK(transport);
}

int main(void)
{
    check_transport("posix");
    check_transport("sysv");
    return 0;
}
