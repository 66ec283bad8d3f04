/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_SYS_PREPROCESSOR_H
#define FERRUCX_UCS_SYS_PREPROCESSOR_H

/* Lists of macro arguments: counting them, and a macro applied to each. */

/** Text of a token, not expanded. */
#define UCS_PP_QUOTE(x)             #x
/** Text of a token after its expansion. */
#define UCS_PP_MAKE_STRING(x)       UCS_PP_QUOTE(x)
/** The expansion of a token. */
#define UCS_PP_EXPAND(x)            x

/* Two and three tokens as one, before and after their expansion. */
#define UCS_PP_PASTE_2(x, y)        x##y
#define UCS_PP_PASTE_3(x, y, z)     x##y##z
#define UCS_PP_TOKENPASTE(x, y)     UCS_PP_PASTE_2(x, y)
#define UCS_PP_TOKENPASTE3(x, y, z) UCS_PP_PASTE_3(x, y, z)

/** A number that no other use in this file gets. */
#ifdef __COUNTER__
#  define UCS_PP_UNIQUE_ID __COUNTER__
#else
#  define UCS_PP_UNIQUE_ID __LINE__
#endif
/** An identifier that no other use in this file gets. */
#define UCS_PP_APPEND_UNIQUE_ID(x)  UCS_PP_TOKENPASTE(x, UCS_PP_UNIQUE_ID)

