/* The live page in a real browser: its script runs, and what it makes of /state stands in the document.
 *
 *   page BROWSER    a Chromium, or another program with its options. Exit status 77: this machine has none that works
 *
 * A task on an emulated accelerator is held while the browser looks, so that the document is always the same. */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <heddle.h>

enum { SKIPPED = 77, DOCUMENT = 1 << 20, N = 1 << 18 };

static sem_t begun, may_end;

static int add_one(heddle_context *c)
{
	double *x = heddle_ptr(c, 0);
	for (size_t i = 0; i < heddle_extent(c, 0, 0); i++)
		x[i]++;
	return 0;
}

static int held(heddle_context *c)
{
	(void)c;
	sem_post(&begun);
	sem_wait(&may_end);
	return 0;
}

/* One CPU worker, one emulated accelerator, and the page at a port that is free. */
static heddle_runtime *start(int *port)
{
	struct heddle_config config;
	heddle_runtime *rt = NULL;
	int status = heddle_config_init(&config);
	config.n_cpu = 1;
	config.n_cuda = config.n_opencl = 0;
	config.n_emulated = 1;
	config.sched = "eager";
	config.model_dir = "none";
	for (*port = 20000 + getpid() % 20000; !status && !rt && *port < 60000; ++*port) {
		config.live = *port;
		if (heddle_start(&config, &rt) == 0)
			return rt;
	}
	fprintf(stderr, "%s\n", heddle_last_error());
	return NULL;
}

/* A vector goes to the accelerator, back, and there again, where a task has it that does not end. */
static int make_work(heddle_runtime *rt, double *x)
{
	heddle_data *d;
	heddle_codelet *add = heddle_codelet_new(rt, .name = "add_one", .cpu = add_one);
	heddle_codelet *hold = heddle_codelet_new(rt, .name = "held", .cpu = held);
	if (heddle_vector(rt, x, N, sizeof *x, &d) || heddle_submit(rt, heddle_call(add), heddle_rw(d), heddle_on(1)) ||
	    heddle_submit(rt, heddle_call(add), heddle_rw(d), heddle_on(0)) ||
	    heddle_submit(rt, heddle_call(hold), heddle_rw(d), heddle_on(1)) ||
	    heddle_submit(rt, heddle_call(add), heddle_rw(d), heddle_on(0)))
		return -1;
	sem_wait(&begun);
	return 0;
}

/* The document when the script has run for a while; the caller frees it. "": the browser does not work here. */
static char *look(const char *browser, int port)
{
	char command[1024], *document = calloc(1, DOCUMENT + 1);
	snprintf(command, sizeof command,
	         "\"%s\" --headless --no-sandbox --disable-gpu --no-first-run --disable-dev-shm-usage "
	         "--user-data-dir=\"${TMPDIR:-/tmp}/heddle-browser-%d\" --virtual-time-budget=3000 --dump-dom "
	         "http://127.0.0.1:%d/ 2>/dev/null; rm -rf \"${TMPDIR:-/tmp}/heddle-browser-%d\"",
	         browser, (int)getpid(), port, (int)getpid());
	FILE *out = document ? popen(command, "r") : NULL;
	for (size_t n = 0, got; out && (got = fread(document + n, 1, DOCUMENT - n, out)); n += got)
		continue;
	if (out)
		pclose(out);
	return document;
}

/* Whether the words stand in the document behind each other, from the beginning of the element `id` to its end. */
static int shows(const char *document, const char *id, const char *end, const char *const *words)
{
	char opening[64];
	snprintf(opening, sizeof opening, "id=\"%s\"", id);
	const char *at = strstr(document, opening), *until = at ? strstr(at, end) : NULL;
	for (; at && *words; words++) {
		at = strstr(at, *words);
		if (!at || at >= until) {
			fprintf(stderr, "the element %s of the page does not show \"%s\"\n", id, *words);
			return 0;
		}
	}
	if (!until)
		fprintf(stderr, "the page has no element %s\n", id);
	return until != NULL;
}

#define WORDS(...)                \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

/* Whether the page shows what the program does. */
static int judge(const char *document, const struct heddle_platform *p)
{
	const char *home = p->nodes[0].name, *away = p->nodes[1].name;
	int right =
	    shows(document, "tasks", "</p>",
	          WORDS("eager", "2 tasks ended", "1 running", "0 ready", "2 unfinished", "3 so far", "6.0 MiB"));
	right &= shows(
	    document, "workers", "</table>",
	    WORDS("busy now", "busy so far", "holds", "runs", p->workers[0].name, "idle", p->workers[1].name, "held"));
	right &= shows(document, "memories", "</table>", WORDS("capacity", home, away, "2.0 MiB"));
	right &= shows(document, "links", "</table>",
	               WORDS("copies", "moved", home, away, ">2<", "4.0 MiB", "0 MB/s", away, home, ">1<", "2.0 MiB"));
	return right;
}

int main(int argc, char **argv)
{
	static double x[N];
	int port;
	if (argc < 2 || !*argv[1]) {
		puts("this machine has no Chromium, in which the page could be tried (apt-get install chromium)");
		return SKIPPED;
	}
	sem_init(&begun, 0, 0);
	sem_init(&may_end, 0, 0);
	heddle_runtime *rt = start(&port);
	if (!rt || make_work(rt, x)) {
		fprintf(stderr, "%s\n", heddle_last_error());
		return 1;
	}
	char *document = look(argv[1], port);
	int works = document && strstr(document, "<html");
	int right = works && judge(document, heddle_runtime_platform(rt));
	if (!works)
		printf("%s does not run here, so the page was not tried\n", argv[1]);
	else if (!right)
		fprintf(stderr, "%s\n", document);
	free(document);
	sem_post(&may_end);
	if (heddle_stop(rt))
		return 1;
	return works ? !right : SKIPPED;
}
