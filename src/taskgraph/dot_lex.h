/* Splits a DOT file into tokens. Identifiers, numerals and quoted strings are one kind of token, as in the language. */
#ifndef HD_TASKGRAPH_DOT_LEX_H
#define HD_TASKGRAPH_DOT_LEX_H

#include <stddef.h>

enum { HD_DOT_END = 0, HD_DOT_ID = 256, HD_DOT_EDGE, HD_DOT_BAD };

struct hd_dot_token {
	int kind;         /* HD_DOT_..., or a character of {}[]=;,: */
	const char *text; /* text of an ID, unescaped; does not end with a NUL */
	size_t length;
	int quoted; /* an ID in quotes or <...>, which is never a keyword */
	size_t line;
};

struct hd_dot_lexer {
	char *p, *end; /* the rest of the text, which changes, because strings are unescaped in place */
	size_t line;
	int line_begins; /* p is at the beginning of a line, where # begins a comment */
	const char *why; /* what is wrong, after a token HD_DOT_BAD */
};

/* The first character of the next token, or NUL at the end. The token itself cannot be read twice, because its text
 * changes. */
char hd_dot_peek(const struct hd_dot_lexer *lexer);
void hd_dot_next(struct hd_dot_lexer *lexer, struct hd_dot_token *token);

#endif
