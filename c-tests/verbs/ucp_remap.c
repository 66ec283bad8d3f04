/* Registrations that are kept, on a device that pins pages: memory that was unmapped and mapped again is registered
 * anew. The device would read the pages that were there before, or write them. Two contexts of one process, by rc_verbs.
 * The kernel's count of registrations tells that they are kept in between. Run by tests/rdma. */
#define _GNU_SOURCE
#include "peers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LENGTH = 1 << 20, ROUNDS = 5, KINDS = 4 };

static side_t origin, owner;
static ucp_ep_h ep;
static unsigned char *from, *to;
static uint64_t seed;

/* The regions that the kernel has registered with all devices. */
static int regions(void)
{
    FILE *output = popen("rdma resource show", "r");
    int count = 0, found = 0, mr;
    char word[100];

    CHECK(output != NULL);
    while (fscanf(output, "%99s", word) == 1) {
        if (!strcmp(word, "mr") && (fscanf(output, "%d", &mr) == 1)) {
            count += mr;
            ++found;
        }
    }
    CHECK_EQ(pclose(output), 0);
    CHECK(found > 0);
    return count;
}

static void transfer(void)
{
    ucp_request_param_t none = {.op_attr_mask = 0};
    ucs_status_ptr_t sent, received;

    fill(from, LENGTH, ++seed);
    memset(to, 0, LENGTH);
    sent     = ucp_tag_send_nbx(ep, from, LENGTH, 1, &none);
    received = ucp_tag_recv_nbx(owner.worker, to, LENGTH, 1, -1, &none);
    CHECK_OK(side_wait(&origin, &owner, sent));
    CHECK_OK(side_wait(&origin, &owner, received));
    CHECK_PATTERN(to, LENGTH, seed);
}

static unsigned char *map_at(void *address)
{
    void *at = mmap(address, LENGTH, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | (address == NULL ? 0 : MAP_FIXED), -1, 0);

    CHECK(at != MAP_FAILED);
    return at;
}

/* Other pages behind the same addresses. */
static void change(unsigned char *buffer, int kind)
{
    void *away;

    switch (kind) {
    case 0:
        CHECK(munmap(buffer, LENGTH) == 0);
        break;
    case 1: /* mapped over */
        break;
    case 2:
        CHECK(madvise(buffer, LENGTH, MADV_DONTNEED) == 0);
        return;
    case 3:
        away = mremap(buffer, LENGTH, LENGTH, MREMAP_MAYMOVE | MREMAP_FIXED, map_at(NULL));
        CHECK(away != MAP_FAILED);
        CHECK(munmap(away, LENGTH) == 0);
        break;
    }
    CHECK(map_at(buffer) == buffer);
}

int main(void)
{
    ucp_request_param_t plain = {.op_attr_mask = 0};
    int before, first, round, kind;

    side_open(&origin, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&owner, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    ep   = side_connect(&origin, owner.address);
    from = map_at(NULL);
    to   = map_at(NULL);
    /* Besides its buffers, the first transfer registers what all transfers use. */
    transfer();
    before = regions();
    from   = map_at(NULL);
    to     = map_at(NULL);
    transfer();
    first = regions();
    CHECK_EQ(first, before + 2);
    for (round = 0; round < ROUNDS; ++round) {
        transfer();
        CHECK_EQ(regions(), first);
    }
    OK("registrations are kept");
    for (kind = 0; kind < KINDS; ++kind) {
        for (round = 0; round < ROUNDS; ++round) {
            change(from, kind);
            transfer();
            change(to, kind);
            transfer();
            change(from, kind);
            change(to, kind);
            transfer();
        }
        /* Of the registrations of pages that are gone the last ones may wait to be released. */
        CHECK(regions() <= first + 2);
        OK("other pages, way %d", kind);
    }
    CHECK_OK(side_wait(&origin, &owner, ucp_ep_close_nbx(ep, &plain)));
    side_close(&origin);
    side_close(&owner);
    return 0;
}
