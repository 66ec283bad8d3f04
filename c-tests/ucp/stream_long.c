/* A stream of long and short messages over sockets, into receives that are longer, shorter, cut across them, posted
 * late, scattered, or canceled in the middle of one: every byte arrives once and in order. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=tcp */
/* oracle: 1.22.0 */
#include <ucp/api/ucp.h>

#include "peers.h"

enum { TOTAL = 24 << 20, LONGEST = 700 << 10, GUARD = 64, UNIT = 8, PATIENCE = 20 };

static two_t two;
static uint8_t *source, *target;
static uint64_t rng_state;
static size_t sent, got;
static ucs_status_ptr_t sending;
/* The sender stands still until the receiver has all that is on its way, and takes back what still waits. */
static int drought;

/* How a receive ended. */
typedef struct {
    int over;
    ucs_status_t status;
    size_t length;
} end_t;

static unsigned roll(unsigned sides)
{
    rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
    return (rng_state >> 33) % sides;
}

/* Mostly long; now and then a few bytes, or so many that they just fill messages of the transport. */
static size_t some_length(size_t left)
{
    static const size_t few[] = {1, UNIT, 15, 16, 17, 300, 5000, 65536, 65536 - 16, 131072 + 1};
    size_t length = roll(3) ? 20000 + roll(LONGEST - 20000) : few[roll(10)];

    return length < left ? length : left;
}

/* The next message, as soon as the one before is out. */
static void send_on(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    size_t length;

    if (UCS_PTR_IS_PTR(sending)) {
        if (ucp_request_check_status(sending) == UCS_INPROGRESS) {
            return;
        }
        CHECK_OK(ucp_request_check_status(sending));
        ucp_request_free(sending);
        sending = NULL;
    }
    if (sent < TOTAL) {
        length = some_length(TOTAL - sent);
        sending = ucp_stream_send_nbx(two.ep[0], source + sent, length, &plain);
        CHECK(!UCS_PTR_IS_ERR(sending));
        sent += length;
    }
}

static void on_received(void *request, ucs_status_t status, size_t length, void *user_data)
{
    end_t *end = user_data;

    end->over = 1;
    end->status = status;
    end->length = length;
}

/* Receives once, of elements of one byte or more, perhaps scattered, perhaps taken back. */
static void receive(void)
{
    size_t left = TOTAL - got, most = some_length(left), length = SIZE_MAX;
    int whole = roll(2), elements = roll(4) == 0 && left % UNIT == 0;
    int back = 0, scattered = roll(6) == 0 && most > 3;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_FLAGS};
    ucp_dt_iov_t parts[2];
    end_t ended = {0, UCS_OK, 0};
    void *request, *buffer = target + got;
    size_t count = most, i;
    time_t patient = time(NULL) + 60;

    param.cb.recv_stream = on_received;
    param.user_data = &ended;
    param.datatype = ucp_dt_make_contig(1);
    param.flags = whole ? UCP_STREAM_RECV_FLAG_WAITALL : 0;
    if (elements) {
        param.datatype = ucp_dt_make_contig(UNIT);
        count = (most + UNIT - 1) / UNIT;
        most = count * UNIT;
    } else if (scattered) {
        parts[0].buffer = target + got;
        parts[0].length = most / 3;
        parts[1].buffer = target + got + most / 3;
        parts[1].length = most - most / 3;
        param.datatype = UCP_DATATYPE_IOV;
        buffer = parts;
        count = 2;
    }
    request = ucp_stream_recv_nbx(two.ep[1], buffer, count, &length, &param);
    CHECK(!UCS_PTR_IS_ERR(request));
    if (request == NULL) {
        ended.over = 1;
        ended.length = length;
    }
    for (i = 0; !ended.over; ++i) {
        if (!drought) {
            send_on();
            ucp_worker_progress(two.worker[0]);
        }
        ucp_worker_progress(two.worker[1]);
        if (drought && i == PATIENCE) {
            ucp_request_cancel(two.worker[1], request);
            drought = 0;
            back = 1;
        }
        CHECK(time(NULL) < patient);
    }
    CHECK(ended.length <= most);
    if (ended.status == UCS_ERR_CANCELED) {
        /* One that ends with what there is cannot be taken back when there is something. */
        CHECK(back && (whole || ended.length == 0));
    } else {
        CHECK_OK(ended.status);
        CHECK(!whole || ended.length == most);
        CHECK(!elements || ended.length % UNIT == 0);
    }
    for (i = 0; i < GUARD; ++i) {
        CHECK_EQ(target[got + most + i], 0xee);
    }
    if (request != NULL) {
        ucp_request_free(request);
    }
    CHECK(memcmp(target + got, source + got, ended.length) == 0);
    got += ended.length;
    /* What a receive that was taken back has touched, and what behind it has to stay untouched. */
    memset(target + got, 0xee, most - ended.length);
}

int main(void)
{
    int round, i;

    source = malloc(TOTAL);
    target = malloc(TOTAL + GUARD);
    for (i = 0; i < TOTAL; ++i) {
        source[i] = i * 2654435761u >> 24;
    }
    for (round = 0; round < 8; ++round) {
        two_open(&two, UCP_FEATURE_STREAM, 1);
        memset(target, 0xee, TOTAL + GUARD);
        rng_state = round + 1;
        sent = got = 0;
        while (got < TOTAL) {
            receive();
            drought |= roll(4) == 0;
            for (i = drought || roll(3) ? 0 : roll(30); i > 0; --i) {
                send_on();
                two_progress(&two);
            }
        }
        CHECK_EQ(sent, TOTAL);
        CHECK_OK(two_wait(&two, sending));
        sending = NULL;
        two_close(&two);
    }
    OK("every byte came once and in its order");
    free(source);
    free(target);
    return 0;
}
