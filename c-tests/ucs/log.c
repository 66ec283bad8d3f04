/* Messages of clients: columns, handlers and their order, long messages, indentation, and a file that
 * rotates. Upstream writes to stdout, we to stderr; both are caught. */
/* oracle: 1.13.1 1.22.0 */
#define _GNU_SOURCE
#include <ucs/config/global_opts.h>
#include <ucs/debug/log_def.h>

#include <stdarg.h>
#include <sys/mman.h>

#include "check.h"

static ucs_log_component_config_t component = {UCS_LOG_LEVEL_DEBUG, "MYCOMP", "*"};
static int caught, saved_out, saved_err;

/* Sends stdout and stderr to a file until `show`. */
static void catch_output(void)
{
    fflush(NULL);
    caught    = memfd_create("caught", 0);
    saved_out = dup(1);
    saved_err = dup(2);
    CHECK((caught >= 0) && (saved_out >= 0) && (saved_err >= 0));
    dup2(caught, 1);
    dup2(caught, 2);
}

/* Prints what was caught, without time, host, process and thread. */
static void show(void)
{
    static char text[100000];
    char *line;
    ssize_t length;

    fflush(NULL);
    dup2(saved_out, 1);
    dup2(saved_err, 2);
    length = pread(caught, text, sizeof(text) - 1, 0);
    CHECK(length >= 0);
    text[length] = '\0';
    for (line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *origin = strchr(line, ']');
        CHECK((line[0] == '[') && (origin != NULL));
        origin = strchr(origin + 1, ']');
        CHECK(origin != NULL);
        printf("%s\n", origin + 1);
    }
    close(caught);
    close(saved_out);
    close(saved_err);
}

#define LOG(level, conf, ...) ucs_log_dispatch("/some/where/file.c", 12, "function", level, conf, __VA_ARGS__)

static unsigned calls;

static ucs_log_func_rc_t first(const char *file, unsigned line, const char *function, ucs_log_level_t level,
                               const ucs_log_component_config_t *conf, const char *format, va_list ap)
{
    char text[64];

    vsnprintf(text, sizeof(text), format, ap);
    fprintf(stderr, "[] [] first: %s:%u %s %d %.16s '%s' '%s'\n", file, line, function, (int)level, conf->name,
            format, text);
    ++calls;
    return UCS_LOG_FUNC_RC_CONTINUE;
}

static ucs_log_func_rc_t second(const char *file, unsigned line, const char *function, ucs_log_level_t level,
                                const ucs_log_component_config_t *conf, const char *format, va_list ap)
{
    fprintf(stderr, "[] [] second\n");
    ++calls;
    if (!strcmp(format, "again %d")) {
        /* A handler may log and change the handlers. */
        ucs_log_pop_handler();
        LOG(UCS_LOG_LEVEL_WARN, &component, "from a handler");
        ucs_log_push_handler(second);
    }
    return strcmp(format, "stop %d") ? UCS_LOG_FUNC_RC_CONTINUE : UCS_LOG_FUNC_RC_STOP;
}

int main(void)
{
    static char longer[5000];

    catch_output();
    LOG(UCS_LOG_LEVEL_ERROR, &component, "%s %d %.2f %c %ld %p", "text", 42, 2.5, 'c', 1234567890123l, NULL);
    LOG(UCS_LOG_LEVEL_WARN, &component, "warning");
    LOG(UCS_LOG_LEVEL_DIAG, &component, "diag");
    LOG(UCS_LOG_LEVEL_INFO, &component, "info");
    LOG(UCS_LOG_LEVEL_DEBUG, &component, "debug");
    LOG(UCS_LOG_LEVEL_PRINT, &component, "print");
    LOG(UCS_LOG_LEVEL_WARN, &ucs_global_opts.log_component, "of the library itself");
    ucs_log_dispatch("a_name_of_a_file_that_is_long.c", 123456, "f", UCS_LOG_LEVEL_WARN, &component, "x");
    LOG(UCS_LOG_LEVEL_WARN, &component, "several\nlines\n\nand an empty one");
    show();
    OK("columns");

    memset(longer, 'a', sizeof(longer) - 1);
    catch_output();
    LOG(UCS_LOG_LEVEL_WARN, &component, "%s", longer);
    show();
    CHECK_EQ(ucs_log_get_buffer_size(), 1024);
    OK("long message");

    catch_output();
    ucs_log_indent(2);
    LOG(UCS_LOG_LEVEL_WARN, &component, "to the right");
    ucs_log_indent(-2);
    LOG(UCS_LOG_LEVEL_WARN, &component, "back");
    show();
    OK("indentation");

    CHECK_EQ(ucs_log_num_handlers(), 1);
    ucs_log_push_handler(first);
    ucs_log_push_handler(second);
    CHECK_EQ(ucs_log_num_handlers(), 3);
    catch_output();
    setvbuf(stdout, NULL, _IONBF, 0);
    LOG(UCS_LOG_LEVEL_WARN, &component, "go on %d %g", 7, 0.5);
    LOG(UCS_LOG_LEVEL_WARN, &component, "stop %d", 8);
    LOG(UCS_LOG_LEVEL_WARN, &component, "again %d", 9);
    show();
    CHECK_EQ(calls, 6);
    ucs_log_pop_handler();
    ucs_log_pop_handler();
    CHECK_EQ(ucs_log_num_handlers(), 1);
    OK("handlers");

    catch_output();
    ucs_log_pop_handler();
    CHECK_EQ(ucs_log_num_handlers(), 0);
    LOG(UCS_LOG_LEVEL_ERROR, &component, "nobody listens");
    show();
    OK("no handler");
    return 0;
}
