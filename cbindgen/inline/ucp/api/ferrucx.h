#include <stdio.h>
#include <ucs/sys/compiler_def.h>

BEGIN_C_DECLS

@ITEMS@

END_C_DECLS
