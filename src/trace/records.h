/* The lists of a trace whose records consist of numbers. They are described in one place, which reading, writing,
 * checking and sorting use. */
#ifndef HD_TRACE_RECORDS_H
#define HD_TRACE_RECORDS_H

#include <heddle/trace.h>

enum hd_field_kind { HD_FIELD_REAL, HD_FIELD_U64, HD_FIELD_U32, HD_FIELD_I32 };
struct hd_trace_field {
	const char *name; /* for messages; NULL: the end of the fields */
	enum hd_field_kind kind;
	size_t offset; /* of the field in the record */
};

struct hd_trace_list {
	const char *word, *noun; /* word: the first word of its lines in a file; noun: what messages call a record */
	/* list, n: offsets in struct heddle_trace of the pointer to the records and of their number; size: bytes */
	size_t list, n, size;
	struct hd_trace_field fields[13]; /* in the order of a file */
	/* What is wrong with record i, or NULL. The earlier records must have been checked. The text completes a
	 * sentence that begins with the noun. */
	const char *(*problem)(const struct heddle_trace *trace, size_t i);
	int (*compare)(const void *a, const void *b); /* for qsort; NULL: records are recorded in order */
};

/* The lists, in the order in which they are checked. */
enum { HD_TASKS, HD_TRANSFERS, HD_EDGES, HD_EXPANSIONS, HD_LAYOUTS, HD_DRIVES, HD_N_TRACE_LISTS };
extern const struct hd_trace_list hd_trace_lists[HD_N_TRACE_LISTS];

static inline size_t *hd_trace_n(const struct hd_trace_list *list, const struct heddle_trace *trace)
{
	return (size_t *)((char *)trace + list->n);
}
/* Record i of the list; NULL if there is no memory for any record. */
void *hd_trace_record(const struct hd_trace_list *list, const struct heddle_trace *trace, size_t i);

#endif
