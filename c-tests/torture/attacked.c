/* A worker that is attacked (tests/attacks), and an honest process that goes on with it. Both have memory that is secret.
 *
 * Prints both workers' addresses, the honest process's remote key and where its memory and this process's are. Then, for
 * each line of input:
 *   ?        sends messages to the honest process and back for a while; prints descriptors, resident KB without what the
 *            allocator keeps free, and nanoseconds of processor time for a call of progress that finds nothing
 *   r        posts a receive for attackers
 *   s HEX    sends a long message to that worker
 *   e        ends that send
 */
/* env: UCX_NET_DEVICES=lo UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 60 */
#include "peers.h"
#include "torture.h"

#include <malloc.h>
#include <poll.h>

enum { TAG = 7, ATTACKERS = 60, WHILE_MS = 200, SECRET = 1 << 16, ROOM = 4096, LONG_SEND = 1 << 20, LINE = 8192,
       IDLE_CALLS = 5000, IDLE_TRIES = 4 };
static const unsigned char secret[2] = {0xa5, 0x5a};
static const ucp_request_param_t plain;

static int to_peer[2], from_peer[2];
static side_t side;
static unsigned char own_secret[SECRET];

static void send_blob(int fd, const void *data, size_t length)
{
    CHECK_EQ(write(fd, &length, sizeof(length)), (ssize_t)sizeof(length));
    CHECK_EQ(write(fd, data, length), (ssize_t)length);
}

static size_t take_blob(int fd, void *to, size_t room)
{
    size_t length, got = 0;

    CHECK_EQ(read(fd, &length, sizeof(length)), (ssize_t)sizeof(length));
    CHECK(length <= room);
    while (got < length) {
        ssize_t n = read(fd, (char *)to + got, length - got);

        CHECK(n > 0);
        got += n;
    }
    return length;
}

/* Until the request has ended or `end` has passed; whether it has ended. */
static int finish_by(ucs_status_ptr_t request, double end)
{
    CHECK(!UCS_PTR_IS_ERR(request));
    while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucp_worker_progress(side.worker);
        if (now() > end) {
            return 0;
        }
    }
    if (UCS_PTR_IS_PTR(request)) {
        CHECK_OK(ucp_request_check_status(request));
        ucp_request_free(request);
    }
    return 1;
}

static void make_secret(unsigned char *at)
{
    size_t i;

    for (i = 0; i < SECRET; ++i) {
        at[i] = secret[i % 2];
    }
}

static void check_secret(const unsigned char *at)
{
    size_t i;

    for (i = 0; i < SECRET; ++i) {
        CHECK_EQ(at[i], secret[i % 2]);
    }
}

/* Nothing of anybody's secret is in the buffer. */
static void check_clean(const unsigned char *at, size_t length)
{
    size_t i, run = 0;

    for (i = 0; i < length; ++i) {
        run = (at[i] == secret[run % 2]) ? run + 1 : 0;
        CHECK(run < 8);
    }
}

static void answer_for_ever(void)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                   .length = SECRET, .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    char address[4096];
    uint64_t word = 0;
    ucp_mem_h region;
    size_t length;
    void *key;
    ucp_ep_h ep;

    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(ucp_mem_map(side.context, &params, &region));
    CHECK_OK(ucp_mem_query(region, &attr));
    make_secret(attr.address);
    CHECK_OK(ucp_rkey_pack(side.context, region, &key, &length));
    send_blob(from_peer[1], side.address, side.address_length);
    send_blob(from_peer[1], key, length);
    send_blob(from_peer[1], &attr.address, sizeof(attr.address));
    take_blob(to_peer[0], address, sizeof(address));
    ep = side_connect(&side, address);
    for (;;) {
        CHECK(finish_by(ucp_tag_recv_nbx(side.worker, &word, sizeof(word), TAG, UINT64_MAX, &plain), now() + 1e9));
        CHECK(finish_by(ucp_tag_send_nbx(ep, &word, sizeof(word), TAG, &plain), now() + 1e9));
        if (word % 256 == 0) {
            check_secret(attr.address);
        }
    }
}

static double processor_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

/* Messages go there and back for a while. */
static void exchange(ucp_ep_h ep)
{
    static uint64_t sent;
    double end = now() + WHILE_MS * 1e-3;

    do {
        uint64_t word = 0;

        ++sent;
        CHECK(finish_by(ucp_tag_send_nbx(ep, &sent, sizeof(sent), TAG, &plain), now() + 30));
        CHECK(finish_by(ucp_tag_recv_nbx(side.worker, &word, sizeof(word), TAG, UINT64_MAX, &plain), now() + 30));
        CHECK_EQ(word, sent);
    } while (now() < end);
    check_secret(own_secret);
}

