/* Tables. The same rows are printed as text for people, or as CSV or JSON for programs. */
#ifndef HD_SHARED_TABLE_H
#define HD_SHARED_TABLE_H

#include <stddef.h>
#include <stdio.h>

enum table_format { TABLE_TEXT, TABLE_CSV, TABLE_JSON };

/* Special values of a column's `digits`. TABLE_AS_TEXT: the column holds words and is aligned left; all others hold
 * numbers. TABLE_ANY: numbers of any magnitude, shown with six significant digits. */
enum { TABLE_AS_TEXT = -1, TABLE_ANY = -2 };

struct table_column {
	const char *key;   /* name of the column in CSV and JSON */
	const char *title; /* name of the column in text; NULL: the key */
	const char *unit;  /* NULL: none */
	int digits;        /* after the decimal point, in text; CSV and JSON have all digits */
};

struct table_cell {
	char *text;    /* owns; NULL: the cell is a number */
	double number; /* NAN: unknown, which is "-" in text, empty in CSV, null in JSON */
};

struct table {
	const char *key;   /* name of the table in JSON */
	const char *title; /* printed above the table in text; NULL: nothing */
	int single; /* the table is one row, printed as a list, one column per line, in text, as an object in JSON */
	struct table_column *columns; /* owns the array; borrows the texts */
	size_t n_columns;
	struct table_cell *cells; /* owns; row by row */
	size_t n_cells, size;
};

/* The array of columns is copied, its texts are borrowed. Cells are added from left to right, row after row. Lack of
 * memory ends the program (tool_alloc). */
void table_init(struct table *table, const char *key, const char *title, const struct table_column *columns, size_t n);
void table_text(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void table_number(struct table *table, double number);
void table_optional(struct table *table, const char *text); /* NULL: there is none */
void table_free(struct table *table);
size_t table_rows(const struct table *table);
/* Sorts the rows from `first` on by a column of numbers, the smallest first and unknown numbers last; rows with equal
 * numbers keep their order. */
void table_sort(struct table *table, size_t first, size_t column);

/* Prints tables one after another. In text, each stands below its title. In CSV, each has a header line, and an empty
 * line separates two tables. JSON is one object with a member per table. Text and CSV leave out tables without rows. */
void table_print(FILE *out, enum table_format format, struct table *const *tables, size_t n);

/* Writes one table to a CSV file: TOOL_OK, or a message and TOOL_FAILURE. */
int table_write_csv(const struct table *table, const char *path);

/* Prints a string as JSON, with its quotes. */
void table_json_string(FILE *out, const char *text);

#endif
