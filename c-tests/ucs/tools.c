/* What UCX's own tools import without a public header: tables, string sets, the clock, the processor. */
/* oracle: 1.22.0 */
/* headers: ours 1.22.0 */
#define _GNU_SOURCE
#include "check.h"

#include <ucs/datastruct/string_buffer.h>
#include <ucs/type/init_once.h>

#include <pthread.h>
#include <sched.h>
#include <time.h>

/* Head of a khash set, as inline code of clients knows it. */
typedef struct {
    uint32_t n_buckets, size, n_occupied, upper_bound;
    uint32_t *flags;
    char     **keys;
    char     *vals;
} string_set_t;

typedef struct {
    unsigned   n_cols;
    const char *row_prefix;
    int        equal_widths;
} table_config_t;

typedef struct {
    table_config_t config;
    char           rest[24];
} table_t;

void ucs_string_set_init(string_set_t *);
void ucs_string_set_cleanup(string_set_t *);
ucs_status_t ucs_string_set_add(string_set_t *, const char *);
ucs_status_t ucs_string_set_print_sorted(const string_set_t *, ucs_string_buffer_t *, const char *);
void ucs_table_init(table_t *, const table_config_t *);
void ucs_table_cleanup(table_t *);
void ucs_table_add_separator(table_t *);
void ucs_table_add_row(table_t *, uint32_t *);
void ucs_table_row_add_cell_empty(table_t *, uint32_t, unsigned);
void ucs_table_row_add_cell_fmt(table_t *, uint32_t, unsigned, unsigned, const char *, ...);
void ucs_table_print(table_t *);
double ucs_get_cpu_clocks_per_sec(void);
size_t ucs_get_page_size(void);
long ucs_sys_get_num_cpus(void);
int ucs_sys_getaffinity(cpu_set_t *);
int ucs_sys_setaffinity(cpu_set_t *);
uint64_t ucs_generate_uuid(uint64_t);
void ucs_load_modules(const char *, const char *, ucs_init_once_t *, unsigned);
void *ucs_malloc(size_t, const char *);
void ucs_free(void *);
unsigned ucs_profile_calc_num_threads(size_t, const void *);

static void sets(void)
{
    ucs_string_buffer_t text;
    string_set_t set;
    char word[16];

    memset(&text, 0, sizeof(text));
    ucs_string_set_init(&set);
    for (int i = 0; i < 400; ++i) {
        snprintf(word, sizeof(word), "%x", (i * 2654435761u) % 150);
        CHECK_OK(ucs_string_set_add(&set, word));
    }
    CHECK_OK(ucs_string_set_add(&set, ""));
    CHECK_OK(ucs_string_set_print_sorted(&set, &text, ", "));
    printf("%u: %s\n", set.size, ucs_string_buffer_cstr(&text));
    ucs_string_buffer_cleanup(&text);
    ucs_string_set_cleanup(&set);
    OK("string sets");
}

static void tables(int equal_widths)
{
    table_config_t config = {3, equal_widths ? "# " : NULL, equal_widths};
    table_t table;
    uint32_t row;

    ucs_table_init(&table, &config);
    CHECK_EQ(table.config.n_cols, 3);
    ucs_table_print(&table);
    ucs_table_add_row(&table, &row);
    ucs_table_row_add_cell_fmt(&table, row, 1, 0, "%s", "left");
    ucs_table_row_add_cell_fmt(&table, row, 1, 1, "%d", 5);
    ucs_table_row_add_cell_fmt(&table, row, 1, 2, "%c", 'c');
    ucs_table_add_separator(&table);
    ucs_table_add_row(&table, &row);
    ucs_table_row_add_cell_fmt(&table, row, 2, 2, "%s %.1f", "a long spanning cell", 1.5);
    ucs_table_row_add_cell_empty(&table, row, 1);
    ucs_table_add_row(&table, &row);
    ucs_table_row_add_cell_empty(&table, row, 1);
    ucs_table_row_add_cell_fmt(&table, row, 2, 1, "%s", "");
    ucs_table_print(&table);
    ucs_table_add_separator(&table);
    ucs_table_print(&table);
    ucs_table_cleanup(&table);
    OK("tables");
}

static void system_facts(void)
{
    cpu_set_t mine;

    CHECK_EQ(ucs_get_page_size(), sysconf(_SC_PAGESIZE));
    CHECK_EQ(ucs_sys_get_num_cpus(), sysconf(_SC_NPROCESSORS_CONF));
    CHECK_EQ(ucs_sys_getaffinity(&mine), 0);
    CHECK(CPU_COUNT(&mine) >= 1);
    CHECK_EQ(ucs_sys_setaffinity(&mine), 0);
    CHECK(ucs_get_cpu_clocks_per_sec() >= 1e6);
    CHECK(ucs_generate_uuid(0) != ucs_generate_uuid(0));
    OK("system");
}

static void modules(void)
{
    ucs_init_once_t once = {PTHREAD_MUTEX_INITIALIZER, 0};

    ucs_load_modules("ucx_perftest", "", &once, 0);
    CHECK_EQ(once.initialized, 1);
    ucs_load_modules("ucx_perftest", "", &once, 0);
    CHECK_EQ(once.initialized, 1);
    CHECK_EQ(pthread_mutex_trylock(&once.lock), 0);
    OK("modules");
}

static void memory(void)
{
    char *block = ucs_malloc(100, "test");

    CHECK(block != NULL);
    memset(block, 1, 100);
    ucs_free(block);
    ucs_free(NULL);
    OK("memory");
}

static void profile(void)
{
    /* Sizes of the locations and of the threads stand at these places of the head. */
    char head[0x888] = {0};
    uint64_t locations = 165 * 3, threads = 2 * (28 + 3 * 16) + 10 * 24;

    memcpy(head + 0x868, &locations, sizeof(locations));
    memcpy(head + 0x878, &threads, sizeof(threads));
    CHECK_EQ(ucs_profile_calc_num_threads(10, head), 2);
    OK("profile");
}

int main(void)
{
    sets();
    tables(0);
    tables(1);
    system_facts();
    modules();
    memory();
    profile();
    return 0;
}
