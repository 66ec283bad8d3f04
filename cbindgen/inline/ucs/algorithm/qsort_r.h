#include <ucs/sys/compiler_def.h>
#include <stddef.h>

BEGIN_C_DECLS

/**
 * Order of two elements: negative, 0 or positive.
 *
 * @param[in] elem1 An element.
 * @param[in] elem2 Another one.
 * @param[in] arg As it was given to `ucs_qsort_r`.
 * @return Negative, 0 or positive.
 */
typedef int ucs_qsort_r_compare_cb_t(const void *elem1, const void *elem2, void *arg);

/**
 * Sorts an array; `arg` is handed to each comparison.
 *
 * @param[in,out] base The array.
 * @param[in] nmemb Number of elements.
 * @param[in] size Bytes of an element.
 * @param[in] compare Order of two elements.
 * @param[in] arg Its last argument.
 */
void ucs_qsort_r(void *base, size_t nmemb, size_t size, ucs_qsort_r_compare_cb_t *compare, void *arg);

END_C_DECLS
