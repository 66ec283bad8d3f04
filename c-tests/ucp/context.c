/* Library and context: version, configuration with and without a prefix, every parameter and attribute, and the
 * printed descriptions, which programs parse. */
/* oracle: 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=posix,self */
#include <ucp/api/ucp.h>

#include "peers.h"

static void library(void)
{
    ucp_lib_attr_t attr = {.field_mask = UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL};
    unsigned major, minor, release;
    char text[32];

    CHECK_OK(ucp_lib_query(&attr));
    CHECK_EQ(attr.max_thread_level, UCS_THREAD_MODE_MULTI);
    attr.field_mask = 0;
    attr.max_thread_level = 77;
    CHECK_OK(ucp_lib_query(&attr));
    CHECK_EQ(attr.max_thread_level, 77);
    ucp_get_version(&major, &minor, &release);
    snprintf(text, sizeof(text), "%u.%u.%u", major, minor, release);
    CHECK_STR(ucp_get_version_string(), text);
    OK("library %s", text);
}

/* Whether the printed configuration has the line. */
static int prints(const ucp_config_t *config, const char *title, unsigned flags, const char *wanted)
{
    char *text, *line;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    int found = 0;

    CHECK(stream != NULL);
    ucp_config_print(config, stream, title, flags);
    fclose(stream);
    for (line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        found |= !strcmp(line, wanted);
    }
    free(text);
    return found;
}

static void configuration(void)
{
    ucp_config_t *config;

    setenv("UCX_NUM_EPS", "11", 1);
    setenv("APP_UCX_NUM_PPN", "3", 1);
    setenv("UCX_NUM_PPN", "4", 1);
    CHECK_OK(ucp_config_read(NULL, NULL, &config));
    CHECK(prints(config, "t", UCS_CONFIG_PRINT_CONFIG, "UCX_NUM_EPS=11"));
    CHECK(prints(config, "t", UCS_CONFIG_PRINT_CONFIG, "UCX_NUM_PPN=4"));
    CHECK(prints(config, "t", UCS_CONFIG_PRINT_CONFIG, "UCX_TLS=posix,self"));
    CHECK(!prints(config, "t", UCS_CONFIG_PRINT_HEADER, "UCX_NUM_EPS=11"));
    CHECK(prints(config, "the title", UCS_CONFIG_PRINT_HEADER, "# the title"));
    CHECK_OK(ucp_config_modify(config, "NUM_EPS", "12"));
    CHECK_OK(ucp_config_modify(config, "NUM_PPN", "inf"));
    CHECK_OK(ucp_config_modify(config, "BCOPY_THRESH", "64k"));
    CHECK_STATUS(ucp_config_modify(config, "NUM_EPS", "banana"), UCS_ERR_INVALID_PARAM);
    CHECK(ucp_config_modify(config, "NO_SUCH", "1") != UCS_OK);
    CHECK(prints(config, "t", UCS_CONFIG_PRINT_CONFIG, "UCX_NUM_EPS=12"));
    CHECK(prints(config, "t", UCS_CONFIG_PRINT_CONFIG, "UCX_NUM_PPN=inf"));
    CHECK(prints(config, "t", UCS_CONFIG_PRINT_CONFIG, "UCX_BCOPY_THRESH=64K"));
    ucp_config_release(config);
    /* the program's own name goes before the general one */
    CHECK_OK(ucp_config_read("APP", NULL, &config));
    CHECK(prints(config, "t", UCS_CONFIG_PRINT_CONFIG, "UCX_NUM_EPS=11"));
    CHECK(prints(config, "t", UCS_CONFIG_PRINT_CONFIG, "UCX_NUM_PPN=3"));
    ucp_config_release(config);
    unsetenv("UCX_NUM_EPS");
    unsetenv("UCX_NUM_PPN");
    unsetenv("APP_UCX_NUM_PPN");
    OK("configuration");
}

static unsigned inits, cleanups;

static void init_request(void *request)
{
    ++inits;
    memset(request, 0x42, 100);
}

static void cleanup_request(void *request)
{
    ++cleanups;
    CHECK_EQ(((unsigned char *)request)[99], 0x42);
}

