#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

BEGIN_C_DECLS

@ITEMS@

END_C_DECLS
