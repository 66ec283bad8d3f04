/* Passes a scope five times and a sample in it three times, as a client that profiles its code does. */
#include <ucs/profile/profile_on.h>

int main(void)
{
    volatile int passes = 0;

    for (int i = 0; i < 5; ++i) {
        UCS_PROFILE_CODE("a scope", {
            if (++passes <= 3) {
                UCS_PROFILE_SAMPLE("a sample");
            }
        });
    }
    return 0;
}
