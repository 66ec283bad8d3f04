/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_SYS_STUBS_H
#define FERRUCX_UCS_SYS_STUBS_H

#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

BEGIN_C_DECLS

/** Does nothing. */
void ucs_empty_function(void);

/**
 * Answers 0.
 *
 * @return 0.
 */
unsigned int ucs_empty_function_return_zero(void);

/**
 * Answers 1.
 *
 * @return 1.
 */
unsigned int ucs_empty_function_return_one(void);

/**
 * Answers 1.
 *
 * @return 1.
 */
int ucs_empty_function_return_one_int(void);

/**
 * Answers 0.
 *
 * @return 0.
 */
int64_t ucs_empty_function_return_zero_int64(void);

/**
 * Answers 0.
 *
 * @return 0.
 */
int ucs_empty_function_return_zero_int(void);

/**
 * Answers 0.
 *
 * @return 0.
 */
size_t ucs_empty_function_return_zero_size_t(void);

/**
 * Answers UCS_OK.
 *
 * @return UCS_OK.
 */
ucs_status_t ucs_empty_function_return_success(void);

/**
 * Answers UCS_ERR_UNSUPPORTED.
 *
 * @return UCS_ERR_UNSUPPORTED.
 */
ucs_status_t ucs_empty_function_return_unsupported(void);

/**
 * Answers UCS_ERR_UNSUPPORTED, as a pointer.
 *
 * @return UCS_ERR_UNSUPPORTED.
 */
ucs_status_ptr_t ucs_empty_function_return_ptr_unsupported(void);

/**
 * Answers UCS_INPROGRESS.
 *
 * @return UCS_INPROGRESS.
 */
ucs_status_t ucs_empty_function_return_inprogress(void);

/**
 * Answers UCS_ERR_NO_RESOURCE.
 *
 * @return UCS_ERR_NO_RESOURCE.
 */
ucs_status_t ucs_empty_function_return_no_resource(void);

/**
 * Answers UCS_ERR_INVALID_PARAM.
 *
 * @return UCS_ERR_INVALID_PARAM.
 */
ucs_status_t ucs_empty_function_return_invalid_param(void);

/**
 * Answers UCS_ERR_NO_RESOURCE, as a pointer.
 *
 * @return UCS_ERR_NO_RESOURCE.
 */
ucs_status_ptr_t ucs_empty_function_return_ptr_no_resource(void);

/**
 * Answers UCS_ERR_ENDPOINT_TIMEOUT.
 *
 * @return UCS_ERR_ENDPOINT_TIMEOUT.
 */
ucs_status_t ucs_empty_function_return_ep_timeout(void);

/**
 * Answers UCS_ERR_ENDPOINT_TIMEOUT, as a length.
 *
 * @return UCS_ERR_ENDPOINT_TIMEOUT.
 */
ssize_t ucs_empty_function_return_bc_ep_timeout(void);

/**
 * Answers UCS_ERR_BUSY.
 *
 * @return UCS_ERR_BUSY.
 */
ucs_status_t ucs_empty_function_return_busy(void);

/**
 * Stands where no call may happen: ends the process.
 *
 * @return It does not return.
 */
int ucs_empty_function_do_assert(void);

/** Stands where no call may happen: ends the process. */
void ucs_empty_function_do_assert_void(void);

END_C_DECLS

#endif
