/* The tree of objects as directories and files: a client that shows its objects and reads the tree itself. */
/* headers: ours 1.13.1 1.22.0 */
/* oracle: 1.22.0 */
#include "check.h"

#include <ucs/vfs/base/vfs_cb.h>
#include <ucs/vfs/base/vfs_obj.h>

#include <inttypes.h>
#include <sys/stat.h>

/* Objects are addresses; only their identity counts. */
static int    objects[8];
static size_t refreshed;

static void print_info(const char *path)
{
    ucs_vfs_path_info_t info = {0};
    ucs_status_t        status = ucs_vfs_path_get_info(path, &info);

    if (status == UCS_OK) {
        printf("info %s: %o, %zu\n", path, (unsigned)info.mode, info.size);
    } else {
        printf("info %s: %s\n", path, ucs_status_string(status));
    }
}

static void print_file(const char *path)
{
    ucs_string_buffer_t text = UCS_STRING_BUFFER_INITIALIZER;
    ucs_status_t        status = ucs_vfs_path_read_file(path, &text);

    printf("read %s: %s: %s\n", path, ucs_status_string(status), ucs_string_buffer_cstr(&text));
    ucs_string_buffer_cleanup(&text);
}

/* No link to a directory above it is printed: upstream reads past the end of such a path. */
static void print_link(const char *path)
{
    ucs_string_buffer_t text = UCS_STRING_BUFFER_INITIALIZER;
    ucs_status_t        status = ucs_vfs_path_get_link(path, &text);

    printf("link %s: %s: %s\n", path, ucs_status_string(status), ucs_string_buffer_cstr(&text));
    ucs_string_buffer_cleanup(&text);
}

typedef struct {
    char   *names[16];
    size_t count;
} names_t;

static void collect(const char *name, void *arg)
{
    names_t *names = arg;

    CHECK(names->count < 16);
    names->names[names->count++] = strdup(name);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const*)a, *(char *const*)b);
}

static void print_list(const char *path)
{
    names_t      names = {{NULL}, 0};
    ucs_status_t status = ucs_vfs_path_list_dir(path, collect, &names);

    qsort(names.names, names.count, sizeof(names.names[0]), compare);
    printf("list %s: %s:", path, ucs_status_string(status));
    for (size_t i = 0; i < names.count; ++i) {
        printf(" %s", names.names[i]);
        free(names.names[i]);
    }
    printf("\n");
}

static void show_args(void *obj, ucs_string_buffer_t *strb, void *arg_ptr, uint64_t arg_u64)
{
    ucs_string_buffer_appendf(strb, "object %d, text %s, number %" PRIu64 "\n", (int)((int*)obj - objects),
                              (const char*)arg_ptr, arg_u64);
}

static ucs_status_t take(void *obj, const char *buffer, size_t size, void *arg_ptr, uint64_t arg_u64)
{
    printf("written to %d: %.*s, number %" PRIu64 "\n", (int)((int*)obj - objects), (int)size, buffer, arg_u64);
    return (size == 4) ? UCS_OK : UCS_ERR_OUT_OF_RANGE;
}

static void refresh(void *obj)
{
    ++refreshed;
    ucs_vfs_obj_add_ro_file(obj, show_args, "fresh", refreshed, "fresh_%zu", refreshed);
}

static void add(const char *what, ucs_status_t status)
{
    printf("add %s: %s\n", what, ucs_status_string(status));
}

