#include <ucs/type/status.h>
#include <uct/api/uct_def.h>
#include <stdint.h>

BEGIN_C_DECLS

@ITEMS@

END_C_DECLS