/* Every parameter of every release at once. */
static void parameters(int shared)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE |
                                         UCP_PARAM_FIELD_REQUEST_INIT | UCP_PARAM_FIELD_REQUEST_CLEANUP |
                                         UCP_PARAM_FIELD_TAG_SENDER_MASK | UCP_PARAM_FIELD_MT_WORKERS_SHARED |
                                         UCP_PARAM_FIELD_ESTIMATED_NUM_EPS | UCP_PARAM_FIELD_ESTIMATED_NUM_PPN |
                                         UCP_PARAM_FIELD_NAME,
                           .features = UCP_FEATURE_TAG | UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 |
                                       UCP_FEATURE_WAKEUP | UCP_FEATURE_STREAM | UCP_FEATURE_AM,
                           .request_size = 100,
                           .request_init = init_request,
                           .request_cleanup = cleanup_request,
                           .tag_sender_mask = 0xffff,
                           .mt_workers_shared = shared,
                           .estimated_num_eps = 1000,
                           .estimated_num_ppn = 7,
                           .name = "a name that is longer than the field that tells it"};
    ucp_worker_params_t worker_params = {.field_mask = 0};
    ucp_request_param_t plain = {.op_attr_mask = 0};
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_REQUEST_SIZE | UCP_ATTR_FIELD_THREAD_MODE |
                                             UCP_ATTR_FIELD_MEMORY_TYPES | UCP_ATTR_FIELD_NAME};
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    ucs_status_ptr_t request;
    size_t length;
    char byte;

#if UCP_API_MINOR >= 20
    params.field_mask |= UCP_PARAM_FIELD_NODE_LOCAL_ID;
    params.node_local_id = 5;
#endif
    CHECK_OK(ucp_init(&params, NULL, &context));
    CHECK_OK(ucp_context_query(context, &attr));
    CHECK((attr.request_size > 0) && (attr.request_size < 1024));
    CHECK_EQ(attr.thread_mode, shared ? UCS_THREAD_MODE_MULTI : UCS_THREAD_MODE_SINGLE);
    CHECK(attr.memory_types & UCS_BIT(UCS_MEMORY_TYPE_HOST));
    printf("name '%s'\n", attr.name);
    attr.field_mask = 0;
    attr.request_size = 1;
    CHECK_OK(ucp_context_query(context, &attr));
    CHECK_EQ(attr.request_size, 1);
    /* hints change no results: a worker to itself goes on working, with requests of the wanted size */
    CHECK_OK(ucp_worker_create(context, &worker_params, &worker));
    CHECK_OK(ucp_worker_get_address(worker, &address, &length));
    ucp_worker_release_address(worker, address);
    request = ucp_tag_recv_nbx(worker, &byte, 1, 1, -1, &plain);
    CHECK(UCS_PTR_IS_PTR(request));
    CHECK_EQ(((unsigned char *)request)[99], 0x42);
    ucp_request_cancel(worker, request);
    ucp_request_free(request);
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
    CHECK(inits > 0);
    CHECK_EQ(inits, cleanups);
    OK("parameters, %s", shared ? "workers of several threads" : "one thread");
}


static void counters(void)
{
#if UCP_API_MINOR >= 20
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_context_attr_t attr = {.field_mask = UCP_ATTR_FIELD_DEVICE_COUNTER_SIZE};
    ucp_context_h context;

    CHECK_OK(ucp_init(&params, NULL, &context));
    CHECK_OK(ucp_context_query(context, &attr));
    CHECK_EQ(attr.device_counter_size, 8);
    ucp_cleanup(context);
#endif
}

/* Prints a description, without the lines that tell sizes and addresses. */
static void show(char *text)
{
    char *line;

    for (line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *at = strstr(line, " at address ");

        if (at != NULL) {
            CHECK(strstr(at, " with posix, pagesize: ") != NULL);
            *at = 0;
        } else if (strstr(line, "rkey size: ") || strstr(line, " bytes") || strstr(line, "# UCP worker '")) {
            *strpbrk(line, "0123456789'") = 0;
        }
        puts(line);
    }
    free(text);
}

static void descriptions(void)
{
    static const char *specs[] = {"1m", "64k,host"};
    size_t length, i;
    side_t side;
    char *text;
    FILE *stream;

    side_open(&side, ALL_FEATURES, UCS_THREAD_MODE_SINGLE);
    stream = open_memstream(&text, &length);
    ucp_context_print_info(side.context, stream);
    ucp_worker_print_info(side.worker, stream);
    for (i = 0; i < sizeof(specs) / sizeof(specs[0]); ++i) {
        ucp_mem_print_info(specs[i], side.context, stream);
    }
    fclose(stream);
    show(text);
    side_close(&side);
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    stream = open_memstream(&text, &length);
    ucp_worker_print_info(side.worker, stream);
    fclose(stream);
    show(text);
    side_close(&side);
    OK("descriptions");
}

int main(void)
{
    library();
    configuration();
    parameters(0);
    parameters(1);
    counters();
    descriptions();
    return 0;
}
