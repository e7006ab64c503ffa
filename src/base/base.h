/* Basic services of every room: errors, random numbers, hashing, files, time. The only state is each thread's error
 * message. */
#ifndef HD_BASE_BASE_H
#define HD_BASE_BASE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <heddle/status.h>

#define HD_VERSION "0.1.0" /* Heddle's version, as in CMakeLists.txt */
#define HD_CACHE_LINE 64
enum { HD_NODE_BITS = 64 }; /* a set of memory nodes is a word, in which node i has the bit i % HD_NODE_BITS */
#define HD_LIKELY(x) __builtin_expect(!!(x), 1)
#define HD_UNLIKELY(x) __builtin_expect(!!(x), 0)
static inline size_t hd_round_up(size_t size, size_t step)
{
	return (size + step - 1) / step * step;
}

/* Sets the message that heddle_last_error returns in this thread; returns `status`, so that `return hd_error(...)`
 * reads well. */
int hd_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* Puts the formatted text and ": " before the message that is set, and sets the status. */
int hd_error_context(int status, const char *format, ...) __attribute__((format(printf, 2, 3), cold));
/* Sets the message for the failure of a task. `code`: what its kernel returned, or with which its event was fulfilled;
 * 0: neither. */
int hd_error_of_task(int status, int code, const char *sentence) __attribute__((cold));
/* Keeps the thread's last error while a function makes calls that may fail although the function itself succeeds:
 * hd_error_keep saves the error at the function's beginning, hd_error_give_back restores it at its end. So
 * heddle_last_error always describes the last public call that failed. */
struct hd_sentence {
	int status;
	int code; /* what heddle_last_code returns */
	char text[1024];
};
void hd_error_keep(struct hd_sentence *kept);
void hd_error_give_back(const struct hd_sentence *kept);
/* Clears the thread's last error, so that a later one belongs to a later call. */
void hd_error_clear(void);
/* The status that came with the thread's last error. */
int hd_error_status(void);
/* Returns HEDDLE_E_MEMORY after the message "out of memory for WHAT". */
int hd_no_memory(const char *what) __attribute__((cold));

/* Random numbers by xoshiro256++: the same sequence on every machine. */
struct hd_rng {
	uint64_t s[4];
};
void hd_rng_seed(struct hd_rng *rng, uint64_t seed);
uint64_t hd_rng_next(struct hd_rng *rng);
double hd_rng_uniform(struct hd_rng *rng); /* [0, 1) */
double hd_rng_normal(struct hd_rng *rng);  /* mean 0, standard deviation 1 */

static inline uint64_t hd_mix(uint64_t x) /* splitmix64's finaliser: a bijection that spreads every bit */
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}
static inline uint64_t hd_hash(uint64_t seed, uint64_t value)
{
	return hd_mix(seed * 0x9e3779b97f4a7c15u + value);
}
/* Combines the hash `h` of a sequence with the next element's hash. Cheaper than hd_hash, for values that are hashes
 * already. */
static inline uint64_t hd_fold(uint64_t h, uint64_t hash)
{
	h = (h ^ hash) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 32);
}
/* The longest time that is accepted, us: 31 years. Sums of longer times would lose microseconds, and products could
 * become infinite. */
#define HD_MOST_US 1e15

uint64_t hd_hash_string(const char *s);
uint64_t hd_hash_reals(const double *x, size_t n); /* hashes the bits, so 0 and -0 differ */

/* Binary search in an array of n elements of `size` bytes. Each element begins with its key, a uint64_t, by which the
 * array is sorted. Returns the index of the first element whose key is at least `key`, or n. */
size_t hd_search(const void *elements, size_t n, size_t size, uint64_t key);

/* hd_chunk_new allocates a chunk of memory for many small objects; its owner frees it with free(). NULL when out of
 * memory. hd_chunk_size: the size of the chunk after one of `last` bytes (0: of the first chunk). */
size_t hd_chunk_size(size_t last);
void *hd_chunk_new(size_t size);
/* An arena: pieces of memory that are freed all at once. An arena of zeros is empty. Not thread-safe. */
struct hd_arena {
	struct hd_chunk *chunks; /* owns; the newest first */
	size_t used, size;       /* bytes of the newest chunk: in use; in all */
};
/* Takes a piece of `size` bytes; `alignment` is at most HD_CACHE_LINE. NULL when out of memory. */
void *hd_arena_take(struct hd_arena *a, size_t size, size_t alignment);
void hd_arena_close(struct hd_arena *a);

/* Conversion of numbers with a decimal point, whatever the program's locale. hd_real is strtod, hd_print_into is
 * snprintf, hd_print_list is vsnprintf. */