static void tree(void)
{
    add("a", ucs_vfs_obj_add_dir(NULL, &objects[0], "test/%s/%d", "a", 1));
    add("a again", ucs_vfs_obj_add_dir(NULL, &objects[0], "test/%s/%d", "a", 1));
    add("b below a", ucs_vfs_obj_add_dir(&objects[0], &objects[1], "x/y/b"));
    add("c below an object that is not shown", ucs_vfs_obj_add_dir(&objects[7], &objects[2], "c"));
    add("file", ucs_vfs_obj_add_ro_file(&objects[0], show_args, "hello", 42, "file"));
    add("file again", ucs_vfs_obj_add_ro_file(&objects[0], show_args, "other", 43, "file"));
    add("file to write", ucs_vfs_obj_add_rw_file(&objects[1], show_args, take, "writable", 7, "dir/file"));
    add("file of an object that is not shown", ucs_vfs_obj_add_ro_file(&objects[7], show_args, "none", 0, "f"));
    add("link to b", ucs_vfs_obj_add_sym_link(&objects[0], &objects[1], "links/to_b"));
    add("link to a", ucs_vfs_obj_add_sym_link(&objects[1], &objects[0], "to_a"));
    add("link to an object that is not shown", ucs_vfs_obj_add_sym_link(&objects[0], &objects[7], "to_none"));
    print_info("/test");
    print_info("/test/a/1");
    print_info("/test/a/1/file");
    print_info("/test/a/1/x/y/b/dir/file");
    print_info("/test/a/1/links/to_b");
    print_info("/test/a/1/none");
    print_info("test/a/1");
    print_list("/test");
    print_list("/test/a/1");
    print_list("/test/a/1/x/y/b");
    print_list("/test/a/1/file");
    print_list("/test/none");
    print_file("/test/a/1/file");
    print_file("/test/a/1/x/y/b/dir/file");
    print_file("/test/a/1/x");
    print_link("/test/a/1/links/to_b");
    print_link("/test/a/1/file");
    printf("write: %s\n", ucs_status_string(ucs_vfs_path_write_file("/test/a/1/x/y/b/dir/file", "four", 4)));
    printf("write: %s\n", ucs_status_string(ucs_vfs_path_write_file("/test/a/1/x/y/b/dir/file", "three", 5)));
    printf("write: %s\n", ucs_status_string(ucs_vfs_path_write_file("/test/a/1/file", "four", 4)));
}

static void refreshing(void)
{
    ucs_vfs_obj_set_dirty(&objects[1], refresh);
    print_list("/test/a/1/x/y/b");
    print_list("/test/a/1/x/y/b");
    print_file("/test/a/1/x/y/b/fresh_1");
    ucs_vfs_obj_set_dirty(&objects[1], refresh);
    print_info("/test/a/1/x/y/b");
    print_list("/test/a/1/x/y/b");
    ucs_vfs_obj_set_dirty(&objects[7], refresh);
}

static void removing(void)
{
    ucs_vfs_obj_remove(&objects[7]);
    ucs_vfs_obj_remove(&objects[1]);
    print_list("/test/a/1");
    print_info("/test/a/1/links");
    ucs_vfs_obj_remove(&objects[0]);
    print_list("/test");
    print_info("/test");
}

static void variables(void)
{
    int8_t   i8 = -1;
    int16_t  i16 = -2;
    int      i32 = -3;
    long     i64 = -4;
    void     *none = NULL;
    size_t   sizes[] = {0, 1, 1000, 1024, 4096, 3 << 20, SIZE_MAX, SIZE_MAX - 1, 1500};
    char     name[32];

    struct {
        const char *name;
        void       *value;
        uint64_t   type;
    } rows[] = {
        {"i8", &i8, UCS_VFS_TYPE_I8},         {"u8", &i8, UCS_VFS_TYPE_U8},
        {"i16", &i16, UCS_VFS_TYPE_I16},      {"u16", &i16, UCS_VFS_TYPE_U16},
        {"i32", &i32, UCS_VFS_TYPE_I32},      {"u32", &i32, UCS_VFS_TYPE_U32},
        {"hex", &i32, UCS_VFS_TYPE_U32_HEX},  {"ulong", &i64, UCS_VFS_TYPE_ULONG},
        {"ssize", &i64, UCS_VFS_TYPE_SSIZET}, {"pointer", &none, UCS_VFS_TYPE_POINTER},
        {"text", "some text", UCS_VFS_TYPE_STRING},
    };

    CHECK_OK(ucs_vfs_obj_add_dir(NULL, &objects[3], "variables"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        CHECK_OK(ucs_vfs_obj_add_ro_file(&objects[3], ucs_vfs_show_primitive, rows[i].value, rows[i].type, "%s",
                                         rows[i].name));
        snprintf(name, sizeof(name), "/variables/%s", rows[i].name);
        print_file(name);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        CHECK_OK(ucs_vfs_obj_add_ro_file(&objects[3], ucs_vfs_show_memunits, &sizes[i], 0, "bytes%zu", i));
        CHECK_OK(ucs_vfs_obj_add_ro_file(&objects[3], ucs_vfs_show_ulunits, &sizes[i], 0, "count%zu", i));
        snprintf(name, sizeof(name), "/variables/bytes%zu", i);
        print_file(name);
        snprintf(name, sizeof(name), "/variables/count%zu", i);
        print_file(name);
    }
    ucs_vfs_obj_remove(&objects[3]);
}

int main(void)
{
    tree();
    refreshing();
    removing();
    variables();
    return 0;
}
