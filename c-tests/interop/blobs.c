/* Worker addresses, packed keys and exported handles that cross from one library to another.
 *
 *     blobs make DIR                    packs one of each kind that the transports allow, a file each
 *     blobs use FILE...                 gives them to the functions that unpack them
 *     blobs damage SEED COUNT FILE...   the same with COUNT damaged copies of each
 *
 * A file's name begins with its kind: address, key, handle. What is unpacked stands in front of a page that may not be
 * read. `use` writes two lines for each call: "?", file and function before it; file, function and status behind it.
 * The program is linked once and runs on every release: what not all of them have is looked up. tests/interop runs it. */
#include <ucp/api/ucp.h>

#include "check.h"

#include <dlfcn.h>
#include <sys/mman.h>

enum { MEMORY = 8192, MOST = 16384 };

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h self;

/* Functions that 1.13 lacks. */
static ucs_status_t (*memh_pack)(ucp_mem_h, const ucp_memh_pack_params_t *, void **, size_t *);
static ucs_status_t (*address_query)(ucp_address_t *, ucp_worker_address_attr_t *);

static void start(void)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64};
    ucp_worker_params_t worker_params = {.field_mask = 0};
    unsigned major, minor, release;

    ucp_get_version(&major, &minor, &release);
    memh_pack = dlsym(RTLD_DEFAULT, "ucp_memh_pack");
    address_query = dlsym(RTLD_DEFAULT, "ucp_worker_address_query");
    if (memh_pack != NULL) {
        params.features |= UCP_FEATURE_EXPORTED_MEMH;
    }
    CHECK_OK(ucp_init_version(major, minor, &params, NULL, &context));
    CHECK_OK(ucp_worker_create(context, &worker_params, &worker));
}

static void stop(void)
{
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

static void save(const char *dir, const char *name, const void *bytes, size_t length)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "wb");
    CHECK(file != NULL);
    CHECK(fwrite(bytes, 1, length, file) == length);
    CHECK(fclose(file) == 0);
}

static void pack_memory(const char *dir, const char *kind, ucp_mem_map_params_t *map)
{
    ucp_memh_pack_params_t params = {.field_mask = UCP_MEMH_PACK_PARAM_FIELD_FLAGS,
                                     .flags = UCP_MEMH_PACK_FLAG_EXPORT};
    ucp_memh_buffer_release_params_t release = {.field_mask = 0};
    void (*buffer_release)(void *, const ucp_memh_buffer_release_params_t *);
    char name[64];
    ucp_mem_h memh;
    void *buffer;
    size_t length;

    CHECK_OK(ucp_mem_map(context, map, &memh));
    CHECK_OK(ucp_rkey_pack(context, memh, &buffer, &length));
    snprintf(name, sizeof(name), "key-%s", kind);
    save(dir, name, buffer, length);
    ucp_rkey_buffer_release(buffer);
    if ((memh_pack != NULL) && (memh_pack(memh, &params, &buffer, &length) == UCS_OK)) {
        snprintf(name, sizeof(name), "handle-%s", kind);
        save(dir, name, buffer, length);
        buffer_release = dlsym(RTLD_DEFAULT, "ucp_memh_buffer_release");
        buffer_release(buffer, &release);
    }
    CHECK_OK(ucp_mem_unmap(context, memh));
}

static void make(const char *dir)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                                              UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                .length = MEMORY};
    ucp_address_t *address;
    size_t length;

    CHECK_OK(ucp_worker_get_address(worker, &address, &length));
    save(dir, "address", address, length);
    printf("address %zu\n", length);
    ucp_worker_release_address(worker, address);
    map.address = calloc(1, MEMORY);
    pack_memory(dir, "own", &map);
    free(map.address);
    map.address = NULL;
    map.flags = UCP_MEM_MAP_ALLOCATE;
    pack_memory(dir, "allocated", &map);
    map.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_ADDRESS;
    map.length = 0;
    pack_memory(dir, "empty", &map);
}

static ucs_status_t create_ep(void *blob)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                              .address = blob};
    ucp_ep_h ep;

    return ucp_ep_create(worker, &params, &ep);
}

static ucs_status_t query(void *blob)
{
    ucp_worker_address_attr_t attr = {.field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID};

    return address_query(blob, &attr);
}

static ucs_status_t unpack_key(void *blob)
{
    ucp_rkey_h rkey;
    ucs_status_t status = ucp_ep_rkey_unpack(self, blob, &rkey);

    if (status == UCS_OK) {
        ucp_rkey_destroy(rkey);
    }
    return status;
}

