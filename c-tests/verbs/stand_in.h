/* The stand-in for libibverbs (tests/fake_verbs), as a program that runs on it sees it. */
#ifndef FERRUCX_STAND_IN_H
#define FERRUCX_STAND_IN_H

#include "check.h"

#include <dlfcn.h>

/* A setting or count of the stand-in. */
static inline long *setting(const char *name)
{
    static long *(*find)(const char *);

    if (find == NULL) {
        void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);

        CHECK(library != NULL);
        find = (long *(*)(const char *))dlsym(library, "fake_verbs_setting");
        CHECK(find != NULL);
    }
    return find(name);
}

#endif
