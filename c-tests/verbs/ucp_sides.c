/* Two sides that choose devices by themselves: each has the devices and the place on its node that the arguments say, so that
 * their message lanes lead through different ones, and long messages, puts and gets go by devices all the same, both ways.
 * Two contexts of one process, which the stand-in for libibverbs connects; run by tests/verbs with UCX_TLS=rc_verbs and three
 * devices.
 *
 *   ucp_sides DEVICES PLACE DEVICES PLACE LEAST [LATE]
 *
 * Of four megabytes LEAST devices move a tenth each. LATE: the second side connects when messages of the first have come. */
#include "peers.h"
#include "stand_in.h"

#include <stdlib.h>
#include <string.h>

enum { LENGTH = 4 << 20, DEVICES = 3 };

static const ucp_request_param_t plain;
static side_t sides[2];
static ucp_ep_h eps[2];
static ucp_rkey_h keys[2];
static unsigned char *buffers[2];
static uint64_t seed;
static int least;

static void open_side(side_t *side, const char *devices, const char *place)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = ALL_FEATURES};
    ucp_worker_params_t none = {.field_mask = 0};
    ucp_config_t *config;

    CHECK_OK(ucp_config_read(NULL, NULL, &config));
    CHECK_OK(ucp_config_modify(config, "NET_DEVICES", devices));
    CHECK_OK(ucp_config_modify(config, "NODE_LOCAL_ID", place));
    CHECK_OK(ucp_init(&params, config, &side->context));
    ucp_config_release(config);
    CHECK_OK(ucp_worker_create(side->context, &none, &side->worker));
    CHECK_OK(ucp_worker_get_address(side->worker, &side->address, &side->address_length));
}

static void rest(void)
{
    double until = now() + 0.05;

    while (now() < until) {
        ucp_worker_progress(sides[0].worker);
        ucp_worker_progress(sides[1].worker);
    }
}

static void send_from(int from)
{
    ucs_status_ptr_t sent = ucp_tag_send_nbx(eps[from], buffers[from], LENGTH, 1, &plain);
    ucs_status_ptr_t received = ucp_tag_recv_nbx(sides[!from].worker, buffers[!from], LENGTH, 1, -1, &plain);

    CHECK_OK(side_wait(&sides[0], &sides[1], received));
    CHECK_OK(side_wait(&sides[0], &sides[1], sent));
}

static void put_from(int from)
{
    uint64_t remote = (uintptr_t)buffers[!from];

    CHECK_OK(side_wait(&sides[0], &sides[1], ucp_put_nbx(eps[from], buffers[from], LENGTH, remote, keys[from], &plain)));
    CHECK_OK(side_wait(&sides[0], &sides[1], ucp_ep_flush_nbx(eps[from], &plain)));
}

static void get_from(int from)
{
    uint64_t remote = (uintptr_t)buffers[from];

    CHECK_OK(side_wait(&sides[0], &sides[1], ucp_get_nbx(eps[!from], buffers[!from], LENGTH, remote, keys[!from], &plain)));
}

static const struct {
    const char *name;
    void (*move)(int from);
} ways[] = {{"rendezvous", send_from}, {"put", put_from}, {"get", get_from}};

static void move_all(const char *which)
{
    unsigned way, from;

    for (way = 0; way < 3; ++way) {
        for (from = 0; from < 2; ++from) {
            static const char *const names[] = {"data0", "data1", "data2"};
            long before[DEVICES], requests = *setting("sent");
            int i, devices = 0;

            for (i = 0; i < DEVICES; ++i) {
                before[i] = *setting(names[i]);
            }
            fill(buffers[from], LENGTH, ++seed);
            memset(buffers[!from], 0, LENGTH);
            ways[way].move(from);
            CHECK_EQ(wrong_at(buffers[!from], LENGTH, seed), LENGTH);
            requests = *setting("sent") - requests;
            for (i = 0; i < DEVICES; ++i) {
                before[i] = *setting(names[i]) - before[i];
                devices += before[i] > LENGTH / 10;
            }
            rest();
            if (which == NULL) {
                continue;
            }
            /* In fragments it would be hundreds. */
            if ((requests > 100) || (devices < (way == 0 ? least : 1))) {
                FAIL("%s from side %u, %s: %ld requests, by the devices %ld, %ld and %ld bytes", ways[way].name, from, which,
                     requests, before[0], before[1], before[2]);
            }
        }
    }
}

int main(int argc, char **argv)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .length = LENGTH};
    ucp_mem_h mapped[2];
    size_t size;
    void *blob;
    int i;

    CHECK((argc == 6) || (argc == 7));
    least = atoi(argv[5]);
    for (i = 0; i < 2; ++i) {
        open_side(&sides[i], argv[1 + 2 * i], argv[2 + 2 * i]);
        CHECK((buffers[i] = malloc(LENGTH)) != NULL);
    }
    for (i = 0; i < 2; ++i) {
        eps[i] = side_connect(&sides[i], sides[!i].address);
        if ((argc == 7) && (i == 0)) {
            send_from(0);
        }
        params.address = buffers[!i];
        CHECK_OK(ucp_mem_map(sides[!i].context, &params, &mapped[!i]));
        CHECK_OK(ucp_rkey_pack(sides[!i].context, mapped[!i], &blob, &size));
        CHECK_OK(ucp_ep_rkey_unpack(eps[i], blob, &keys[i]));
        ucp_rkey_buffer_release(blob);
    }
    /* Connections are made, and either side has heard of the other's lanes. */
    move_all(NULL);
    move_all("first");
    move_all("second");
    for (i = 0; i < 2; ++i) {
        ucp_rkey_destroy(keys[i]);
        CHECK_OK(ucp_mem_unmap(sides[i].context, mapped[i]));
    }
    CHECK_OK(side_disconnect(&sides[0], &sides[1], eps[0], 0));
    CHECK_OK(side_disconnect(&sides[1], &sides[0], eps[1], 0));
    side_close(&sides[0]);
    side_close(&sides[1]);
    OK("%s at %s, %s at %s", argv[1], argv[2], argv[3], argv[4]);
    return 0;
}
