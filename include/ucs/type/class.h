/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_TYPE_CLASS_H
#define FERRUCX_UCS_TYPE_CLASS_H

#include <ucs/sys/compiler_def.h>
#include <ucs/sys/preprocessor.h>
#include <ucs/type/status.h>
#include <stddef.h>

BEGIN_C_DECLS

typedef struct ucs_class ucs_class_t;

/**
 * A constructor: after the object come its class, the count of constructors that ended well, and its own arguments.
 *
 * @param[in] self The object.
 * @return UCS_OK, or an error.
 */
typedef ucs_status_t (*ucs_class_init_func_t)(void *self, ...);

/**
 * A destructor.
 *
 * @param[in] self The object.
 */
typedef void (*ucs_class_cleanup_func_t)(void *self);

/** A class. */
struct ucs_class {
    /** Name of the class. */
    const char *name;
    /** Bytes of an object. */
    size_t size;
    /** The parent. */
    ucs_class_t *superclass;
    /** Constructor. */
    ucs_class_init_func_t init;
    /** Destructor. */
    ucs_class_cleanup_func_t cleanup;
};

/**
 * Calls the destructors of a class and of those above it, all of them for -1, else the `limit` highest, counted with
 * the one above all others.
 *
 * @param[in] cls The class.
 * @param[in] obj The object.
 * @param[in] limit Number of destructors, or -1 for all.
 */
void ucs_class_call_cleanup_chain(ucs_class_t *cls,
                                  void *obj,
                                  int limit);

/**
 * Memory for an object; NULL when there is none.
 *
 * @param[in] cls The class.
 * @return The memory, or NULL.
 */
void *ucs_class_malloc(ucs_class_t *cls);

/**
 * Frees such memory.
 *
 * @param[in] obj The memory.
 */
void ucs_class_free(void *obj);

/**
 * Logs an error where a constructor's status and its object contradict each other.
 *
 * @param[in] status Status of the constructor.
 * @param[in] obj The object, or NULL.
 */
void ucs_class_check_new_func_result(ucs_status_t status, void *obj);

/**
 * The constructor of the class above all others, which does nothing.
 *
 * @param[in] self The object.
 * @param[in] myclass Not read.
 * @param[in,out] init_count Not read.
 * @return UCS_OK.
 */
ucs_status_t void_init(void *self, ucs_class_t *myclass, int *init_count);

/**
 * Its destructor.
 *
 * @param[in] self The object.
 */
void void_cleanup(void *self);

/* A class `x` is a structure `x` with the functions `x_init` and `x_cleanup` and the object `x_class`. A class
 * with a parent has it as its first member, `super`. An object is made from the top of the chain down. */

/* Names of what a class consists of. */
#define UCS_CLASS_NAME(_type)             UCS_PP_TOKENPASTE(_type, _class)
#define UCS_CLASS_DECL_NAME(_type)        UCS_CLASS_NAME(_type)
#define UCS_CLASS_INIT_NAME_OF(_type)     UCS_PP_TOKENPASTE(_type, _init)
#define UCS_CLASS_CLEANUP_NAME_OF(_type)  UCS_PP_TOKENPASTE(_type, _cleanup)
#define UCS_CLASS_NEW_FUNC_NAME(_type)    UCS_PP_TOKENPASTE(_type, _new)
#define UCS_CLASS_DELETE_FUNC_NAME(_type) UCS_PP_TOKENPASTE(_type, _delete)
/* Clients write these two themselves. */
#define _UCS_CLASS_DECL_NAME(_type)       UCS_CLASS_NAME(_type)
#define _UCS_CLASS_INIT_NAME(_type)       UCS_CLASS_INIT_NAME_OF(_type)
#define _UCS_CLASS_CLEANUP_NAME(_type)    UCS_CLASS_CLEANUP_NAME_OF(_type)

