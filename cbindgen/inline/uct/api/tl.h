#ifndef FERRUCX_UCT_API_UCT_H
#  error "uct/api/tl.h is a part of uct/api/uct.h: include that one"
#endif

#include <ucs/config/types.h>
#include <ucs/datastruct/callbackq.h>
#include <ucs/type/status.h>
#include <uct/api/uct_def.h>
#include <stddef.h>
#include <sys/types.h>

BEGIN_C_DECLS

@ITEMS@

/** What releases a receive descriptor: a pointer to it stands just before the data. */
#define uct_recv_desc(_desc) (((uct_recv_desc_t**)(_desc))[-1])

END_C_DECLS
