/* Tables as text, CSV (RFC 4180) and JSON (RFC 8259). */
#include "table.h"
#include "tool.h"
#include "base/base.h"
#include "base/text.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2 /* blanks between two columns of text */

void table_init(struct table *table, const char *key, const char *title, const struct table_column *columns, size_t n)
{
	*table = (struct table){.key = key, .title = title, .n_columns = n};
	table->columns = tool_alloc(n * sizeof *table->columns);
	memcpy(table->columns, columns, n * sizeof *table->columns);
}

static struct table_cell *add_cell(struct table *table)
{
	if (table->n_cells == table->size) {
		table->size = table->size ? 2 * table->size : 64;
		table->cells = tool_realloc(table->cells, table->size * sizeof *table->cells);
	}
	struct table_cell *cell = &table->cells[table->n_cells++];
	*cell = (struct table_cell){.number = NAN};
	return cell;
}

void table_text(struct table *table, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_cell(table)->text = tool_vformat(format, args);
	va_end(args);
}

void table_optional(struct table *table, const char *text)
{
	add_cell(table)->text = text ? tool_format("%s", text) : NULL;
}

void table_number(struct table *table, double number)
{
	add_cell(table)->number = number;
}

void table_free(struct table *table)
{
	for (size_t i = 0; i < table->n_cells; i++)
		free(table->cells[i].text);
	free(table->cells);
	free(table->columns);
	table->cells = NULL;
	table->columns = NULL;
	table->n_columns = 0;
	table->n_cells = table->size = 0;
}

size_t table_rows(const struct table *table)
{
	return table->n_columns ? table->n_cells / table->n_columns : 0;
}

void table_sort(struct table *table, size_t first, size_t column)
{
	size_t n = table->n_columns, size = n * sizeof *table->cells;
	struct table_cell *row = tool_alloc(size);
	for (size_t i = first + 1; i < table_rows(table); i++) {
		double number = table->cells[i * n + column].number;
		size_t to = i;
		memcpy(row, table->cells + i * n, size);
		for (; to > first && !(table->cells[(to - 1) * n + column].number <= number) && !isnan(number); to--)
			memcpy(table->cells + to * n, table->cells + (to - 1) * n, size);
		memcpy(table->cells + to * n, row, size);
	}
	free(row);
}

/* --- Text --------------------------------------------------------------------------------------------------------- */

/* The number of columns that a UTF-8 string takes on the screen. */
static size_t width_of(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0u) != 0x80u;
	return n;
}

/* A copy of a text from outside without control characters, for a terminal. */
static char *printable(const char *text)
{
	size_t size = 4 * strlen(text) + 1;
	char *shown = tool_alloc(size);
	hd_printable(shown, size, text);
	return shown;
}

static char *cell_as_text(const struct table_column *column, const struct table_cell *cell)
{
	if (cell->text)
		return printable(cell->text);
	if (isnan(cell->number))
		return tool_format("-");
	if (column->digits < 0)
		return tool_format("%.6g", cell->number);
	if (column->digits > 0 && fabs(cell->number) >= 1e9)
		return tool_format("%.4g", cell->number);
	return tool_format("%.*f", column->digits, cell->number);
}

static char *heading(const struct table_column *column)
{
	const char *title = column->title ? column->title : column->key;
	char *whole = tool_format(column->unit ? "%s (%s)" : "%s", title, column->unit), *shown = printable(whole);
	free(whole);
	return shown;
}

static void blanks(FILE *out, size_t n)
{
	while (n--)
		fputc(' ', out);
}

/* Prints the last column, broken between words when the line would become longer than `width` (0: no limit). */
static void print_wrapped(FILE *out, const char *text, size_t indent, size_t width)
{
	size_t at = indent, room = width > indent + 20 ? width : 0;
	for (const char *word = text; *word;) {
		size_t length = strcspn(word, " ");
		if (room && at > indent && at + length > room) {
			fputc('\n', out);
			blanks(out, indent);
			at = indent;
		}
		fwrite(word, 1, length, out);
		at += length;
		word += length;
		while (*word == ' ') {
			fputc(' ', out);
			at++;
			word++;
		}
	}
}

struct text_layout {
	char **texts;   /* headings, then the cells */
	size_t *widths; /* per column */
	size_t line;    /* length of a line in screen columns; 0: no limit */
};

static void print_line(FILE *out, const struct table *table, const struct text_layout *layout, size_t row)
{
	char **texts = &layout->texts[row * table->n_columns];
	size_t indent = 0, n = table->n_columns;
	while (n > 1 && !*texts[n - 1]) /* no blanks at the end of a line */
		n--;
	for (size_t c = 0; c < n; c++) {
		const char *text = texts[c];
		size_t fill = layout->widths[c] - width_of(text);
		int left = table->columns[c].digits == TABLE_AS_TEXT, last = c + 1 == n;
		if (!left)
			blanks(out, fill);
		if (last && left)
			print_wrapped(out, text, indent, layout->line);
		else
			fputs(text, out);
		if (!last)
			blanks(out, (left ? fill : 0) + GAP);
		indent += layout->widths[c] + GAP;
	}
	fputc('\n', out);
}

