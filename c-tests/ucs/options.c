/* Options of the library that a client reads and changes by name, and sets of bits as text. */
/* headers: ours 1.22.0 */
/* oracle: 1.22.0 */
/* env: UCX_LOG_FILE=/dev/null UCX_LOG_LEVEL=error */
#include "check.h"

#include <ucs/config/global_opts.h>
#include <ucs/debug/debug.h>
#include <ucs/debug/log_def.h>

static void show(const char *name)
{
    char         value[64] = "untouched";
    ucs_status_t status    = ucs_global_opts_get_value(name, value, sizeof(value));

    printf("%s: %s, %s, %s\n", name, ucs_status_string(status), value,
           ucs_global_opts_is_read_only(name) ? "read only" : "may change");
}

static void set(const char *name, const char *value)
{
    ucs_status_t status = ucs_global_opts_set_value(name, value);

    printf("%s=%s: %s, level %d\n", name, value, ucs_status_string(status),
           (int)ucs_global_opts.log_component.log_level);
}

static void bits(unsigned first, const char *bytes, size_t count)
{
    uint8_t bitmap[16] = {0};

    memcpy(bitmap, bytes, (count + 7) / 8);
    printf("%s\n", ucs_log_bitmap_to_str(first, bitmap, count));
}

int main(void)
{
    show("LOG_LEVEL");
    show("HANDLE_ERRORS");
    show("MEMTYPE_CACHE");
    show("TOPO_PRIO");
    show("PROFILE_MODE");
    show("NO_SUCH_OPTION");
    show("UCX_LOG_LEVEL");
    set("LOG_LEVEL", "info");
    set("LOG_LEVEL", "no level");
    set("LOG_LEVEL", "warn");
    set("UCX_LOG_LEVEL", "info");
    set("HANDLE_ERRORS", "bt");
    set("NO_SUCH_OPTION", "1");
    set("LOG_FILE_ROTATE", "0");
    show("LOG_LEVEL");
    show("HANDLE_ERRORS");
    bits(10, "\x05\x81\xff", 20);
    bits(0, "\x03\x03\x03", 17);
    bits(0, "\xe0\x07", 16);
    bits(100, "\x07", 2);
    bits(100, "\x07", 1);
    bits(0, "\xff\xff\xff\xff\xff\xff\xff\xff", 64);
    ucs_debug_disable_signal(11);
    return 0;
}
