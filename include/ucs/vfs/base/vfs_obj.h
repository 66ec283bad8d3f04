/** @file
 * Written from the Rust sources by `make headers`: change those, not this file.
 */
#ifndef FERRUCX_UCS_VFS_BASE_VFS_OBJ_H
#define FERRUCX_UCS_VFS_BASE_VFS_OBJ_H

#include <ucs/datastruct/string_buffer.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stdint.h>

BEGIN_C_DECLS

/* A tree of directories and files in the memory of the process. An object of a client is a directory; a file is a
 * function that writes, or reads, its text. */

typedef struct ucs_vfs_path_info_t ucs_vfs_path_info_t;

/**
 * Brings the nodes of an object up to date.
 *
 * @param[in] obj Address of the object.
 */
typedef void (*ucs_vfs_refresh_cb_t)(void *obj);

/** What a node is. */
struct ucs_vfs_path_info_t {
    /** Bytes of a file, or children of a directory. */
    size_t size;
    /** S_IFREG, S_IFDIR or S_IFLNK, with rights. */
    int mode;
};

/**
 * Is handed the name of each child of a directory.
 *
 * @param[in] name Name of the child, NUL-terminated.
 * @param[in] arg As it was given to `ucs_vfs_path_list_dir`.
 */
typedef void (*ucs_vfs_list_dir_cb_t)(const char *name, void *arg);

/**
 * Appends the text of a file.
 *
 * @param[in] obj Address of the object.
 * @param[in,out] strb Gets the text behind what it holds.
 * @param[in] arg_ptr As it was given with the file.
 * @param[in] arg_u64 As it was given with the file.
 */
typedef void (*ucs_vfs_file_read_cb_t)(void *obj,
                                       ucs_string_buffer_t *strb,
                                       void *arg_ptr,
                                       uint64_t arg_u64);

/**
 * Takes the text that is written to a file.
 *
 * @param[in] obj Address of the object.
 * @param[in] buffer The text.
 * @param[in] size Its bytes.
 * @param[in] arg_ptr As it was given with the file.
 * @param[in] arg_u64 As it was given with the file.
 * @return UCS_OK, or an error for a text that does not fit.
 */
typedef ucs_status_t (*ucs_vfs_file_write_cb_t)(void *obj,
                                                const char *buffer,
                                                size_t size,
                                                void *arg_ptr,
                                                uint64_t arg_u64);

/**
 * Removes an object, all below it, and links to what goes.
 *
 * @param[in] obj Address of the object.
 */
void ucs_vfs_obj_remove(void *obj);

/**
 * Has `refresh_cb` called, once, before somebody looks at an object's directory.
 *
 * @param[in] obj Address of the object.
 * @param[in] refresh_cb Brings the object's nodes up to date.
 */
void ucs_vfs_obj_set_dirty(void *obj, ucs_vfs_refresh_cb_t refresh_cb);

/**
 * What the node at a path is. UCS_ERR_NO_ELEM without one.
 *
 * @param[in] path Path, NUL-terminated.
 * @param[out] info What the node is.
 * @return UCS_OK; UCS_ERR_NO_ELEM when there is none.
 */
ucs_status_t ucs_vfs_path_get_info(const char *path, ucs_vfs_path_info_t *info);

/**
 * Appends a file's text. UCS_ERR_NO_ELEM for what is no file.
 *
 * @param[in] path Path, NUL-terminated.
 * @param[in,out] strb Gets the text behind what it holds.
 * @return UCS_OK; UCS_ERR_NO_ELEM when there is none.
 */
ucs_status_t ucs_vfs_path_read_file(const char *path, ucs_string_buffer_t *strb);

/**
 * Writes a text to a file; answers what its function does, or UCS_ERR_NO_ELEM where there is none.
 *
 *
 * @param[in] path Path, NUL-terminated.
 * @param[in] buffer The text.
 * @param[in] size Its bytes.
 * @return UCS_OK; UCS_ERR_NO_ELEM when there is none; the error of the file's function.
 */
ucs_status_t ucs_vfs_path_write_file(const char *path,
                                     const char *buffer,
                                     size_t size);

/**
 * Calls `dir_cb` with the name of each child of a directory. UCS_ERR_NO_ELEM for what is none.
 *
 *
 * @param[in] path Path, NUL-terminated.
 * @param[in] dir_cb Gets each name.
 * @param[in] arg Its last argument.
 * @return UCS_OK; UCS_ERR_NO_ELEM when there is none.
 */
ucs_status_t ucs_vfs_path_list_dir(const char *path,
                                   ucs_vfs_list_dir_cb_t dir_cb,
                                   void *arg);

/**
 * Appends the text of a link, the way from its directory to the target. UCS_ERR_NO_ELEM for what is none.
 *
 *
 * @param[in] path Path, NUL-terminated.
 * @param[in,out] strb Gets the text behind what it holds.
 * @return UCS_OK; UCS_ERR_NO_ELEM when there is none.
 */
ucs_status_t ucs_vfs_path_get_link(const char *path,
                                   ucs_string_buffer_t *strb);

/* Each adds one node below the directory of an object, or below the root for NULL; its path is formatted as by printf. */

/**
 * A directory for `obj`. A name that is taken gets the address of `obj` behind it.
 *
 * @param[in] parent_obj Address of the object above; NULL for the root.
 * @param[in] obj Address of the object.
 * @param[in] rel_path Name below the object's directory, as of printf(3).
 * @return UCS_OK, or an error.
 */
ucs_status_t ucs_vfs_obj_add_dir(void *parent_obj, void *obj, const char *rel_path, ...)
        UCS_F_PRINTF(3, 4);
/**
 * A file to read.
 *
 * @param[in] obj Address of the object.
 * @param[in] read_cb Appends the text.
 * @param[in] arg_ptr Argument of the function.
 * @param[in] arg_u64 Another one.
 * @param[in] rel_path Name below the object's directory, as of printf(3).
 * @return UCS_OK, or an error.
 */
ucs_status_t ucs_vfs_obj_add_ro_file(void *obj, ucs_vfs_file_read_cb_t read_cb, void *arg_ptr,
                                     uint64_t arg_u64, const char *rel_path, ...) UCS_F_PRINTF(5, 6);
/**
 * A file to read and write.
 *
 * @param[in] obj Address of the object.
 * @param[in] read_cb Appends the text.
 * @param[in] write_cb Takes the text.
 * @param[in] arg_ptr Argument of the functions.
 * @param[in] arg_u64 Another one.
 * @param[in] rel_path Name below the object's directory, as of printf(3).
 * @return UCS_OK, or an error.
 */
ucs_status_t ucs_vfs_obj_add_rw_file(void *obj, ucs_vfs_file_read_cb_t read_cb,
                                     ucs_vfs_file_write_cb_t write_cb, void *arg_ptr,
                                     uint64_t arg_u64, const char *rel_path, ...) UCS_F_PRINTF(6, 7);
/**
 * A link to the directory of `target_obj`.
 *
 * @param[in] obj Address of the object.
 * @param[in] target_obj Address of the object that the link leads to.
 * @param[in] rel_path Name below the object's directory, as of printf(3).
 * @return UCS_OK, or an error.
 */
ucs_status_t ucs_vfs_obj_add_sym_link(void *obj, void *target_obj, const char *rel_path, ...)
        UCS_F_PRINTF(3, 4);

END_C_DECLS

#endif
