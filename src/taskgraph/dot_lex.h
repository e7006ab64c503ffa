/* Splits a DOT file into tokens. Identifiers, numerals and quoted strings are one kind of token, ID, as in the DOT
 * language. */
#ifndef HD_TASKGRAPH_DOT_LEX_H
#define HD_TASKGRAPH_DOT_LEX_H

#include <stddef.h>

enum { HD_DOT_END = 0, HD_DOT_ID = 256, HD_DOT_EDGE, HD_DOT_BAD };

struct hd_dot_token {
	int kind;         /* HD_DOT_..., or one of the characters {}[]=;,: */
	const char *text; /* the text of an ID, without escapes; not terminated by a NUL */
	size_t length;
	int quoted; /* 1: an ID in quotes or <...>, which is never a keyword */
	size_t line;
};

struct hd_dot_lexer {
	char *p, *end; /* the rest of the text, which changes, because escapes are removed in place */
	size_t line;
	int line_begins; /* 1: p is at the beginning of a line, where # begins a comment */
	const char *why; /* after a token HD_DOT_BAD: what is wrong */
};

/* The first character of the next token; NUL at the end. There is no peek at the whole token, because reading a token
 * changes the text. */
char hd_dot_peek(const struct hd_dot_lexer *lexer);
void hd_dot_next(struct hd_dot_lexer *lexer, struct hd_dot_token *token);

#endif
