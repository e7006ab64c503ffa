/* Text built in memory, and exact conversion of numbers to and from decimal: printf and strtod are slow, and used only
 * where nothing else is exact. */
#define _GNU_SOURCE
#include "text.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base.h"

void hd_text_free(struct hd_text *text)
{
	free(text->data);
	*text = (struct hd_text){0};
}

/* Makes room for n more bytes and a NUL; returns where they go, NULL if this or an earlier call ran out of memory. */
static char *reserve(struct hd_text *text, size_t n)
{
	if (text->failed)
		return NULL;
	if (text->size - text->length <= n) {
		size_t size = text->size * 2 > text->length + n + 4096 ? text->size * 2 : text->length + n + 4096;
		char *data = realloc(text->data, size);
		if (!data) {
			text->failed = 1;
			return NULL;
		}
		text->data = data;
		text->size = size;
	}
	return text->data + text->length;
}

void hd_text_add(struct hd_text *text, const void *bytes, size_t n)
{
	char *to = reserve(text, n);
	if (!to)
		return;
	memcpy(to, bytes, n);
	text->length += n;
}

void hd_text_put(struct hd_text *text, const char *s)
{
	hd_text_add(text, s, strlen(s));
}

void hd_text_char(struct hd_text *text, char c)
{
	hd_text_add(text, &c, 1);
}

void hd_text_format(struct hd_text *text, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int n = hd_print_list(NULL, 0, format, args);
	char *to = n >= 0 ? reserve(text, (size_t)n + 1) : NULL;
	if (to)
		text->length += (size_t)hd_print_list(to, (size_t)n + 1, format, again);
	else
		text->failed = 1;
	va_end(again);
	va_end(args);
}

/* Writes `value` with at least `width` digits into the bytes before `end`; returns the address of the first digit. */
static char *digits_before(char *end, uint64_t value, int width)
{
	for (; value || width > 0; width--) {
		*--end = (char)('0' + value % 10);
		value /= 10;
	}
	return end;
}

void hd_text_uint(struct hd_text *text, uint64_t value)
{
	char buffer[24], *end = buffer + sizeof buffer, *begin = digits_before(end, value, 1);
	hd_text_add(text, begin, (size_t)(end - begin));
}

void hd_text_int(struct hd_text *text, int64_t value)
{
	if (value < 0)
		hd_text_char(text, '-');
	hd_text_uint(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Writes the number scaled / 10^decimals without trailing zeros. */
static void put_decimal(struct hd_text *text, uint64_t scaled, int decimals)
{
	char buffer[40], *end = buffer + sizeof buffer, *begin = end;
	uint64_t one = 1;
	for (int i = 0; i < decimals; i++)
		one *= 10;
	uint64_t fraction = scaled % one;
	if (fraction) {
		int width = decimals;
		for (; fraction % 10 == 0; width--)
			fraction /= 10;
		begin = digits_before(end, fraction, width);
		*--begin = '.';
	}
	begin = digits_before(begin, scaled / one, 1);
	hd_text_add(text, begin, (size_t)(end - begin));
}

void hd_text_fixed(struct hd_text *text, double value, int decimals)
{
	double scaled = round(fabs(value) * pow(10, decimals));
	if (scaled >= 9e18) {
		hd_text_format(text, "%.*f", decimals, value);
		return;
	}
	if (value < 0 && scaled > 0)
		hd_text_char(text, '-');
	put_decimal(text, (uint64_t)scaled, decimals);
}

static const double powers[] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7, 1e8,
                                1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16};

/* Rounds `value` (1 <= value < 1e15) to `significant` digits, 15 to 17. Returns an integer and sets *decimals: the
 * rounded value is the integer / 10^decimals. The fraction of `value` has at most 52 bits, so the 64 bits of `fraction`
 * hold it, and `product` is exact. */
static uint64_t round_digits(double value, int significant, int *decimals)
{
	__extension__ typedef unsigned __int128 wide;
	uint64_t whole = (uint64_t)value, fraction = (uint64_t)ldexp(value - (double)whole, 64);
	*decimals = significant - 1;
	while (*decimals > 0 && value >= powers[significant - *decimals])
		--*decimals;
	uint64_t one = (uint64_t)powers[*decimals];
	wide product = (wide)fraction * one;
	return whole * one + (uint64_t)(product >> 64) + ((uint64_t)product >> 63);
}

/* Writes a value with at most three decimals if reading them gives the same value; times in us of a clock that counts
 * nanoseconds, and sizes, are such values. One division tells: for k < 2^53 and n < 23 the quotient k / 10^n is
 * correctly rounded, and so is the number read from the text, so the two are equal. Other values get up to 17 digits,
 * which always suffice. */
void hd_text_real(struct hd_text *text, double value)
{
	double size = fabs(value), thousandths = round(size * 1000);
	int decimals = 3;
	uint64_t scaled = 0;
	if (thousandths < 9e15 && thousandths / 1000 == size && !(value == 0 && signbit(value))) {
		scaled = (uint64_t)thousandths;
	} else if (size >= 1 && size < 1e15) {
		scaled = round_digits(size, 15, &decimals);
		if ((double)scaled / powers[decimals] != size)
			scaled = round_digits(size, 17, &decimals);
	} else {
		char buffer[40];
		int n = hd_print_into(buffer, sizeof buffer, "%.17g", value);
		hd_text_add(text, buffer, (size_t)n);
		return;
	}
	if (value < 0)
		hd_text_char(text, '-');
	put_decimal(text, scaled, decimals);
}

size_t hd_utf8_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	static const struct {
		unsigned char mask, lead, low, high; /* mask, lead: byte 1; low, high: byte 2 */
	} forms[] = {
	    {0xff, 0xe0, 0xa0, 0xbf}, {0xff, 0xed, 0x80, 0x9f}, {0xff, 0xf0, 0x90, 0xbf}, {0xff, 0xf4, 0x80, 0x8f},
	    {0xe0, 0xc0, 0x80, 0xbf}, {0xf0, 0xe0, 0x80, 0xbf}, {0xf8, 0xf0, 0x80, 0xbf},
	};
	if (u[0] < 0x80)
		return 1;
	if (u[0] == 0xc0 || u[0] == 0xc1 || u[0] > 0xf4)
		return 0; /* the encoding is longer than needed, or the character is beyond U+10FFFF */
	size_t i = 0, n_forms = sizeof forms / sizeof *forms;
	while (i < n_forms && (u[0] & forms[i].mask) != forms[i].lead)
		i++;
	if (i == n_forms || u[1] < forms[i].low || u[1] > forms[i].high)
		return 0;
	size_t length = u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : 4;
	for (size_t k = 2; k < length; k++)
		if ((u[k] & 0xc0) != 0x80)
			return 0;
	return length;
}

