#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

@ITEMS@

/** Processors in one word of a set. */
#define UCS_NCPUBITS      (8 * sizeof(ucs_cpu_mask_t))
/** Index of the word that holds a processor. */
#define UCS_CPUELT(_cpu)  ((_cpu) / UCS_NCPUBITS)
/** Bit of a processor in its word. */
#define UCS_CPUMASK(_cpu) (((ucs_cpu_mask_t)1) << ((_cpu) % UCS_NCPUBITS))

/** Empties a set. */
#define UCS_CPU_ZERO(_set) __builtin_memset((_set)->ucs_bits, 0, sizeof((_set)->ucs_bits))

/** Adds a processor to a set; numbers past the end are ignored. */
#define UCS_CPU_SET(_cpu, _set) \
    do { \
        const size_t ucs_cpu_number = (_cpu); \
        if (ucs_cpu_number < UCS_CPU_SETSIZE) { \
            (_set)->ucs_bits[UCS_CPUELT(ucs_cpu_number)] |= UCS_CPUMASK(ucs_cpu_number); \
        } \
    } while (0)

/** Takes a processor out of a set; numbers past the end are ignored. */
#define UCS_CPU_CLR(_cpu, _set) \
    do { \
        const size_t ucs_cpu_number = (_cpu); \
        if (ucs_cpu_number < UCS_CPU_SETSIZE) { \
            (_set)->ucs_bits[UCS_CPUELT(ucs_cpu_number)] &= ~UCS_CPUMASK(ucs_cpu_number); \
        } \
    } while (0)

/**
 * 1 when a set has the processor, else 0.
 *
 * @param[in] cpu Number of the processor.
 * @param[in] cpusetp The set.
 * @return 1 or 0.
 */
static inline int ucs_cpu_is_set(int cpu, const ucs_cpu_set_t *cpusetp)
{
    if ((cpu < 0) || (cpu >= (int)UCS_CPU_SETSIZE)) {
        return 0;
    }
    return (cpusetp->ucs_bits[UCS_CPUELT((size_t)cpu)] & UCS_CPUMASK((size_t)cpu)) != 0;
}

/**
 * 1 when a set has no processor, else 0.
 *
 * @param[in] cpusetp The set.
 * @return 1 or 0.
 */
static inline int ucs_cpu_set_is_empty(const ucs_cpu_set_t *cpusetp)
{
    ucs_cpu_mask_t any = 0;
    size_t i;

    for (i = 0; i < ucs_static_array_size(cpusetp->ucs_bits); ++i) {
        any |= cpusetp->ucs_bits[i];
    }
    return any == 0;
}

/**
 * Number of the lowest processor of a set, 0 for the empty set.
 *
 * @param[in] cpu_mask The set.
 * @return The number.
 */
static inline int ucs_cpu_set_find_lcs(const ucs_cpu_set_t *cpu_mask)
{
    size_t i;

    for (i = 0; i < ucs_static_array_size(cpu_mask->ucs_bits); ++i) {
        if (cpu_mask->ucs_bits[i] != 0) {
            return (int)(i * UCS_NCPUBITS) + __builtin_ctzl(cpu_mask->ucs_bits[i]);
        }
    }
    return 0;
}

END_C_DECLS
