/* Text that is built in memory and then written in one piece: what the trace file, the exports and the pictures are
 * made with. A failure (no memory) sticks and is reported once, by hd_text_write. */
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
/* Decimal, such that hd_real_parse gives the same double; `value` is finite. Needs hd_numbers_begin. */
void hd_text_real(struct hd_text *text, double value);
/* Rounded to `decimals` (at most 9), without the zeros at the end: times in us to 3 for nanoseconds. */
void hd_text_fixed(struct hd_text *text, double value, int decimals);
/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void hd_text_json(struct hd_text *text, const char *s);
/* Writes the file atomically and frees the text, whatever happens. */
int hd_text_write(struct hd_text *text, const char *path);

/* The number at *p, below `end`; moves *p behind it. 0 when there is none. The text must end with a byte that belongs
 * to no number (hd_file_read's NUL will do). Needs hd_numbers_begin. */
int hd_real_parse(const char **p, const char *end, double *out);
int hd_uint_parse(const char **p, const char *end, uint64_t *out);

/* Length of the UTF-8 character at s, or 0 when it is none. */
size_t hd_utf8_length(const char *s);

/* Decimal points for the calling thread, wherever the program runs; hd_numbers_end restores what was. */
struct hd_numbers {
	void *c_locale, *before;
};
int hd_numbers_begin(struct hd_numbers *numbers);
void hd_numbers_end(struct hd_numbers *numbers);

#endif
