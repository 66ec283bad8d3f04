/* Bytes of a stream that no receive waits for stay where shared memory has them, and are lent from there. A reader who keeps them,
 * or never reads, holds up neither the sender nor other messages; what it holds stays whole. They are free again when they are
 * read in any way, or their endpoint or worker ends. */
/* oracle: 1.22.0 */
/* env: UCX_TLS=posix UCX_LOG_LEVEL=fatal */
/* timeout: 60 */
#include "peers.h"

/* More of them than the sender has memory for, and more endpoints than there are places for senders. */
enum { LONGEST = 4000, SHORT = 400, MANY = 3000, ENDPOINTS = 600 };

static two_t two;
static char source[LONGEST], target[LONGEST];
static size_t length;
static const ucp_request_param_t plain;

static void send_one(uint64_t seed)
{
    fill(source, length, seed);
    CHECK_OK(two_wait(&two, ucp_stream_send_nbx(two.ep[0], source, length, &plain)));
}

static char *lent(size_t expected)
{
    size_t came;
    void *data;

    TWO_UNTIL(&two, (data = ucp_stream_recv_data_nb(two.ep[1], &came)) != NULL);
    CHECK(!UCS_PTR_IS_ERR(data));
    CHECK_EQ(came, expected);
    return data;
}

static void give_back(void *data)
{
    ucp_stream_data_release(two.ep[1], data);
}

/* Whether an address is in memory that processes share. */
static int is_shared(const void *at)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long from, to;
    char line[512], mode[5];
    int found = 0;

    CHECK(maps != NULL);
    while (!found && (fgets(line, sizeof(line), maps) != NULL)) {
        CHECK_EQ(sscanf(line, "%lx-%lx %4s", &from, &to, mode), 3);
        found = (from <= (unsigned long)at) && ((unsigned long)at < to) && (mode[3] == 's');
    }
    fclose(maps);
    return found;
}

/* A message is lent from shared memory. */
static void check_in_place(uint64_t seed)
{
    char *data;

    send_one(seed);
    data = lent(length);
    CHECK(is_shared(data));
    CHECK_PATTERN(data, length, seed);
    give_back(data);
}

static void many_in_turn(void)
{
    uint64_t i;

    for (i = 0; i < 100; ++i) {
        check_in_place(i);
    }
    OK("lent in place");
}

static void one_is_held(void)
{
    char *held, *data;
    uint64_t i;

    send_one(1);
    held = lent(length);
    for (i = 2; i < MANY; ++i) {
        send_one(i);
        data = lent(length);
        CHECK_PATTERN(data, length, i);
        give_back(data);
    }
    CHECK_PATTERN(held, length, 1);
    give_back(held);
    check_in_place(1);
    OK("one is held while more are read");
}

static void none_is_read(void)
{
    char *data[MANY];
    uint64_t i;

    for (i = 0; i < MANY; ++i) {
        send_one(i);
    }
    for (i = 0; i < MANY; ++i) {
        data[i] = lent(length);
    }
    for (i = 0; i < MANY; ++i) {
        CHECK_PATTERN(data[i], length, i);
        give_back(data[i]);
    }
    check_in_place(1);
    OK("none is read until all are sent, nor given back until all are read");
}

static void receive_into(size_t at, size_t count)
{
    ucp_request_param_t whole = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_STREAM_RECV_FLAG_WAITALL};
    size_t came;

    CHECK_OK(two_wait(&two, ucp_stream_recv_nbx(two.ep[1], target + at, count, &came, &whole)));
}

static void in_parts(void)
{
    size_t first = length / 4;
    ucp_stream_poll_ep_t ready;
    uint64_t i;
    char *data;

    for (i = 0; i < 100; ++i) {
        send_one(i);
        if (i % 2) {
            TWO_UNTIL(&two, ucp_stream_worker_poll(two.worker[1], &ready, 1, 0) == 1);
        }
        receive_into(0, 1);
        receive_into(1, first - 1);
        if (i % 4 < 2) {
            data = lent(length - first);
            memcpy(target + first, data, length - first);
            give_back(data);
        } else {
            receive_into(first, length - first);
        }
        CHECK_PATTERN(target, length, i);
    }
    check_in_place(1);
    OK("received in parts");
}

static void close_both(void)
{
    void *requests[2];
    int i;

    for (i = 0; i < 2; ++i) {
        requests[i] = ucp_ep_close_nbx(two.ep[i], &plain);
    }
    for (i = 0; i < 2; ++i) {
        CHECK_OK(two_wait(&two, requests[i]));
    }
}

static void endpoints_end(void)
{
    ucp_stream_poll_ep_t ready;
    int i;

    for (i = 0; i < ENDPOINTS; ++i) {
        send_one(i);
        TWO_UNTIL(&two, ucp_stream_worker_poll(two.worker[1], &ready, 1, 0) == 1);
        close_both();
        two.ep[0] = two_connect(&two, 0, 1);
        two.ep[1] = two_connect(&two, 1, 0);
    }
    check_in_place(1);
    OK("endpoints end before it is read");
}

static void all_of(size_t bytes)
{
    length = bytes;
    two_open(&two, UCP_FEATURE_STREAM, 1);
    if (length == SHORT) {
        /* Only an application that receives in place has them kept. */
        send_one(0);
        give_back(lent(length));
    }
    many_in_turn();
    one_is_held();
    none_is_read();
    in_parts();
    endpoints_end();
    send_one(1);
    lent(length);
    send_one(2);
    two_progress(&two);
    two_close_workers(&two);
    OK("the worker ends while it is held");
}

int main(void)
{
    all_of(LONGEST);
    all_of(SHORT);
    return 0;
}
