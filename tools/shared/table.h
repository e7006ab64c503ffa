/* Tables: built once, printed as text for people, CSV or JSON for programs, from the same rows. */
#ifndef HD_SHARED_TABLE_H
#define HD_SHARED_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum table_format { TABLE_TEXT, TABLE_CSV, TABLE_JSON };

/* A column whose digits are TABLE_AS_TEXT holds words and is set flush left; the others hold numbers, TABLE_ANY such of
 * any magnitude. */
enum { TABLE_AS_TEXT = -1, TABLE_ANY = -2 };

struct table_column {
	const char *key;   /* in CSV and JSON */
	const char *title; /* in text; NULL: the key */
	const char *unit;  /* NULL: none */
	int digits;        /* after the point in text; CSV and JSON get the whole number */
};

struct table_cell {
	char *text;    /* owns; NULL: a number */
	double number; /* NAN: nothing known, "-" in text, empty in CSV, null in JSON */
};

struct table {
	const char *key;   /* its name in JSON */
	const char *title; /* printed above it in text; NULL: nothing */
	int single;        /* one row that is a list of facts: one per line in text, an object in JSON */
	const struct table_column *columns; /* borrowed */
	size_t n_columns;
	struct table_cell *cells; /* owns; row by row */
	size_t n_cells, size;
};

/* Cells are added from left to right, row after row. Lack of memory ends the program (tool_alloc). */
void table_init(struct table *table, const char *key, const char *title, const struct table_column *columns, size_t n);
void table_text(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_number(struct table *table, double number);
void table_optional(struct table *table, const char *text); /* NULL: there is none */
void table_free(struct table *table);
size_t table_rows(const struct table *table);

/* Prints tables one after another. Text: each under its title. CSV: each with its header line, an empty line between
 * two. JSON: one object with a member per table. Text and CSV leave tables without rows out. */
void table_print(FILE *out, enum table_format format, struct table *const *tables, size_t n);

/* One table as a CSV file: TOOL_OK, or a message and TOOL_FAILURE. */
int table_write_csv(const struct table *table, const char *path);

/* A JSON string with its quotes. */
void table_json_string(FILE *out, const char *text);

#endif