/** Longest list of arguments that the macros below take. */
#define UCS_PP_MAX_ARGS 21
/** Number of arguments. */
#define UCS_PP_NUM_ARGS(...) \
    UCS_PP_COUNT(0, ##__VA_ARGS__, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define UCS_PP_COUNT(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _count, ...) _count

/** `_macro(_arg, x)` for each further argument x. */
#define UCS_PP_FOREACH(_macro, _arg, ...) \
    UCS_PP_TOKENPASTE(UCS_PP_EACH_, UCS_PP_NUM_ARGS(__VA_ARGS__))(UCS_PP_NOTHING, _macro, _arg, __VA_ARGS__)
/** The same, with commas between. */
#define UCS_PP_FOREACH_SEP(_macro, _arg, ...) \
    UCS_PP_TOKENPASTE(UCS_PP_EACH_, UCS_PP_NUM_ARGS(__VA_ARGS__))(UCS_PP_COMMA, _macro, _arg, __VA_ARGS__)

#define UCS_PP_NOTHING()
#define UCS_PP_COMMA() ,
#define UCS_PP_EACH_0(...)
#define UCS_PP_EACH_1(_sep, _macro, _arg, _x) _macro(_arg, _x)
#define UCS_PP_EACH_2(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_1(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_3(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_2(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_4(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_3(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_5(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_4(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_6(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_5(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_7(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_6(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_8(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_7(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_9(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_8(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_10(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_9(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_11(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_10(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_12(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_11(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_13(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_12(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_14(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_13(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_15(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_14(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_16(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_15(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_17(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_16(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_18(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_17(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_19(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_18(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_20(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_19(_sep, _macro, _arg, __VA_ARGS__)
#define UCS_PP_EACH_21(_sep, _macro, _arg, _x, ...) \
    _macro(_arg, _x) _sep() UCS_PP_EACH_20(_sep, _macro, _arg, __VA_ARGS__)

/** Pairs of two lists: `(a, b)` and `(1, 2)` become `(a, 1), (b, 2)`. At most ten elements. */
#define UCS_PP_ZIP(_l1, _l2) UCS_PP_TOKENPASTE(UCS_PP_ZIP_, UCS_PP_NUM_ARGS _l1)(_l1, _l2)

#define UCS_PP_FIRST(_x, ...)    _x
#define UCS_PP_BUT_FIRST(_x, ...) (__VA_ARGS__)
#define UCS_PP_ZIP_0(_l1, _l2)
#define UCS_PP_ZIP_1(_l1, _l2) (UCS_PP_FIRST _l1, UCS_PP_FIRST _l2)
#define UCS_PP_ZIP_2(_l1, _l2) \
    UCS_PP_ZIP_1(_l1, _l2), UCS_PP_ZIP_1(UCS_PP_BUT_FIRST _l1, UCS_PP_BUT_FIRST _l2)
#define UCS_PP_ZIP_3(_l1, _l2) \
    UCS_PP_ZIP_1(_l1, _l2), UCS_PP_ZIP_2(UCS_PP_BUT_FIRST _l1, UCS_PP_BUT_FIRST _l2)
#define UCS_PP_ZIP_4(_l1, _l2) \
    UCS_PP_ZIP_1(_l1, _l2), UCS_PP_ZIP_3(UCS_PP_BUT_FIRST _l1, UCS_PP_BUT_FIRST _l2)
#define UCS_PP_ZIP_5(_l1, _l2) \
    UCS_PP_ZIP_1(_l1, _l2), UCS_PP_ZIP_4(UCS_PP_BUT_FIRST _l1, UCS_PP_BUT_FIRST _l2)
#define UCS_PP_ZIP_6(_l1, _l2) \
    UCS_PP_ZIP_1(_l1, _l2), UCS_PP_ZIP_5(UCS_PP_BUT_FIRST _l1, UCS_PP_BUT_FIRST _l2)
#define UCS_PP_ZIP_7(_l1, _l2) \
    UCS_PP_ZIP_1(_l1, _l2), UCS_PP_ZIP_6(UCS_PP_BUT_FIRST _l1, UCS_PP_BUT_FIRST _l2)
#define UCS_PP_ZIP_8(_l1, _l2) \
    UCS_PP_ZIP_1(_l1, _l2), UCS_PP_ZIP_7(UCS_PP_BUT_FIRST _l1, UCS_PP_BUT_FIRST _l2)
#define UCS_PP_ZIP_9(_l1, _l2) \
    UCS_PP_ZIP_1(_l1, _l2), UCS_PP_ZIP_8(UCS_PP_BUT_FIRST _l1, UCS_PP_BUT_FIRST _l2)
#define UCS_PP_ZIP_10(_l1, _l2) \
    UCS_PP_ZIP_1(_l1, _l2), UCS_PP_ZIP_9(UCS_PP_BUT_FIRST _l1, UCS_PP_BUT_FIRST _l2)

/* One argument of a list, counted from 0. */
#define UCS_PP_TUPLE_0(_0, ...) _0
#define UCS_PP_TUPLE_1(_0, _1, ...) _1
#define UCS_PP_TUPLE_2(_0, _1, _2, ...) _2
#define UCS_PP_TUPLE_3(_0, _1, _2, _3, ...) _3
#define UCS_PP_TUPLE_4(_0, _1, _2, _3, _4, ...) _4
#define UCS_PP_TUPLE_5(_0, _1, _2, _3, _4, _5, ...) _5
#define UCS_PP_TUPLE_6(_0, _1, _2, _3, _4, _5, _6, ...) _6
#define UCS_PP_TUPLE_7(_0, _1, _2, _3, _4, _5, _6, _7, ...) _7
#define UCS_PP_TUPLE_8(_0, _1, _2, _3, _4, _5, _6, _7, _8, ...) _8
#define UCS_PP_TUPLE_9(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, ...) _9
#define UCS_PP_TUPLE_10(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, ...) _10
/** A list without its parentheses: write it before one. */
#define UCS_PP_TUPLE_BREAK(...) __VA_ARGS__

/** The numbers from 0 to `_n` - 1, with commas between. */
#define UCS_PP_SEQ(_n) UCS_PP_TOKENPASTE(UCS_PP_SEQ_, _n)
#define UCS_PP_SEQ_0
#define UCS_PP_SEQ_1 0
#define UCS_PP_SEQ_2 UCS_PP_SEQ_1, 1
#define UCS_PP_SEQ_3 UCS_PP_SEQ_2, 2
#define UCS_PP_SEQ_4 UCS_PP_SEQ_3, 3
#define UCS_PP_SEQ_5 UCS_PP_SEQ_4, 4
#define UCS_PP_SEQ_6 UCS_PP_SEQ_5, 5
#define UCS_PP_SEQ_7 UCS_PP_SEQ_6, 6
#define UCS_PP_SEQ_8 UCS_PP_SEQ_7, 7
#define UCS_PP_SEQ_9 UCS_PP_SEQ_8, 8
#define UCS_PP_SEQ_10 UCS_PP_SEQ_9, 9
#define UCS_PP_SEQ_11 UCS_PP_SEQ_10, 10
#define UCS_PP_SEQ_12 UCS_PP_SEQ_11, 11
#define UCS_PP_SEQ_13 UCS_PP_SEQ_12, 12
#define UCS_PP_SEQ_14 UCS_PP_SEQ_13, 13
#define UCS_PP_SEQ_15 UCS_PP_SEQ_14, 14
#define UCS_PP_SEQ_16 UCS_PP_SEQ_15, 15
#define UCS_PP_SEQ_17 UCS_PP_SEQ_16, 16
#define UCS_PP_SEQ_18 UCS_PP_SEQ_17, 17
#define UCS_PP_SEQ_19 UCS_PP_SEQ_18, 18
#define UCS_PP_SEQ_20 UCS_PP_SEQ_19, 19
#define UCS_PP_SEQ_21 UCS_PP_SEQ_20, 20

/** Parameters of the given types, named arg0, arg1 and so on. */
#define UCS_FUNC_DEFINE_ARGS(...) \
    UCS_PP_FOREACH_SEP(UCS_PP_PARAMETER, _, \
                       UCS_PP_ZIP((UCS_PP_SEQ(UCS_PP_NUM_ARGS(__VA_ARGS__))), (__VA_ARGS__)))
/** The names of these parameters. */
#define UCS_FUNC_PASS_ARGS(...) \
    UCS_PP_FOREACH_SEP(UCS_PP_PARAMETER_NAME, _, UCS_PP_SEQ(UCS_PP_NUM_ARGS(__VA_ARGS__)))

#define UCS_PP_PARAMETER_NAME(_, _index)         UCS_PP_TOKENPASTE(arg, _index)
#define UCS_PP_PARAMETER(_, _pair)               UCS_PP_PARAMETER_OF(UCS_PP_TUPLE_BREAK _pair)
#define UCS_PP_PARAMETER_OF(...)                 UCS_PP_PARAMETER_TYPED(__VA_ARGS__)
#define UCS_PP_PARAMETER_TYPED(_index, _type)    _type UCS_PP_TOKENPASTE(arg, _index)

#endif
