#include <ucs/datastruct/string_buffer.h>
#include <ucs/sys/compiler_def.h>
#include <ucs/type/status.h>
#include <stdint.h>

BEGIN_C_DECLS

/* A tree of directories and files in the memory of the process. An object of a client is a directory; a file is a
 * function that writes, or reads, its text. */

@ITEMS@

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
