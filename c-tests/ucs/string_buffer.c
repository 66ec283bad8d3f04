/* String buffers: growing ones, and storage of the caller in the layout of each release's header. */
#include "check.h"

#include <ucs/datastruct/string_buffer.h>

/* Fixed storage as a client of each release marks it: bit 63 since 1.17, bit 0 before. */
typedef struct {
    char   *buffer;
    size_t length;
    size_t capacity;
} words_t;

static void growing(void)
{
    ucs_string_buffer_t buffer;
    char expected[4096];
    size_t length = 0;

    memset(&buffer, 0, sizeof(buffer));
    CHECK_STR(ucs_string_buffer_cstr(&buffer), "");
    for (int i = 0; i < 500; ++i) {
        ucs_string_buffer_appendf(&buffer, "%d,", i);
        length += sprintf(expected + length, "%d,", i);
        CHECK_STR(ucs_string_buffer_cstr(&buffer), expected);
    }
    ucs_string_buffer_rtrim(&buffer, "9,");
    length -= strlen("499,") - 1;
    expected[length] = '\0';
    CHECK_STR(ucs_string_buffer_cstr(&buffer), expected);
    ucs_string_buffer_cleanup(&buffer);
    CHECK_STR(ucs_string_buffer_cstr(&buffer), "");
    OK("growing");
}

static void white_space(void)
{
    ucs_string_buffer_t buffer;

    memset(&buffer, 0, sizeof(buffer));
    ucs_string_buffer_appendf(&buffer, "%s", "a b \t\v\f\r\n");
    ucs_string_buffer_rtrim(&buffer, NULL);
    CHECK_STR(ucs_string_buffer_cstr(&buffer), "a b");
    ucs_string_buffer_rtrim(&buffer, "ab ");
    CHECK_STR(ucs_string_buffer_cstr(&buffer), "");
    ucs_string_buffer_cleanup(&buffer);
    OK("white space");
}

static void fixed(size_t mark, const char *expected)
{
    char storage[32];
    words_t words = {storage, 0, mark};
    ucs_string_buffer_t buffer;

    memset(storage, '#', sizeof(storage));
    memcpy(&buffer, &words, sizeof(buffer));
    for (int i = 0; i < 5; ++i) {
        ucs_string_buffer_appendf(&buffer, "%s", "0123456");
    }
    CHECK_STR(ucs_string_buffer_cstr(&buffer), expected);
    CHECK(storage[17] == '#');
    CHECK(ucs_string_buffer_cstr(&buffer) == storage);
}

int main(void)
{
    growing();
    white_space();
    fixed(17ul | (1ul << 63), "0123456012345601");
    OK("fixed storage, header of 1.17 and later");
    fixed(17ul, "012345601234560");
    OK("fixed storage, header before 1.17");
    return 0;
}