static ucs_status_t import(void *blob)
{
    ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_EXPORTED_MEMH_BUFFER,
                                   .exported_memh_buffer = blob};
    ucp_mem_h memh;
    ucs_status_t status = ucp_mem_map(context, &params, &memh);

    if (status == UCS_OK) {
        ucp_mem_unmap(context, memh);
    }
    return status;
}

typedef struct {
    const char *kind, *name;
    ucs_status_t (*call)(void *blob);
} use_t;

static const use_t uses[] = {{"address", "ucp_worker_address_query", query},
                             {"address", "ucp_ep_create", create_ep},
                             {"key", "ucp_ep_rkey_unpack", unpack_key},
                             {"handle", "ucp_mem_map", import}};
enum { USES = sizeof(uses) / sizeof(uses[0]) };

static int serves(const use_t *use, const char *file)
{
    const char *name = strrchr(file, '/');

    name = (name == NULL) ? file : name + 1;
    return (strncmp(name, use->kind, strlen(use->kind)) == 0) &&
           ((use->call != query) || (address_query != NULL)) && ((use->call != import) || (memh_pack != NULL));
}

static size_t load(const char *file, char *bytes)
{
    FILE *f = fopen(file, "rb");
    size_t length;

    CHECK(f != NULL);
    length = fread(bytes, 1, MOST, f);
    CHECK((length > 0) && (fclose(f) == 0));
    return length;
}

static void use_files(char *end, char **files, int count)
{
    char bytes[MOST];
    ucs_status_t status;
    size_t length;
    int i, k;

    for (i = 0; i < count; ++i) {
        length = load(files[i], bytes);
        memcpy(end - length, bytes, length);
        for (k = 0; k < USES; ++k) {
            if (!serves(&uses[k], files[i])) {
                continue;
            }
            printf("? %s %s\n", files[i], uses[k].name);
            fflush(stdout);
            status = uses[k].call(end - length);
            printf("%s %s %s\n", files[i], uses[k].name, ucs_status_string(status));
            fflush(stdout);
        }
    }
}

/* Flips bits, cuts, or writes noise from somewhere on: the length that is left. */
static size_t spoil(char *bytes, size_t length)
{
    size_t k, n, flips;

    switch (rand() % 4) {
    case 0:
        return 1 + rand() % length;
    case 1:
        n = rand() % length;
        for (k = n; k < length; ++k) {
            bytes[k] = rand();
        }
        return length;
    default:
        flips = 1 + rand() % 8;
        for (k = 0; k < flips; ++k) {
            bytes[(rand() % 2) ? rand() % length : rand() % (length < 24 ? length : 24)] ^= 1 << (rand() % 8);
        }
        return length;
    }
}

static void damage(unsigned seed, int rounds, char *end, char **files, int count)
{
    char good[MOST], bytes[MOST];
    size_t length, left;
    int i, k, round;
    long calls = 0, taken = 0;

    srand(seed);
    for (i = 0; i < count; ++i) {
        length = load(files[i], good);
        for (round = 0; round < rounds; ++round) {
            memcpy(bytes, good, length);
            left = spoil(bytes, length);
            for (k = 0; k < USES; ++k) {
                if (serves(&uses[k], files[i])) {
                    memcpy(end - left, bytes, left);
                    taken += (uses[k].call(end - left) == UCS_OK) && (uses[k].call != query);
                    ++calls;
                }
            }
        }
    }
    printf("%ld calls, %ld taken\n", calls, taken);
}

int main(int argc, char **argv)
{
    size_t page = sysconf(_SC_PAGESIZE);
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_address_t *address;
    size_t length;
    char *end;

    CHECK(argc >= 3);
    start();
    if (strcmp(argv[1], "make") == 0) {
        make(argv[2]);
        stop();
        return 0;
    }
    end = mmap(NULL, MOST + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(end != MAP_FAILED);
    end += MOST;
    CHECK(mprotect(end, page, PROT_NONE) == 0);
    CHECK_OK(ucp_worker_get_address(worker, &address, &length));
    params.address = address;
    CHECK_OK(ucp_ep_create(worker, &params, &self));
    if (strcmp(argv[1], "use") == 0) {
        use_files(end, argv + 2, argc - 2);
    } else {
        CHECK(argc > 4);
        damage(atoi(argv[2]), atoi(argv[3]), end, argv + 4, argc - 4);
    }
    return 0;
}
