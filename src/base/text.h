/* Text that is built in memory and then written to a file at once, such as trace files, exports and charts. If memory
 * runs out, all later calls do nothing, and hd_text_write returns the error. */
#ifndef HD_BASE_TEXT_H
#define HD_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct hd_text {
	char *data; /* owns */
	size_t length, size;
	int failed;
};

void hd_text_free(struct hd_text *text);
void hd_text_add(struct hd_text *text, const void *bytes, size_t n);
void hd_text_put(struct hd_text *text, const char *s);
void hd_text_char(struct hd_text *text, char c);
void hd_text_format(struct hd_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hd_text_uint(struct hd_text *text, uint64_t value);
void hd_text_int(struct hd_text *text, int64_t value);
/* Writes a finite number such that hd_real_parse reads the same double. */
void hd_text_real(struct hd_text *text, double value);
/* Writes a number rounded to `decimals` (at most 9) without trailing zeros. With 3 decimals, times in us are precise to
 * the nanosecond. */
void hd_text_fixed(struct hd_text *text, double value, int decimals);
/* Writes `s` as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void hd_text_json(struct hd_text *text, const char *s);
/* Replaces the file atomically by the text, and frees the text even if that fails. HEDDLE_E_IO, HEDDLE_E_MEMORY. */
int hd_text_write(struct hd_text *text, const char *path);

/* Reads the number at *p, which must be before `end`, and moves *p behind the number. Returns 0 if there is no number,
 * otherwise 1. The byte after the text must be one that cannot belong to a number, such as the NUL of hd_file_read. */
int hd_real_parse(const char **p, const char *end, double *out);
int hd_uint_parse(const char **p, const char *end, uint64_t *out);

/* Copies TEXT of the line `version: TEXT` of a YAML file; "" if there is no such line. For callers that must report a
 * wrong version even if the rest of the file cannot be parsed. */
void hd_yaml_version(const char *yaml, char *version, size_t size);

/* Names of codelets, classes and machines may contain any byte. YAML files have them in printable ASCII, with %XX for
 * each other byte, as in URLs. hd_name_is_plain: the byte is written as it is. hd_name_decode decodes in place. */
static inline int hd_name_is_plain(char c)
{
	return c >= ' ' && c <= '~' && c != '%';
}
void hd_name_decode(char *text);

/* The length in bytes of the UTF-8 character at `s`; 0: the bytes at `s` are not valid UTF-8. */
size_t hd_utf8_length(const char *s);

#endif
