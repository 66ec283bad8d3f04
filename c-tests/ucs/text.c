/* Sizes, copies and formatted text. */
/* oracle: 1.13.1 1.22.0 */
/* env: UCX_LOG_LEVEL=fatal */
#include "check.h"

#include <ucs/sys/string.h>

static void print_bytes(const char *bytes, int count)
{
    for (int i = 0; i < count; ++i) {
        printf("%02x ", (unsigned char)bytes[i]);
    }
    printf("\n");
}

static void sizes_to_text(void)
{
    static const size_t sizes[] = {0, 1, 511, 1023, 1024, 1025, 1536, 2048, 10240, 1 << 20, (1 << 20) + 1, 1 << 30,
                                   1536ul << 30, 1ul << 40, 1ul << 50, 1ul << 60, SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 2};
    char text[32];

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); ++i) {
        CHECK(ucs_memunits_to_str(sizes[i], text, sizeof(text)) == text);
        printf("%zu is %s, ", sizes[i], text);
        ucs_memunits_to_str(sizes[i], text, 4);
        printf("in 4 bytes %s\n", text);
    }
    OK("sizes to text");
}

static void text_to_sizes(void)
{
    static const char *texts[] = {"1", "1k", "1K", "1kb", "1KB", "10m", "1.5g", "inf", "auto", "INF", "AUTO", "", "k",
                                  "-1", "3x", "1b", "7B", "1t", "1p", "1e", "0x10", " 5", "5 ", "1kk", "1g ", "infinity"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); ++i) {
        size_t size         = 4242;
        ucs_status_t status = ucs_str_to_memunits(texts[i], &size);

        printf("'%s': %d %zu\n", texts[i], status, size);
    }
    OK("text to sizes");
}

static void copies(void)
{
    for (int size = 0; size < 10; ++size) {
        char bytes[12];

        memset(bytes, '#', sizeof(bytes));
        ucs_strncpy_zero(bytes, "abcdef", size);
        print_bytes(bytes, sizeof(bytes));
    }
    OK("copies");
}

static void formatted(void)
{
    for (int size = 1; size < 10; ++size) {
        char bytes[12];

        memset(bytes, '#', sizeof(bytes));
        ucs_snprintf_zero(bytes, size, "%d-%s-%.1f", 42, "x", 1.5);
        print_bytes(bytes, sizeof(bytes));
        memset(bytes, '#', sizeof(bytes));
        ucs_snprintf_safe(bytes, size, "%d-%s-%.1f", 42, "x", 1.5);
        printf("%s\n", bytes);
    }
    OK("formatted text");
}

static void many_arguments(void)
{
    char text[128];

    /* More than registers hold, of both classes. */
    ucs_snprintf_zero(text, sizeof(text), "%d %s %g %ld %g %c %g %x %g %d %g %g %g %g %g %d", 1, "two", 3.5, 4l, 5.5,
                      '6', 7.5, 8, 9.5, 10, 11.5, 12.5, 13.5, 14.5, 15.5, 16);
    printf("%s\n", text);
    OK("many arguments");
}

int main(void)
{
    sizes_to_text();
    text_to_sizes();
    copies();
    formatted();
    many_arguments();
    return 0;
}