double hd_real(const char *text, char **end);
int hd_print_into(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int hd_print_list(char *buffer, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));
/* asprintf with a decimal point. The caller frees the string. NULL when out of memory. */
char *hd_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *hd_format_list(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
/* Copies a text for output on a terminal, into `size` bytes. Control characters, except line ends and tabulators, and
 * bytes that are not UTF-8 become \xNN. A text that does not fit is cut. */
void hd_printable(char *to, size_t size, const char *from);
/* fprintf for people: numbers with a decimal point, and the text made printable by hd_printable. Negative: it
 * failed. */
int hd_print(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
int hd_print_args(FILE *out, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* The upper-case and lower-case letter in ASCII, whatever the locale; other characters are returned unchanged. */
int hd_upper(int c);
int hd_lower(int c);

/* Reads a whole regular file or pipe of at most HD_FILE_MOST bytes. *data ends with a NUL; the caller frees it.
 * HEDDLE_E_IO. */
#define HD_FILE_MOST ((size_t)4 << 30)
int hd_file_read(const char *path, char **data, size_t *length);
/* Reads a whole file that Heddle itself has written. Refuses a file of more than `most` bytes, and anything but a
 * regular file, because reading a pipe or a device may never end. */
int hd_file_read_regular(const char *path, size_t most, char **data, size_t *length);
int hd_file_is_special(const char *path); /* 1: `path` exists, and is a directory, pipe or device */
/* Replaces a file atomically: writes a temporary file beside `path` and renames it. The file keeps its mode, and its
 * owner and group as far as the process may set them, but not its access lists and extended attributes. Symbolic links
 * are followed. Devices, pipes, files with several hard links, and missing targets of symbolic links are written
 * directly, so not atomically. The directory must exist, because a missing directory is more often a misspelling than
 * meant. HEDDLE_E_IO. */
int hd_file_write(const char *path, const char *data, size_t length);
/* Returns HEDDLE_E_IO with a message for a file that could not be opened or written. The reason is taken from errno; if
 * the directory is missing, the message says so. */
int hd_file_cannot_write(const char *path);
/* Makes the missing directories above `path`, for files that Heddle itself writes. HEDDLE_E_IO. */
int hd_parents_make(const char *path);
/* Whether a file called `name` is a temporary file of hd_file_write whose process has been killed. If so, returns the
 * length of the part of `name` that is the name of the file to be replaced; otherwise 0. */
size_t hd_file_abandoned(const char *name);
/* $XDG_DATA_HOME/heddle or ~/.local/share/heddle, malloc'd; NULL when neither is set. */
char *hd_data_dir(void);
/* *folder: the folder of the file that contains this code, malloc'd: that of the shared library, or of the program that
 * is linked with the static library; *is_library says which. NULL: the folder cannot be found out. HEDDLE_E_MEMORY. */
int hd_own_folder(char **folder, int *is_library);
/* $XDG_CACHE_HOME/heddle or ~/.cache/heddle, for files that can be made again, malloc'd; NULL when neither is set. */
char *hd_cache_dir(void);

/* Writes the name of the environment variable HEDDLE_<A>_<B>: in capitals, '-' becomes '_'. HEDDLE_DADA_ALPHA for
 * "dada", "alpha". */
enum { HD_VARIABLE = 128 };
void hd_variable_name(char name[HD_VARIABLE], const char *a, const char *b);
/* The value of the variable HEDDLE_<A>_<B>. NULL: it is not set, or empty. */
const char *hd_variable(const char *a, const char *b);
/* The value of an environment variable. NULL: it is not set, or hd_getenv_is_trusted is 0: the program has more rights
 * than its caller (setuid, setgid, capabilities), whose variables must not tell it which files to use. */
const char *hd_getenv(const char *name);
int hd_getenv_is_trusted(void);

/* 1 or 0 for a word that says yes or no, -1 for any other text; HD_BOOL_WORDS lists the words for messages. */
#define HD_BOOL_WORDS "0, 1, no, yes, false, true"
int hd_bool_parse(const char *text, size_t length);

/* The number of typing errors between two words, ignoring case: an extra letter, a missing one, a wrong one, or two
 * swapped neighbours. SIZE_MAX for words of more than 64 letters. */
size_t hd_slips(const char *a, const char *b);
/* The candidate most similar to `word`; NULL: none is so similar that the user can have meant it. */
const char *hd_nearest(const char *word, const char *const *candidates, size_t n);

/* The monotonic clock, us. */
double hd_clock_us(void);

#endif