static void print_text(FILE *out, const struct table *table)
{
	size_t n = table->n_columns, rows = table_rows(table);
	struct text_layout layout = {
	    .texts = tool_alloc((rows + 1) * n * sizeof *layout.texts),
	    .widths = tool_alloc(n * sizeof *layout.widths),
	    .line = tool_line_width(out),
	};
	for (size_t i = 0; i < (rows + 1) * n; i++) {
		layout.texts[i] =
		    i < n ? heading(&table->columns[i]) : cell_as_text(&table->columns[i % n], &table->cells[i - n]);
		if (width_of(layout.texts[i]) > layout.widths[i % n])
			layout.widths[i % n] = width_of(layout.texts[i]);
	}
	for (size_t row = 0; row <= rows; row++)
		print_line(out, table, &layout, row);
	for (size_t i = 0; i < (rows + 1) * n; i++)
		free(layout.texts[i]);
	free(layout.texts);
	free(layout.widths);
}

/* Prints a table of one row, one column per line. Unknown values are left out. */
static void print_facts(FILE *out, const struct table *table)
{
	size_t widest = 0;
	for (size_t c = 0; c < table->n_columns; c++) {
		const char *title = table->columns[c].title ? table->columns[c].title : table->columns[c].key;
		widest = width_of(title) > widest ? width_of(title) : widest;
	}
	for (size_t i = 0; i < table->n_cells; i++) {
		const struct table_column *column = &table->columns[i % table->n_columns];
		const struct table_cell *cell = &table->cells[i];
		if (!cell->text && isnan(cell->number))
			continue;
		const char *title = column->title ? column->title : column->key;
		char *value = cell_as_text(column, cell);
		fprintf(out, "%s", title);
		blanks(out, widest - width_of(title) + GAP);
		fprintf(out, "%s%s%s\n", value, column->unit ? " " : "", column->unit ? column->unit : "");
		free(value);
	}
}

/* --- CSV and JSON ------------------------------------------------------------------------------------------------- */

static void print_csv_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\n\r")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

static void print_csv(FILE *out, const struct table *table)
{
	for (size_t c = 0; c < table->n_columns; c++)
		fprintf(out, "%s%s", c ? "," : "", table->columns[c].key);
	for (size_t i = 0; i < table->n_cells; i++) {
		const struct table_cell *cell = &table->cells[i];
		fputc(i % table->n_columns ? ',' : '\n', out);
		if (cell->text)
			print_csv_text(out, cell->text);
		else if (!isnan(cell->number))
			fprintf(out, "%.12g", cell->number);
	}
	fputc('\n', out);
}

void table_json_string(FILE *out, const char *text)
{
	struct hd_text json = {0};
	hd_text_json(&json, text);
	fwrite(json.data, 1, json.length, out);
	hd_text_free(&json);
}

static void print_json_row(FILE *out, const struct table *table, size_t row)
{
	fputc('{', out);
	for (size_t c = 0; c < table->n_columns; c++) {
		const struct table_cell *cell = &table->cells[row * table->n_columns + c];
		fputs(c ? ", " : "", out);
		table_json_string(out, table->columns[c].key);
		fputs(": ", out);
		if (cell->text)
			table_json_string(out, cell->text);
		else if (isfinite(cell->number))
			fprintf(out, "%.12g", cell->number);
		else
			fputs("null", out);
	}
	fputc('}', out);
}

static void print_json(FILE *out, const struct table *table)
{
	size_t rows = table_rows(table);
	table_json_string(out, table->key);
	fputs(": ", out);
	if (table->single && rows == 1) {
		print_json_row(out, table, 0);
		return;
	}
	fputc('[', out);
	for (size_t row = 0; row < rows; row++) {
		fputs(row ? ",\n    " : "\n    ", out);
		print_json_row(out, table, row);
	}
	fputs(rows ? "\n  ]" : "]", out);
}

void table_print(FILE *out, enum table_format format, struct table *const *tables, size_t n)
{
	if (format == TABLE_JSON) {
		for (size_t i = 0; i < n; i++) {
			fputs(i ? ",\n  " : "{\n  ", out);
			print_json(out, tables[i]);
		}
		fputs("\n}\n", out);
		return;
	}
	int printed = 0;
	for (size_t i = 0; i < n; i++) {
		if (!table_rows(tables[i]))
			continue;
		if (printed++)
			fputc('\n', out);
		if (format == TABLE_CSV) {
			print_csv(out, tables[i]);
			continue;
		}
		if (tables[i]->title)
			hd_print(out, "%s\n", tables[i]->title);
		if (tables[i]->single)
			print_facts(out, tables[i]);
		else
			print_text(out, tables[i]);
	}
}

int table_write_csv(const struct table *table, const char *path)
{
	FILE *f = fopen(path, "w");
	int bad = !f;
	if (f) {
		print_csv(f, table);
		bad = ferror(f) != 0;
		bad |= fclose(f) != 0;
	}
	return bad ? tool_failure("cannot write %s: %s", path, strerror(errno)) : TOOL_OK;
}
