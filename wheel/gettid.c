/* glibc has gettid() since 2.30 only: for builds that shall run with older ones. Hidden, so that it is not exported. */
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((visibility("hidden"))) pid_t gettid(void)
{
    return (pid_t)syscall(SYS_gettid);
}
