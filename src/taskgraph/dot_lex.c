/* Finds the tokens of a DOT file: see dot_lex.h. */
#include "dot_lex.h"
#include <string.h>

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static void pass(struct hd_dot_lexer *l)
{
	l->line_begins = *l->p == '\n';
	l->line += *l->p == '\n';
	l->p++;
}

static int follows(const struct hd_dot_lexer *l, const char *word)
{
	size_t n = strlen(word);
	return (size_t)(l->end - l->p) >= n && memcmp(l->p, word, n) == 0;
}

/* Skips blanks and comments. Returns -1 if a comment does not end. */
static int skip(struct hd_dot_lexer *l)
{
	while (l->p < l->end) {
		if ((*l->p == '#' && l->line_begins) || follows(l, "//")) {
			while (l->p < l->end && *l->p != '\n')
				l->p++;
		} else if (follows(l, "/*")) {
			while (l->p < l->end && !follows(l, "*/"))
				pass(l);
			if (l->p == l->end) {
				l->why = "a comment does not end";
				return -1;
			}
			l->p += 2;
		} else if (*l->p == ' ' || *l->p == '\t' || *l->p == '\n' || *l->p == '\r') {
			pass(l);
		} else {
			break;
		}
	}
	return 0;
}

/* Copies a string whose opening quote has been read to `to`, without escapes; `to` is not behind the place that is
 * being read, so the copy may be in place. Returns the end of the copy; NULL: the closing quote is missing. */
static char *unquote(struct hd_dot_lexer *l, char *to)
{
	while (l->p < l->end && *l->p != '"') {
		if (*l->p == '\\' && l->p + 1 < l->end && (l->p[1] == '"' || l->p[1] == '\\')) {
			l->p++;
		} else if (*l->p == '\\' && l->p + 1 < l->end && l->p[1] == '\n') {
			l->p += 2;
			l->line++;
			continue;
		}
		*to++ = *l->p;
		pass(l);
	}
	if (l->p == l->end)
		return NULL;
	l->p++;
	return to;
}

static int read_string(struct hd_dot_lexer *l, struct hd_dot_token *t)
{
	char *begin = l->p, *to = begin;
	for (;;) {
		l->p++;
		to = unquote(l, to);
		if (!to) {
			l->why = "a string does not end";
			return -1;
		}
		struct hd_dot_lexer after = *l;
		if (skip(l))
			return -1;
		if (l->p < l->end && *l->p == '+') { /* as in "one" + "string" */
			l->p++;
			if (skip(l) || l->p == l->end || *l->p != '"') {
				l->why = "a string is expected after +";
				return -1;
			}
			continue;
		}
		*l = after;
		break;
	}
	*t = (struct hd_dot_token){HD_DOT_ID, begin, (size_t)(to - begin), 1, t->line};
	return 0;
}

/* Reads an HTML string <...>, in which < and > are balanced. */
static int read_html(struct hd_dot_lexer *l, struct hd_dot_token *t)
{
	char *begin = l->p;
	size_t depth = 0;
	do {
		depth += *l->p == '<';
		depth -= *l->p == '>';
		pass(l);
	} while (depth && l->p < l->end);
	if (depth) {
		l->why = "<...> does not end";
		return -1;
	}
	*t = (struct hd_dot_token){HD_DOT_ID, begin, (size_t)(l->p - begin), 1, t->line};
	return 0;
}

/* Whether the sign at l->p belongs to an exponent. This lexer reads 1e-3 as one number. Graphviz would split it into
 * "1", "e" and "-3", which no author of a file wants. */
static int in_exponent(const struct hd_dot_lexer *l)
{
	return (*l->p == '-' || *l->p == '+') && (l->p[-1] | 32) == 'e' && l->p + 1 < l->end && is_digit(l->p[1]);
}

static int read_plain(struct hd_dot_lexer *l, struct hd_dot_token *t)
{
	const char *begin = l->p;
	if (is_letter(*l->p)) {
		while (l->p < l->end && (is_letter(*l->p) || is_digit(*l->p)))
			l->p++;
	} else {
		l->p += *l->p == '-';
		while (l->p < l->end && (is_digit(*l->p) || is_letter(*l->p) || *l->p == '.' || in_exponent(l)))
			l->p++;
	}
	*t = (struct hd_dot_token){HD_DOT_ID, begin, (size_t)(l->p - begin), 0, t->line};
	return 0;
}

void hd_dot_next(struct hd_dot_lexer *l, struct hd_dot_token *t)
{
	int failed = skip(l);
	*t = (struct hd_dot_token){.kind = HD_DOT_END, .line = l->line};
	if (!failed && l->p == l->end)
		return;
	l->line_begins = 0;
	if (failed) {
		t->kind = HD_DOT_BAD;
	} else if (follows(l, "->") || follows(l, "--")) {
		t->kind = HD_DOT_EDGE;
		l->p += 2;
	} else if (*l->p && strchr("{}[]=;,:", *l->p)) {
		t->kind = *l->p++;
	} else if (*l->p == '"') {
		failed = read_string(l, t);
	} else if (*l->p == '<') {
		failed = read_html(l, t);
	} else if (is_letter(*l->p) || is_digit(*l->p) || *l->p == '.' || *l->p == '-') {
		failed = read_plain(l, t);
	} else {
		l->why = "a character that has no meaning here";
		failed = -1;
	}
	if (failed)
		t->kind = HD_DOT_BAD;
}

char hd_dot_peek(const struct hd_dot_lexer *lexer)
{
	struct hd_dot_lexer l = *lexer;
	return skip(&l) || l.p == l.end ? '\0' : *l.p;
}