/** Head of the constructor: the types and names of its own arguments follow the class. */
#define UCS_CLASS_INIT_FUNC(_type, ...) \
    ucs_status_t UCS_CLASS_INIT_NAME_OF(_type)(_type *self, ucs_class_t *_myclass, \
                                               int *_init_count, ##__VA_ARGS__)
/** Head of the destructor. */
#define UCS_CLASS_CLEANUP_FUNC(_type) void UCS_CLASS_CLEANUP_NAME_OF(_type)(_type *self)

/** Declares a class; the types of its constructor's arguments follow. */
#define UCS_CLASS_DECLARE(_type, ...) \
    extern ucs_class_t UCS_CLASS_NAME(_type); \
    UCS_CLASS_INIT_FUNC(_type, ##__VA_ARGS__);

/** Defines a class; its parent is `void` when it has none. */
#define UCS_CLASS_DEFINE(_type, _super) \
    extern ucs_class_t UCS_CLASS_NAME(_super); \
    ucs_class_t UCS_CLASS_NAME(_type) = {UCS_PP_QUOTE(_type), sizeof(_type), &UCS_CLASS_NAME(_super), \
                                         (ucs_class_init_func_t)UCS_CLASS_INIT_NAME_OF(_type), \
                                         (ucs_class_cleanup_func_t)UCS_CLASS_CLEANUP_NAME_OF(_type)};

/** Makes an object in the caller's memory; what was made of it is undone on an error, which is the value. */
#define UCS_CLASS_INIT(_type, _obj, ...) \
    __extension__ ({ \
        void *ucs_class_obj     = (_obj); \
        int ucs_class_made      = 1; \
        ucs_status_t ucs_class_status = UCS_CLASS_INIT_NAME_OF(_type)( \
                (_type*)ucs_class_obj, &UCS_CLASS_NAME(_type), &ucs_class_made, ##__VA_ARGS__); \
        if (ucs_class_status != UCS_OK) { \
            ucs_class_call_cleanup_chain(&UCS_CLASS_NAME(_type), ucs_class_obj, ucs_class_made); \
        } \
        ucs_class_status; \
    })

/** Undoes an object of the class at `_cls`; its memory stays. */
#define UCS_CLASS_CLEANUP_CALL(_cls, _obj) ucs_class_call_cleanup_chain(_cls, _obj, -1)
/** The same, by the name of the class; a statement. */
#define UCS_CLASS_CLEANUP(_type, _obj) \
    { \
        UCS_CLASS_CLEANUP_CALL(&UCS_CLASS_NAME(_type), _obj); \
    }

/** Makes an object on the heap and stores where, or NULL; the value is a status. */
#define UCS_CLASS_NEW(_type, _obj, ...) \
    __extension__ ({ \
        ucs_status_t ucs_class_result = UCS_ERR_NO_MEMORY; \
        void *ucs_class_new           = ucs_class_malloc(&UCS_CLASS_NAME(_type)); \
        if (ucs_class_new != NULL) { \
            ucs_class_result = UCS_CLASS_INIT(_type, ucs_class_new, ##__VA_ARGS__); \
            if (ucs_class_result != UCS_OK) { \
                ucs_class_free(ucs_class_new); \
                ucs_class_new = NULL; \
            } \
        } \
        *(_obj) = (ucs_typeof(*(_obj)))ucs_class_new; \
        ucs_class_result; \
    })
/** Undoes an object and frees it; a statement. */
#define UCS_CLASS_DELETE(_type, _obj) \
    { \
        UCS_CLASS_CLEANUP(_type, _obj); \
        ucs_class_free(_obj); \
    }

/** In a constructor: makes the parent's part, and leaves with its error; a statement. */
#define UCS_CLASS_CALL_SUPER_INIT(_superclass, ...) \
    { \
        ucs_status_t ucs_class_super = UCS_CLASS_INIT_NAME_OF(_superclass)( \
                &self->super, _myclass->superclass, _init_count, ##__VA_ARGS__); \
        if (ucs_class_super != UCS_OK) { \
            return ucs_class_super; \
        } \
        *_init_count += (_myclass->superclass != &UCS_CLASS_NAME(void)); \
    }

/* Functions that make and delete objects. `_argtype` is the type of the pointer that they take, a parent's or
 * the class itself; the types of the constructor's arguments follow. */
#define UCS_CLASS_DECLARE_NAMED_NEW_FUNC(_name, _argtype, ...) \
    ucs_status_t _name(UCS_PP_FOREACH(_UCS_CLASS_INIT_ARG_DEFINE, _, \
                                      UCS_PP_ZIP((UCS_PP_SEQ(UCS_PP_NUM_ARGS(__VA_ARGS__))), \
                                                 (__VA_ARGS__))) _argtype **obj_p)
#define UCS_CLASS_DEFINE_NAMED_NEW_FUNC(_name, _type, _argtype, ...) \
    UCS_CLASS_DECLARE_NAMED_NEW_FUNC(_name, _argtype, ##__VA_ARGS__) \
    { \
        ucs_status_t status = UCS_CLASS_NEW( \
                _type, obj_p UCS_PP_FOREACH(_UCS_CLASS_INIT_ARG_PASS, _, \
                                            UCS_PP_SEQ(UCS_PP_NUM_ARGS(__VA_ARGS__)))); \
        ucs_class_check_new_func_result(status, *obj_p); \
        return status; \
    }
#define UCS_CLASS_DECLARE_NAMED_DELETE_FUNC(_name, _argtype) void _name(_argtype *self)
#define UCS_CLASS_DEFINE_NAMED_DELETE_FUNC(_name, _type, _argtype) \
    UCS_CLASS_DECLARE_NAMED_DELETE_FUNC(_name, _argtype) \
    { \
        UCS_CLASS_DELETE(_type, self); \
    }
/* The same under the names `x_new` and `x_delete`. */
#define UCS_CLASS_DECLARE_NEW_FUNC(_type, _argtype, ...) \
    UCS_CLASS_DECLARE_NAMED_NEW_FUNC(UCS_CLASS_NEW_FUNC_NAME(_type), _argtype, ##__VA_ARGS__)
#define UCS_CLASS_DEFINE_NEW_FUNC(_type, _argtype, ...) \
    UCS_CLASS_DEFINE_NAMED_NEW_FUNC(UCS_CLASS_NEW_FUNC_NAME(_type), _type, _argtype, ##__VA_ARGS__)
#define UCS_CLASS_DECLARE_DELETE_FUNC(_type, _argtype) \
    UCS_CLASS_DECLARE_NAMED_DELETE_FUNC(UCS_CLASS_DELETE_FUNC_NAME(_type), _argtype)
#define UCS_CLASS_DEFINE_DELETE_FUNC(_type, _argtype) \
    UCS_CLASS_DEFINE_NAMED_DELETE_FUNC(UCS_CLASS_DELETE_FUNC_NAME(_type), _type, _argtype)

#define _UCS_CLASS_INIT_ARG_PASS(_, _index) , UCS_PP_TOKENPASTE(arg, _index)
#define _UCS_CLASS_INIT_ARG_DEFINE(_, _pair) UCS_PP_PARAMETER(_, _pair),

/** The class above all others, which is empty. */
extern ucs_class_t void_class;

END_C_DECLS

#endif
