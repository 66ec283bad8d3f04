#include <ucs/sys/compiler_def.h>
#include <stddef.h>

BEGIN_C_DECLS

/** In a program that is built with the address sanitizer: ends it when the range is not its own. Else nothing. */
#ifdef __SANITIZE_ADDRESS__
#  define UCS_ASAN_ADDRESS_IS_VALID(_ptr, _size) \
      ucs_debug_asan_validate_address(#_ptr, (void*)(_ptr), (_size))
#else
#  define UCS_ASAN_ADDRESS_IS_VALID(_ptr, _size)
#endif

@ITEMS@

END_C_DECLS
