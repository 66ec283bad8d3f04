/* Remote keys with changed fields and a right checksum, used by an honest requester: of another context's memory and of
 * its own, over several transports. Accesses end with a status; memory that was not exported, or not for that kind of
 * access, stays as it is; nobody crashes. Ranges and protections of regions are drawn too. Without cma: there the kernel
 * gives a process all memory of a peer of the same user, which is this very process here. */
/* env: UCX_NET_DEVICES=lo UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n */
/* timeout: 120 */
#include "canary.h"
#include "torture.h"
#include "peers.h"

enum { ROOM = 1 << 16, HEAD = 10, BODY = HEAD + 8, MOST_KEY = 256 };

static const ucp_request_param_t plain;
static side_t owner, peer;
static unsigned char *guarded; /* canaries around the memory that is exported */
static unsigned char before[ROOM];

/* CRC-32C, before the bits are turned at its end. */
static uint32_t crc32c(uint32_t crc, const unsigned char *bytes, size_t length)
{
    int bit;

    while (length--) {
        crc ^= *bytes++;
        for (bit = 0; bit < 8; ++bit) {
            crc = (crc & 1) ? (crc >> 1) ^ 0x82f63b78u : crc >> 1;
        }
    }
    return crc;
}

/* What a key of src/wire/rkey.rs says. */
typedef struct {
    uint64_t words[4]; /* context, region, address, length; of the last two only the bytes up to the highest that is not 0 */
    unsigned char kind; /* memory type and uses */
    unsigned char rest[MOST_KEY]; /* number of domains, their keys, and the end of the envelope */
    size_t rest_length;
} fields_t;

static unsigned bytes_of(uint64_t word)
{
    unsigned bytes = 0;

    for (; word != 0; word >>= 8) {
        ++bytes;
    }
    return bytes;
}

static void decode(fields_t *fields, const unsigned char *key, size_t length)
{
    const unsigned char *at = key + BODY;
    unsigned char sizes = at[16];

    memset(fields, 0, sizeof(*fields));
    memcpy(fields->words, at, 16);
    at += 17;
    memcpy(&fields->words[2], at, sizes & 15);
    at += sizes & 15;
    memcpy(&fields->words[3], at, sizes >> 4);
    at += sizes >> 4;
    fields->kind = *at++;
    fields->rest_length = key + length - at;
    CHECK(fields->rest_length > 1);
    memcpy(fields->rest, at, fields->rest_length);
}

/* Returns the length. */
static size_t encode(unsigned char *key, const fields_t *fields)
{
    unsigned address = bytes_of(fields->words[2]), length = bytes_of(fields->words[3]);
    unsigned char *at = key + BODY;

    memcpy(at, fields->words, 16);
    at[16] = (unsigned char)(address | length << 4);
    memcpy(at + 17, &fields->words[2], address);
    memcpy(at + 17 + address, &fields->words[3], length);
    at += 17 + address + length;
    *at++ = fields->kind;
    memcpy(at, fields->rest, fields->rest_length);
    return at + fields->rest_length - key;
}

/* Length and sum, which make a changed key look whole. */
static void seal(unsigned char *key, size_t length)
{
    unsigned char low = (unsigned char)length, high = (unsigned char)(length >> 8);
    uint32_t sum;

    key[HEAD - 1] = (unsigned char)(length - HEAD - 1);
    key[HEAD] = low;
    key[HEAD + 1] = high;
    key[HEAD + 2] = (unsigned char)(0xfc ^ low ^ (high << 3 | high >> 5));
    sum = ~crc32c(crc32c(UINT32_MAX, key, BODY - sizeof(sum)), key + BODY, length - BODY);
    memcpy(key + BODY - sizeof(sum), &sum, sizeof(sum));
}

/* Changes some of context, region, address, length, memory type and uses, and of the domains' keys behind them. */
static void forge(unsigned char *key, size_t length, uint64_t base)
{
    static const uint64_t lengths[] = {1, 4096, ROOM, ROOM + 1, 1ull << 32, 1ull << 63, UINT64_MAX};
    unsigned changes = 1 + number() % 3, flips = 0;
    fields_t fields;

    decode(&fields, key, length);
    while (changes--) {
        switch (number() % 6) {
        case 0:
            fields.words[2] = base - number() % (2 * CANARY);
            break;
        case 1:
            fields.words[3] = lengths[number() % (sizeof(lengths) / sizeof(lengths[0]))];
            break;
        case 2:
            fields.words[number() % 4] = number();
            break;
        case 3:
            fields.kind = (unsigned char)number();
            break;
        case 4:
            ++flips;
            break;
        default:
            fields.rest[number() % fields.rest_length] ^= (unsigned char)(1 << number() % 8);
        }
    }
    length = encode(key, &fields);
    while (flips--) {
        key[BODY + number() % (length - BODY)] ^= (unsigned char)(1 << number() % 8);
    }
    seal(key, length);
}

static ucs_status_t wait_for(ucs_status_ptr_t request)
{
    return side_wait(&owner, &peer, request);
}

