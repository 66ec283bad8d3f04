/* UCX_PRINT_TRANSPORT_TABLES prints the interfaces of a worker and the lanes of an endpoint, at any log level; with
 * UCX_SINGLE_NET_DEVICE there is one network device. */
/* headers: ours */
/* env: UCX_LOG_LEVEL=fatal UCX_WARN_UNUSED_ENV_VARS=n UCX_TLS=self,posix,tcp */
#include <ucp/api/ucp.h>

#include "peers.h"

/* What a worker with an endpoint to itself prints. */
static void printed(const char *tables, const char *single, char *text, size_t room)
{
    int ends[2], err = dup(2);
    side_t side;
    ssize_t length;

    setenv("UCX_PRINT_TRANSPORT_TABLES", tables, 1);
    setenv("UCX_SINGLE_NET_DEVICE", single, 1);
    CHECK_EQ(pipe(ends), 0);
    CHECK_EQ(dup2(ends[1], 2), 2);
    side_open(&side, UCP_FEATURE_TAG, UCS_THREAD_MODE_SINGLE);
    CHECK_OK(side_disconnect(&side, &side, side_connect(&side, side.address), 0));
    side_close(&side);
    CHECK_EQ(dup2(err, 2), 2);
    close(ends[1]);
    length = read(ends[0], text, room - 1);
    CHECK(length >= 0);
    text[length] = '\0';
    close(ends[0]);
    close(err);
}

static int occurrences(const char *text, const char *part)
{
    int count = 0;

    while ((text = strstr(text, part)) != NULL) {
        ++count;
        ++text;
    }
    return count;
}

int main(void)
{
    static char text[1 << 14];

    printed("off", "n", text, sizeof(text));
    CHECK_STR(text, "");
    printed("auto", "n", text, sizeof(text));
    CHECK_STR(text, "");
    printed("on", "n", text, sizeof(text));
    CHECK_EQ(occurrences(text, " posix/memory "), 1);
    CHECK(occurrences(text, " tcp/") >= 1);
    CHECK_EQ(occurrences(text, "cfg#0 tag("), 1);
    OK("tables");
    printed("on", "y", text, sizeof(text));
    CHECK_EQ(occurrences(text, " tcp/"), 1);
    OK("single device");
    return 0;
}
