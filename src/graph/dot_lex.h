/* The words of a DOT file: identifiers, numerals and quoted strings are all one kind, as in the language itself. */
#ifndef HD_GRAPH_DOT_LEX_H
#define HD_GRAPH_DOT_LEX_H

#include <stddef.h>

enum { HD_DOT_END = 0, HD_DOT_ID = 256, HD_DOT_EDGE, HD_DOT_BAD };

struct hd_dot_token {
	int kind;         /* HD_DOT_..., or a character of {}[]=;,: */
	const char *text; /* of an ID, unescaped; does not end with a NUL */
	size_t length;
	int quoted; /* so it is no keyword */
	size_t line;
};

struct hd_dot_lexer {
	char *p, *end; /* what is left; strings are unescaped where they stand */
	size_t line;
	int line_begins; /* a # here begins a comment */
	const char *why; /* HD_DOT_BAD: what is wrong */
};

/* The first character of what hd_dot_next would read: a token itself can only be read once. */
char hd_dot_peek(const struct hd_dot_lexer *lexer);
void hd_dot_next(struct hd_dot_lexer *lexer, struct hd_dot_token *token);

#endif
