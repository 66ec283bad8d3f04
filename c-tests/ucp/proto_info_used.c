/* UCX_PROTO_INFO=used: when a worker ends, the tables of the protocols that its operations have used are printed, with
 * the number of operations in each row; also in files of UCX_PROTO_INFO_DIR. Operations that were started before the
 * endpoint was connected count too. */
/* headers: ours */
/* timeout: 60 */
#define _GNU_SOURCE
#include <ucp/api/ucp.h>

#include "peers.h"

#include <dirent.h>

enum { SHORT = 5, LONG = 3, LENGTH = 4 << 20, WRITES = 4, READS = 2, ADDS = 6, ROOM = 1 << 14 };

static const ucp_request_param_t plain;
static char folder[] = "/tmp/proto_info.XXXXXX";

static ucs_status_t on_am(void *arg, const void *header, size_t header_length, void *data, size_t length,
                          const ucp_am_recv_param_t *param)
{
    ++*(int *)arg;
    return UCS_OK;
}

/* The counts of all rows of a table in a file. */
static unsigned long rows(const char *path)
{
    FILE *file = fopen(path, "r");
    unsigned long sum = 0, count;
    char line[ROOM];

    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file) != NULL) {
        sum += sscanf(line, " | %lu | %*[0-9.infKM] |", &count) == 1 ? count : 0;
    }
    fclose(file);
    return sum;
}

/* The sum of counts in tables whose file has the words in its name; all files when `words` is empty. */
static unsigned long counted(const char *words, int *files)
{
    DIR *entries = opendir(folder);
    unsigned long sum = 0;
    struct dirent *entry;
    char path[512];

    CHECK(entries != NULL);
    *files = 0;
    while ((entry = readdir(entries)) != NULL) {
        if (entry->d_name[0] != '.' && strstr(entry->d_name, words) != NULL) {
            snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
            sum += rows(path);
            ++*files;
        }
    }
    closedir(entries);
    return sum;
}

static void expect(const char *words, unsigned long operations)
{
    int files;

    CHECK_EQ(counted(words, &files), operations);
    CHECK_EQ(files, operations > 0);
}

static void remove_files(void)
{
    DIR *entries = opendir(folder);
    struct dirent *entry;

    CHECK(entries != NULL);
    while ((entry = readdir(entries)) != NULL) {
        if (entry->d_name[0] != '.') {
            CHECK_EQ(unlinkat(dirfd(entries), entry->d_name, 0), 0);
        }
    }
    closedir(entries);
}

static void run(const char *tls)
{
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH};
    ucp_am_handler_param_t handler = {.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                    UCP_AM_HANDLER_PARAM_FIELD_ARG};
    ucp_request_param_t word = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};
    char *out = calloc(1, LENGTH), *in = malloc(LENGTH);
    side_t from, to;
    ucs_status_ptr_t sent, received;
    int i, files, handled = 0;
    uint64_t memory = 0, one = 1;
    void *key_buffer;
    ucp_rkey_h key;
    ucp_mem_h memh;
    size_t length;
    ucp_ep_h ep;

    setenv("UCX_TLS", tls, 1);
    side_open(&from, ALL_FEATURES | UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    side_open(&to, ALL_FEATURES | UCP_FEATURE_AM, UCS_THREAD_MODE_SINGLE);
    ep = side_connect(&from, to.address);
    map.address = &memory;
    map.length = sizeof(memory);
    CHECK_OK(ucp_mem_map(to.context, &map, &memh));
    CHECK_OK(ucp_rkey_pack(to.context, memh, &key_buffer, &length));
    CHECK_OK(ucp_ep_rkey_unpack(ep, key_buffer, &key));
    ucp_rkey_buffer_release(key_buffer);
    handler.id = 1;
    handler.cb = on_am;
    handler.arg = &handled;
    CHECK_OK(ucp_worker_set_am_recv_handler(to.worker, &handler));

    for (i = 0; i < SHORT + LONG; ++i) {
        length = i < SHORT ? 8 : LENGTH;
        sent = ucp_tag_send_nbx(ep, out, length, 1, &plain);
        received = ucp_tag_recv_nbx(to.worker, in, length, 1, -1, &plain);
        CHECK_OK(side_wait(&from, &to, sent));
        CHECK_OK(side_wait(&from, &to, received));
    }
    for (i = 0; i < SHORT; ++i) {
        CHECK_OK(side_wait(&from, &to, ucp_am_send_nbx(ep, 1, NULL, 0, out, 8, &plain)));
    }
    DRIVE_UNTIL(&from, &to, handled == SHORT);
    for (i = 0; i < WRITES; ++i) {
        CHECK_OK(side_wait(&from, &to, ucp_put_nbx(ep, out, 8, (uintptr_t)&memory, key, &plain)));
    }
    CHECK_OK(side_wait(&from, &to, ucp_worker_flush_nbx(from.worker, &plain)));
    for (i = 0; i < READS; ++i) {
        CHECK_OK(side_wait(&from, &to, ucp_get_nbx(ep, in, 8, (uintptr_t)&memory, key, &plain)));
    }
    for (i = 0; i < ADDS; ++i) {
        CHECK_OK(side_wait(&from, &to,
                           ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &one, 1, (uintptr_t)&memory, key, &word)));
    }
    CHECK_OK(side_wait(&from, &to, ucp_worker_flush_nbx(from.worker, &plain)));
    CHECK_EQ(memory, ADDS);
    ucp_rkey_destroy(key);
    CHECK_OK(ucp_mem_unmap(to.context, memh));
    CHECK_OK(side_disconnect(&from, &to, ep, 0));

    counted("", &files);
    CHECK_EQ(files, 0);
    side_close(&to);
    counted("", &files);
    CHECK_EQ(files, 0);
    side_close(&from);
    expect("tagged_message_by_ucp_tag_send", SHORT + LONG);
    expect("active_message", SHORT);
    expect("memory_write", WRITES);
    expect("memory_read", READS);
    expect("atomic_operation", ADDS);
    expect("synchronous", 0);
    CHECK_EQ(counted("", &files), SHORT + LONG + SHORT + WRITES + READS + ADDS);
    remove_files();
    free(out);
    free(in);
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    setenv("UCX_PROTO_INFO", "used", 1);
    setenv("UCX_PROTO_INFO_DIR", folder, 1);
    setenv("UCX_LOG_FILE", "/dev/null", 1);
    run("posix");
    run("tcp");
    CHECK_EQ(rmdir(folder), 0);
    OK("proto_info_used");
    return 0;
}
