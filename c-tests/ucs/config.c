/* Sources of variables, and the printed configuration. Files are read once in a process, so every case is a child. */
#define _GNU_SOURCE
#include <uct/api/uct.h>

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"

/* As ucs/config/parser.h has it, with and without the argument of 1.19. */
extern void ucs_config_parser_print_all_opts(FILE *stream, const char *prefix, ucs_config_print_flags_t flags,
                                             ucs_list_link_t *config_list, const char *filter);
extern ucs_list_link_t ucs_config_global_list;

static char folder[] = "/tmp/ferrucx-config-XXXXXX";

static void write_file(const char *text)
{
    FILE *file = fopen("ucx.conf", "w");

    CHECK(file != NULL);
    CHECK(fputs(text, file) >= 0);
    CHECK_EQ(fclose(file), 0);
}

/* The text of a variable of the `self` transport, or the status that reading its table gives. */
static const char *value(const char *prefix, const char *name)
{
    static char text[256];
    uct_component_h *components, self = NULL;
    uct_iface_config_t *iface_config;
    uct_component_attr_t attr;
    uct_md_config_t *md_config;
    unsigned i, count;
    ucs_status_t status;
    uct_md_h md;

    CHECK_OK(uct_query_components(&components, &count));
    for (i = 0; i < count; ++i) {
        attr.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME;
        CHECK_OK(uct_component_query(components[i], &attr));
        if (!strcmp(attr.name, "self")) {
            self = components[i];
        }
    }
    uct_release_component_list(components);
    CHECK(self != NULL);
    CHECK_OK(uct_md_config_read(self, prefix, NULL, &md_config));
    CHECK_OK(uct_md_open(self, "self", md_config, &md));
    uct_config_release(md_config);
    status = uct_md_iface_config_read(md, "self", prefix, NULL, &iface_config);
    if (status == UCS_OK) {
        CHECK_OK(uct_config_get(iface_config, name, text, sizeof(text)));
        uct_config_release(iface_config);
    } else {
        snprintf(text, sizeof(text), "%s", ucs_status_string(status));
    }
    uct_md_close(md);
    return text;
}

/* In a child with these variables (NULL at the end), expects a value of SEG_SIZE. */
static void expect(const char *prefix, const char *expected, ...)
{
    const char *name;
    va_list ap;
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        va_start(ap, expected);
        while ((name = va_arg(ap, const char*)) != NULL) {
            setenv(name, va_arg(ap, const char*), 1);
        }
        va_end(ap);
        CHECK_STR(value(prefix, "SEG_SIZE"), expected);
        _exit(0);
    }
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    CHECK_EQ(status, 0);
}

static void print(FILE *stream, ucs_config_print_flags_t flags, uintptr_t garbage)
{
    ucs_config_parser_print_all_opts(stream, "UCX_", flags, &ucs_config_global_list, (const char*)garbage);
}

int main(int argc, char **argv)
{
    size_t size, size_garbage, size_filter;
    char *text, *text_garbage, *text_filter;
    FILE *stream;

    CHECK(mkdtemp(folder) != NULL);
    CHECK_EQ(chdir(folder), 0);
    setenv("HOME", folder, 1);

    expect(NULL, "8K", NULL);
    expect(NULL, "16K", "UCX_SELF_SEG_SIZE", "16k", NULL);
    expect(NULL, "8K", "MPI_UCX_SELF_SEG_SIZE", "16k", NULL);
    expect("MPI", "16K", "MPI_UCX_SELF_SEG_SIZE", "16k", "UCX_SELF_SEG_SIZE", "32k", NULL);
    expect("MPI", "32K", "UCX_SELF_SEG_SIZE", "32k", NULL);
    OK("environment");

    expect(NULL, "Invalid parameter", "UCX_SELF_SEG_SIZE", "1.5k", NULL);
    expect(NULL, "Invalid parameter", "UCX_ALLOC", "heap,nothing", NULL);
    expect(NULL, "Invalid parameter", "UCX_SELF_SEG_SIZE", "", NULL);
    OK("bad texts");

    write_file("# comment\nUCX_SELF_SEG_SIZE = 4k\n[a]\nCPU vendor=Nobody\nUCX_SELF_SEG_SIZE=1\n");
    expect(NULL, "4K", NULL);
    expect(NULL, "16K", "UCX_SELF_SEG_SIZE", "16k", NULL);
    expect("MPI", "4K", NULL);
    OK("ucx.conf in the current directory");

    CHECK_EQ(setenv("HOME", "/nonexistent", 1), 0);
    expect(NULL, "4K", NULL);
    if (geteuid() == 0) {
        CHECK_EQ(chown("ucx.conf", 65534, 65534), 0);
        expect(NULL, "8K", NULL);
        expect(NULL, "4K", "UCX_CONFIG_DIR", folder, NULL);
    }
    CHECK_EQ(unlink("ucx.conf"), 0);
    CHECK_EQ(mkfifo("ucx.conf", 0600), 0);
    expect(NULL, "8K", NULL);
    CHECK_EQ(unlink("ucx.conf"), 0);
    CHECK_EQ(symlink("/proc/self/mem", "ucx.conf"), 0);
    expect(NULL, "8K", NULL);
    CHECK_EQ(unlink("ucx.conf"), 0);
    OK("files that are not ours");

    stream = open_memstream(&text, &size);
    print(stream, UCS_CONFIG_PRINT_CONFIG, 0);
    fclose(stream);
    CHECK(strstr(text, "UCX_LOG_LEVEL=WARN\n") != NULL);
    CHECK(strstr(text, "\nUCX_SELF_SEG_SIZE=8K\n") != NULL);
    CHECK(strstr(text, "\nUCX_TLS=all\n") != NULL);
    OK("print");

    /* Callers built before 1.19 leave anything in the place of the filter. */
    stream = open_memstream(&text_garbage, &size_garbage);
    print(stream, UCS_CONFIG_PRINT_CONFIG, 0xdeadbeefcafe0001ull);
    print(stream, UCS_CONFIG_PRINT_CONFIG, 1);
    print(stream, UCS_CONFIG_PRINT_CONFIG, (uintptr_t)"not an argument of the program");
    fclose(stream);
    CHECK_EQ(size_garbage, 3 * size);
    CHECK(!strncmp(text_garbage, text, size));

    /* The program's own name is an argument; no variable contains it. Under valgrind the arguments lie
     * elsewhere than the kernel says. */
    stream = open_memstream(&text_filter, &size_filter);
    print(stream, UCS_CONFIG_PRINT_CONFIG, (uintptr_t)argv[0]);
    fclose(stream);
    if ((getenv("LD_PRELOAD") == NULL) || (strstr(getenv("LD_PRELOAD"), "vgpreload") == NULL)) {
        CHECK_EQ(size_filter, 0);
    }
    OK("filter");

    free(text);
    free(text_garbage);
    free(text_filter);
    CHECK_EQ(chdir("/"), 0);
    CHECK_EQ(rmdir(folder), 0);
    return 0;
}