void hd_text_json(struct hd_text *text, const char *s)
{
	hd_text_char(text, '"');
	while (*s) {
		size_t n = hd_utf8_length(s);
		if (n == 0)
			hd_text_put(text, "\xef\xbf\xbd");
		else if ((unsigned char)*s < 0x20 || *s == 0x7f ||
		         (n == 2 && (unsigned char)s[0] == 0xc2 && (unsigned char)s[1] < 0xa0))
			/* control characters are escaped, so that none reaches a terminal */
			hd_text_format(text, "\\u%04x", (unsigned)(unsigned char)s[n - 1]);
		else if (*s == '"' || *s == '\\')
			hd_text_format(text, "\\%c", *s);
		else
			hd_text_add(text, s, n);
		s += n ? n : 1;
	}
	hd_text_char(text, '"');
}

int hd_text_write(struct hd_text *text, const char *path)
{
	int status =
	    text->failed ? hd_no_memory(path) : hd_file_write(path, text->data ? text->data : "", text->length);
	hd_text_free(text);
	return status;
}

int hd_uint_parse(const char **p, const char *end, uint64_t *out)
{
	const char *s = *p;
	uint64_t value = 0;
	for (; s < end && *s >= '0' && *s <= '9'; s++) {
		unsigned digit = (unsigned)(*s - '0');
		if (value > (UINT64_MAX - digit) / 10)
			return 0;
		value = value * 10 + digit;
	}
	if (s == *p)
		return 0;
	*p = s;
	*out = value;
	return 1;
}

/* If the number has up to 15 digits, its digits as an integer and the power of ten are exact doubles, so their
 * quotient, rounded once, is the correctly rounded value. strtod reads all other numbers. */
int hd_real_parse(const char **p, const char *end, double *out)
{
	const char *s = *p;
	int negative = s < end && *s == '-', digits = 0, decimals = 0, point = 0;
	uint64_t whole = 0;
	for (s += negative; s < end && digits < 16 && ((*s >= '0' && *s <= '9') || (*s == '.' && !point)); s++) {
		if (*s == '.') {
			point = 1;
			continue;
		}
		whole = whole * 10 + (unsigned)(*s - '0');
		digits++;
		decimals += point;
	}
	if (digits > 0 && digits < 16 && (s == end || *s == ' ' || *s == '\n')) {
		double value = (double)whole / powers[decimals];
		*out = negative ? -value : value;
		*p = s;
		return 1;
	}
	if (!memchr("-.0123456789", **p, 12)) /* checked because strtod also accepts blanks, nan and more */
		return 0;
	char *after;
	double value = hd_real(*p, &after);
	if (after == *p || after > end || !isfinite(value))
		return 0;
	*out = value;
	*p = after;
	return 1;
}

void hd_yaml_version(const char *yaml, char *version, size_t size)
{
	static const char key[] = "\nversion:";
	size_t length = sizeof key - 1;
	const char *later = strstr(yaml, key);
	const char *at = strncmp(yaml, key + 1, length - 1) == 0 ? yaml + length - 1 : later ? later + length : "";
	at += strspn(at, " \"'");
	snprintf(version, size, "%.*s", (int)strcspn(at, " \"'\r\n"), at);
}

static unsigned hex(char c)
{
	const char *digits = "0123456789ABCDEF0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
	return at ? (unsigned)(at - digits) % 16 : 16;
}

void hd_name_decode(char *text)
{
	char *to = text;
	for (const char *at = text; *at; at++) {
		unsigned value = *at == '%' && hex(at[1]) < 16 && hex(at[2]) < 16 ? hex(at[1]) * 16 + hex(at[2]) : 0;
		*to++ = value ? (char)value : *at;
		if (value)
			at += 2;
	}
	*to = '\0';
}
