#include <ucs/sys/compiler_def.h>
#include <stdint.h>

/** Defined where the compiler makes code for a device: nvcc, or clang from CUDA. */
#if defined(__NVCC__) || (defined(__clang__) && defined(__CUDA__))
#  define FERRUCX_DEVICE_CODE 1
#endif

/** Functions that run where they are compiled to: on a device, or else here. */
#ifdef FERRUCX_DEVICE_CODE
#  define UCS_F_DEVICE __device__ __forceinline__ static
#else
#  define UCS_F_DEVICE static inline
#endif

/** 1 to check the arguments of device functions. */
#ifndef UCP_DEVICE_ENABLE_PARAMS_CHECK
#  ifdef _DEBUG
#    define UCP_DEVICE_ENABLE_PARAMS_CHECK 1
#  else
#    define UCP_DEVICE_ENABLE_PARAMS_CHECK 0
#  endif
#endif

/** Threads of a warp. */
#define UCS_DEVICE_NUM_THREADS_IN_WARP 32

@ITEMS@

/**
 * What a level is called.
 *
 * @param[in] level The level.
 * @return Text that is not freed.
 */
static UCS_F_ALWAYS_INLINE const char *ucs_device_level_name(ucs_device_level_t level)
{
    return (level == UCS_DEVICE_LEVEL_THREAD) ? "thread" :
           (level == UCS_DEVICE_LEVEL_WARP)   ? "warp" :
           (level == UCS_DEVICE_LEVEL_BLOCK)  ? "block" :
           (level == UCS_DEVICE_LEVEL_GRID)   ? "grid" : "unknown";
}

/**
 * Reads a word that another processor or device writes; what was written before it is seen after it.
 *
 * @param[in] ptr The word's address, aligned to 8.
 * @return The word.
 */
UCS_F_DEVICE uint64_t ucs_device_atomic64_read(const uint64_t *ptr)
{
#ifdef FERRUCX_DEVICE_CODE
    uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(ptr) : "memory");
    return value;
#else
    return __atomic_load_n(ptr, __ATOMIC_ACQUIRE);
#endif
}

/**
 * Writes such a word; whoever sees it sees what was written before.
 *
 * @param[out] ptr The word's address, aligned to 8.
 * @param[in] value The word.
 */
UCS_F_DEVICE void ucs_device_atomic64_write(uint64_t *ptr, uint64_t value)
{
#ifdef FERRUCX_DEVICE_CODE
    asm volatile("st.release.sys.u64 [%0], %1;" : : "l"(ptr), "l"(value) : "memory");
#else
    __atomic_store_n(ptr, value, __ATOMIC_RELEASE);
#endif
}

/** Prints from device code, with the place in the grid. */
#define ucs_device_printf(_title, _fmt, ...) \
    printf("(%d:%d) %6s " _fmt "\n", threadIdx.x, blockIdx.x, _title, ##__VA_ARGS__)
#define ucs_device_error(_fmt, ...) ucs_device_printf("ERROR", _fmt, ##__VA_ARGS__)
#define ucs_device_debug(_fmt, ...) ucs_device_printf("DEBUG", _fmt, ##__VA_ARGS__)