/* Processor time of a call of progress that finds nothing, in nanoseconds: the least of some tries. */
static double idle_call(void)
{
    double least = 1e9;
    int try, i;

    for (try = 0; try < IDLE_TRIES; ++try) {
        double begun = processor_time();

        for (i = 0; i < IDLE_CALLS; ++i) {
            ucp_worker_progress(side.worker);
        }
        begun = (processor_time() - begun) / IDLE_CALLS;
        least = (begun < least) ? begun : least;
    }
    return least;
}

static void print_hex(const char *what, const void *data, size_t length)
{
    size_t i;

    printf("%s ", what);
    for (i = 0; i < length; ++i) {
        printf("%02x", ((const unsigned char *)data)[i]);
    }
    printf("\n");
}

static ucs_status_ptr_t receive;
static unsigned char received[ROOM];

/* A receive for attackers has ended, or a new one is to be posted: looks what it got. */
static void look_at_receive(int post)
{
    if (UCS_PTR_IS_PTR(receive)) {
        if (ucp_request_check_status(receive) == UCS_INPROGRESS) {
            return;
        }
        ucp_request_free(receive);
    }
    check_clean(received, ROOM);
    memset(received, 0, ROOM);
    /* What an attacker announced before may end it at once. */
    receive = post ? ucp_tag_recv_nbx(side.worker, received, ROOM, ATTACKERS, UINT64_MAX, &plain) : NULL;
}

static ucp_ep_h victim_of;
static ucs_status_ptr_t long_send;

static void ignore_error(void *arg, ucp_ep_h ep, ucs_status_t status)
{
}

/* An endpoint that handles errors. */
static ucp_ep_h connect_to(const void *address)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .address = address, .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler.cb = ignore_error};
    ucp_ep_h ep;

    CHECK_OK(ucp_ep_create(side.worker, &params, &ep));
    return ep;
}

static void send_long(const char *hex)
{
    static unsigned char address[LINE / 2], data[LONG_SEND];
    size_t i;

    for (i = 0; (2 * i + 1 < strlen(hex)) && (sscanf(hex + 2 * i, "%2hhx", &address[i]) == 1); ++i) {
    }
    victim_of = connect_to(address);
    long_send = ucp_tag_send_nbx(victim_of, data, LONG_SEND, TAG, &plain);
    CHECK(!UCS_PTR_IS_ERR(long_send));
}

static void end_long_send(void)
{
    ucp_request_param_t force = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};
    ucs_status_ptr_t close = ucp_ep_close_nbx(victim_of, &force);

    while (UCS_PTR_IS_PTR(close) && (ucp_request_check_status(close) == UCS_INPROGRESS)) {
        ucp_worker_progress(side.worker);
    }
    if (UCS_PTR_IS_PTR(close)) {
        ucp_request_free(close);
    }
    if (UCS_PTR_IS_PTR(long_send)) {
        CHECK(ucp_request_check_status(long_send) != UCS_INPROGRESS);
        ucp_request_free(long_send);
    }
}

int main(void)
{
    static char line[LINE], address[4096], key[4096];
    struct pollfd input = {.fd = 0, .events = POLLIN};
    size_t address_length, key_length;
    void *base;
    ucp_ep_h ep;

    CHECK(pipe(to_peer) == 0 && pipe(from_peer) == 0);
    role_start(answer_for_ever);
    make_secret(own_secret);
    side_open(&side, ALL_FEATURES | UCP_FEATURE_AM | UCP_FEATURE_STREAM, UCS_THREAD_MODE_SINGLE);
    address_length = take_blob(from_peer[0], address, sizeof(address));
    key_length = take_blob(from_peer[0], key, sizeof(key));
    take_blob(from_peer[0], &base, sizeof(base));
    ep = connect_to(address);
    send_blob(to_peer[1], side.address, side.address_length);
    exchange(ep);
    print_hex("address", side.address, side.address_length);
    print_hex("third", address, address_length);
    print_hex("key", key, key_length);
    printf("memory %lu %lu\n", (unsigned long)base, (unsigned long)own_secret);
    fflush(stdout);
    setvbuf(stdin, NULL, _IONBF, 0);
    for (;;) {
        ucp_worker_progress(side.worker);
        if (poll(&input, 1, 0) != 1) {
            continue;
        }
        if (fgets(line, sizeof(line), stdin) == NULL) {
            break;
        }
        switch (line[0]) {
        case 'r':
            look_at_receive(1);
            break;
        case 's':
            send_long(line + 2);
            break;
        case 'e':
            end_long_send();
            break;
        default:
            exchange(ep);
            look_at_receive(0);
            malloc_trim(0);
            printf("%d %ld %.0f\n", open_descriptors(), resident_kb(), idle_call());
            fflush(stdout);
        }
    }
    OK("attacked, and went on");
    return 0;
}
