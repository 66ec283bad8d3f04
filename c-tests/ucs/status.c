/* Every status value, declared or not, has the text that upstream gives it. */
/* oracle: 1.13.1 1.22.0 */
#include "check.h"

int main(void)
{
    const char *(*with_dirty_register)(uint64_t) = (const char *(*)(uint64_t))(void *)ucs_status_string;
    int value;

    for (value = -128; value < 128; ++value) {
        const char *text = ucs_status_string((ucs_status_t)value);
        CHECK(text != NULL);
        printf("%d %s\n", value, text);
    }

    /* The type has one byte: whatever else is in the argument register does not count. */
    for (value = -25; value <= 1; ++value) {
        uint64_t dirty = 0x5aa5c33c12345600ull | (uint8_t)value;
        CHECK_STR(with_dirty_register(dirty), ucs_status_string((ucs_status_t)value));
    }
    OK("status strings");
    return 0;
}
