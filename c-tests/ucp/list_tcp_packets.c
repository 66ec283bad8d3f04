/* A list of a few entries that is too long for a copied message leaves tcp as one packet, from where it is, also when
 * the socket takes only a part of it at first. A list of many entries goes as fragments, which arrive whole, too. */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=tcp UCX_RNDV_THRESH=inf */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "bytes.h"
#include "packets.h"
#include "peers.h"

enum { MOST = 24, LONGEST = 100000, WARM = 10, WINDOW = 200 };

static unsigned char out[WINDOW][LONGEST], in[WINDOW][LONGEST];

/* Entries of about the same length, of which the second is empty. */
static void cut(ucp_dt_iov_t *list, int count, unsigned char *bytes, size_t length)
{
    size_t at = 0;
    int i;

    for (i = 0; i < count; ++i) {
        size_t part = i == count - 1 ? length - at : i == 1 ? 0 : length / (size_t)count;

        list[i].buffer = bytes + at;
        list[i].length = part;
        at += part;
    }
}

/* Sends `window` messages before any is received. Returns the packets. */
static int exchange(two_t *two, int count, size_t length, int window, int seed)
{
    static ucp_dt_iov_t from[WINDOW][MOST], to[WINDOW][MOST];
    static ucs_status_ptr_t sends[WINDOW];
    const ucp_request_param_t lists = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = UCP_DATATYPE_IOV};
    int i;

    packets = 0;
    for (i = 0; i < window; ++i) {
        fill(out[i], length, seed + i);
        memset(in[i], 0, length);
        cut(from[i], count, out[i], length);
        cut(to[i], count, in[i], length);
        sends[i] = ucp_tag_send_nbx(two->ep[0], from[i], (size_t)count, 1, &lists);
    }
    for (i = 0; i < window; ++i) {
        CHECK_OK(two_wait(two, ucp_tag_recv_nbx(two->worker[1], to[i], (size_t)count, 1, UINT64_MAX, &lists)));
        CHECK_OK(two_wait(two, sends[i]));
        CHECK_PATTERN(in[i], length, seed + i);
    }
    return packets;
}

int main(void)
{
    static const struct {
        int count;
        size_t length;
        int is_one;
    } rows[] = {{2, 9000, 1}, {4, 8192, 1}, {4, 20000, 1}, {6, 30000, 1}, {MOST, 30000, 0}};
    two_t contexts[2], two = {.context = NULL};
    int i;

    for (i = 0; i < 2; ++i) {
        two_open_workers(&contexts[i], UCP_FEATURE_TAG, 0);
        two.worker[i] = contexts[i].worker[i];
    }
    for (i = 0; i < 2; ++i) {
        two.ep[i] = two_connect(&two, i, !i);
    }
    for (i = 0; i < WARM; ++i) {
        exchange(&two, 4, 8192, 1, i);
    }
    for (i = 0; i < (int)(sizeof(rows) / sizeof(rows[0])); ++i) {
        int sent = exchange(&two, rows[i].count, rows[i].length, 1, i);

        if (rows[i].is_one && (sent != 1)) {
            FAIL("%d entries, %zu bytes: %d packets", rows[i].count, rows[i].length, sent);
        }
        OK("%d entries, %zu bytes", rows[i].count, rows[i].length);
    }
    exchange(&two, 4, LONGEST, WINDOW, 3);
    OK("%d lists at once, more than the socket takes", WINDOW);
    for (i = 0; i < 2; ++i) {
        two_close_ep(&two, two.ep[i]);
    }
    for (i = 0; i < 2; ++i) {
        two_close_workers(&contexts[i]);
    }
    return 0;
}