/* Accesses through the key, at some address in or around the memory. */
static void use(ucp_ep_h ep, ucp_rkey_h key, uint64_t base, int writes)
{
    static unsigned char local[2 * ROOM];
    ucp_request_param_t fetch = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                 .datatype = ucp_dt_make_contig(8), .reply_buffer = local};
    uint64_t at = base + number() % (ROOM + 2 * CANARY) - CANARY;
    size_t length = number() % ((number() % 4) ? 64 : 2 * ROOM);
    uint64_t one = 1;
    void *mapped;

    if (!writes) {
        wait_for(ucp_get_nbx(ep, local, length, at, key, &plain));
        return;
    }
    switch (number() % 3) {
    case 0:
        wait_for(ucp_put_nbx(ep, local, length, at, key, &plain));
        break;
    case 1:
        wait_for(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &one, 1, at & ~7ull, key, &fetch));
        break;
    default:
        if (ucp_rkey_ptr(key, at, &mapped) == UCS_OK) {
            CHECK(mapped != NULL);
        }
    }
    wait_for(ucp_ep_flush_nbx(ep, &plain));
}

/* Ranges that cannot be are refused. */
static void map_nonsense(void)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH};
    ucp_mem_h region;

    params.length = UINT64_MAX - number() % 4096;
    params.address = (void *)(uintptr_t)(4096 + number() % UINT32_MAX);
    CHECK_EQ(ucp_mem_map(owner.context, &params, &region), UCS_ERR_INVALID_PARAM);
    params.length = 1 + number() % ROOM;
    params.address = (void *)(uintptr_t)(UINT64_MAX - number() % params.length);
    if ((uintptr_t)params.address + params.length != 0) {
        CHECK_EQ(ucp_mem_map(owner.context, &params, &region), UCS_ERR_INVALID_PARAM);
    }
}

static void once(ucp_ep_h ep)
{
    int readonly = number() % 3 == 0, allocated = !readonly && (number() % 2);
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = guarded + CANARY, .length = ROOM};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    unsigned char key[2 * MOST_KEY];
    unsigned char *memory;
    int tries, writable = !readonly;
    ucp_mem_h region;
    size_t length;
    void *packed;

    if (allocated) {
        params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
        params.flags = UCP_MEM_MAP_ALLOCATE;
    } else if (number() % 3 == 0) {
        params.field_mask |= UCP_MEM_MAP_PARAM_FIELD_PROT;
        params.prot = UCP_MEM_MAP_PROT_LOCAL_READ | UCP_MEM_MAP_PROT_LOCAL_WRITE | UCP_MEM_MAP_PROT_REMOTE_READ;
        writable = 0;
    }
    if (readonly) {
        CHECK_EQ(mprotect(guarded + CANARY, ROOM, PROT_READ), 0);
    }
    CHECK_OK(ucp_mem_map(owner.context, &params, &region));
    CHECK_OK(ucp_mem_query(region, &attr));
    memory = attr.address;
    CHECK_OK(ucp_rkey_pack(owner.context, region, &packed, &length));
    CHECK(length <= MOST_KEY);
    memcpy(before, memory, ROOM);
    for (tries = 0; tries < 8; ++tries) {
        ucp_rkey_h rkey;

        memcpy(key, packed, length);
        if (number() % 8) {
            forge(key, length, (uint64_t)memory);
        }
        if (ucp_ep_rkey_unpack(ep, key, &rkey) == UCS_OK) {
            use(ep, rkey, (uint64_t)memory, number() % 2);
            ucp_rkey_destroy(rkey);
        }
        check_canaries(guarded, ROOM);
        if (!writable) {
            CHECK(memcmp(memory, before, ROOM) == 0);
        }
    }
    ucp_rkey_buffer_release(packed);
    CHECK_OK(ucp_mem_unmap(owner.context, region));
    if (readonly) {
        CHECK_EQ(mprotect(guarded + CANARY, ROOM, PROT_READ | PROT_WRITE), 0);
    }
}

static void run(const char *tls, uint64_t count, uint64_t *unpacked)
{
    uint64_t i;

    setenv("UCX_TLS", tls, 1);
    side_open(&owner, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    side_open(&peer, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    for (i = 0; i < count; ++i) {
        /* Another context's endpoint uses the key, or one of the owner's: then a key of its own comes back to it. */
        int own = number() % 2;
        ucp_ep_h ep = own ? side_connect(&owner, peer.address) : side_connect(&peer, owner.address);

        once(ep);
        map_nonsense();
        /* One whose transport was refused an access has failed. */
        side_disconnect(&owner, &peer, ep, UCP_EP_CLOSE_FLAG_FORCE);
    }
    *unpacked += 8 * count;
    side_close(&peer);
    side_close(&owner);
}

int main(void)
{
    static const char *const transports[] = {"tcp", "posix", "sysv", "posix,tcp", "self,posix,sysv,tcp"};
    uint64_t count = torture_count(500), keys = 0;
    unsigned i;

    torture_seed(1);
    guarded = with_canaries(ROOM);
    for (i = 0; i < sizeof(transports) / sizeof(transports[0]); ++i) {
        run(transports[i], count / 5 + 1, &keys);
    }
    canaries_free(guarded, ROOM);
    FIGURE("%lu keys, each refused or of no more use than the right one", keys);
    OK("keys");
    return 0;
}
