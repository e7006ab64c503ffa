/* The live page. A thread serves HTTP on the loopback device only: `/` is a page that asks for `/state`, which is JSON,
 * twice a second. A connection that sends no request does not delay the others. The state is copied with the core lock
 * held, in a time that grows with the number of workers and memories, not of tasks. No request can change the
 * runtime. */
#define _GNU_SOURCE
#include "live.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/text.h"
#include "flow/errands.h"
#include "machine/hops.h"
#include "start/reports.h"
#include "state/core_lock.h"
#include "state/engine.h"
#include "state/memory.h"

enum { REQUEST = 16384, PATIENCE_S = 10, CONNECTIONS = 16 };

struct connection {
	int socket;
	double deadline; /* us: when the connection is closed, if the request is not complete */
	size_t n;        /* number of bytes of the request received so far */
	char request[REQUEST + 1];
};

struct hd_page {
	struct hd_page *next; /* next in the list `pages`; guarded by pages_lock */
	heddle_runtime *rt;
	int socket, stop[2]; /* stop: a pipe; the page's thread ends when its write end is closed */
	pthread_t thread;
	/* Owned. Only the page's thread changes the array, holding pages_lock; so it reads it without the lock. */
	struct connection *open[CONNECTIONS];
	size_t n_open;
};

/* Guards `pages`, the list of all pages of the process, by which a child of fork closes their sockets: otherwise the
 * ports would stay in use after this process has ended, and browsers would wait. Held only briefly; no other lock is
 * acquired while it is held. */
static pthread_mutex_t pages_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hd_page *pages; /* guarded by pages_lock */
static pthread_once_t forks_are_watched = PTHREAD_ONCE_INIT;

static const char html[] =
    "<!DOCTYPE html><meta charset=utf-8><title>Heddle</title><link rel=icon href='data:,'><style>"
    "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse;margin:1em 0}"
    "td,th{padding:2px 12px 2px 0;text-align:left}td.n{text-align:right}"
    ".bar{display:inline-block;height:10px;background:#4a90c4}.idle{color:#999}</style>"
    "<h1>Heddle</h1><p id=tasks></p><table id=workers></table><table id=memories></table><table id=links></table>"
    "<script>\n"
    "const cell = (text, kind) => { const td = document.createElement('td'); td.textContent = text;"
    " td.className = kind || ''; return td; };\n"
    "const mib = b => (b / 1048576).toFixed(1) + ' MiB';\n"
    "function fill(id, head, rows) { const t = document.getElementById(id); t.textContent = '';"
    " for (const r of [head, ...rows]) { const tr = t.insertRow(); for (const c of r) tr.append(c instanceof Node ? c :"
    " cell(c)); } }\n"
    "function share(x) { const td = cell(''); const b = document.createElement('span'); b.className = 'bar';"
    " b.style.width = 100 * x + 'px'; td.append(b, ' ' + (100 * x).toFixed(0) + ' %'); return td; }\n"
    "let before = null;\n"
    "function rate(s, i) { const us = before ? s.now - before.now : 0;" /* 1 byte per us is 1 MB/s */
    " return us > 0 ? ((s.links[i].bytes - before.links[i].bytes) / us).toFixed(0) + ' MB/s' : ''; }\n"
    "function lately(s, i) { const us = before ? s.now - before.now : 0;"
    " return us > 0 ? share(Math.min(1, Math.max(0, (s.workers[i].busy - before.workers[i].busy) / us))) : ''; }\n"
    "async function show() { try { const s = await (await fetch('/state')).json();\n"
    "document.getElementById('tasks').textContent = `${s.policy} on ${s.platform}: ${s.ended} tasks ended, "
    "${s.running} "
    "running, ${s.staged} next on their workers, ${s.ready} ready, ${s.unfinished} unfinished; "
    "${s.transfers_under_way} "
    "copies under way, ${s.transfers} so far, ${mib(s.bytes_moved)}`;\n"
    "fill('workers', ['worker', 'busy now', 'busy so far', 'holds', 'runs'], s.workers.map((w, i) => [w.name, "
    "lately(s, i), share(w.busy_share), "
    "w.in_flight, cell(w.tasks.join(', ') || 'idle', w.tasks.length ? '' : 'idle')]));\n"
    "fill('memories', ['memory', 'used', 'capacity', 'evictions'], s.memories.map(m => [m.name, mib(m.used), "
    "m.capacity ?"
    " mib(m.capacity) : 'no limit', m.evictions]));\n"
    "if (s.links.length) fill('links', ['from', 'to', 'copies', 'moved', 'now'], s.links.map((l, i) => [l.from, l.to, "
    "l.transfers, mib(l.bytes), rate(s, i)]));\n"
    "before = s;\n"
    "} catch (e) { document.getElementById('tasks').textContent = 'the program has ended'; } setTimeout(show, 500); }\n"
    "show();\n</script>\n";

/* --- The state ---------------------------------------------------------------------------------------------------- */

static void put_number(struct hd_text *text, const char *name, uint64_t value)
{
	hd_text_format(text, "\"%s\": %llu, ", name, (unsigned long long)value);
}

static void put_worker(struct hd_text *text, const heddle_runtime *rt, const struct hd_worker *w, double now)
{
	char title[HD_TITLE];
	int n = 0;
	/* w->busy, plus the time since the running kernel began. The time that the kernel has waited since then has
	 * been subtracted from w->busy. */
	double began = w->n_slots == 1 ? w->slots[0].start : w->waits_since;
	double busy = w->busy + (hd_worker_runs(w) && now > began ? now - began : 0);
	hd_text_put(text, w->id ? ", {\"name\": " : "{\"name\": ");
	hd_text_json(text, rt->platform->workers[w->id].name);
	hd_text_put(text, ", \"class\": ");
	hd_text_json(text, rt->platform->classes[rt->platform->workers[w->id].class_id].name);
	hd_text_format(text, ", \"in_flight\": %u, \"busy\": %.0f, \"busy_share\": %.4f, \"tasks\": [", w->in_flight,
	               busy, now > 0 && busy > 0 ? busy / now < 1 ? busy / now : 1.0 : 0.0);
	for (unsigned i = 0; i < w->n_slots; i++) {
		if (!w->slots[i].task)
			continue;
		hd_text_put(text, n++ ? ", " : "");
		hd_text_json(text, hd_task_title(w->slots[i].task, title, sizeof title));
	}
	hd_text_put(text, "]}");
}

static void put_links(struct hd_text *text, const heddle_runtime *rt)
{
	const struct heddle_platform *p = rt->platform;
	for (size_t i = 0; i < rt->hops->n; i++) {
		const struct hd_hop *hop = &rt->hops->all[i];
		hd_text_put(text, i ? ", {\"from\": " : "{\"from\": ");
		hd_text_json(text, p->nodes[hop->link->from].name);
		hd_text_put(text, ", \"to\": ");
		hd_text_json(text, p->nodes[hop->link->to].name);
		hd_text_put(text, ", ");
		put_number(text, "transfers", hop->transfers);
		hd_text_format(text, "\"bytes\": %llu}", (unsigned long long)hop->bytes);
	}
}

/* Writes the state of the runtime as JSON. The caller holds the core lock. */
static void put_state(struct hd_text *text, heddle_runtime *rt, double now)
{
	HD_HELD(&rt->lock);
	hd_text_put(text, "{\"policy\": ");
	hd_text_json(text, rt->sched.policy->name);
	hd_text_put(text, ", \"platform\": ");
	hd_text_json(text, rt->platform->name);
	hd_text_format(text, ", \"now\": %.0f, ", now);
	/* With the tasks in the ring of submitted tasks. Relaxed, pairs with nothing: one just being submitted may be
	 * missed. */
	put_number(text, "unfinished",
	           hd_live(rt) + atomic_load_explicit(&rt->ring.tail, memory_order_relaxed) - rt->inlet.head);
	put_number(text, "running", rt->count.running);
	put_number(text, "staged", rt->count.staged);
	put_number(text, "ready", rt->count.ready);
	put_number(text, "ended", rt->count.ended);
	put_number(text, "transfers_under_way", rt->count.transfers);
	put_number(text, "transfers", rt->outcome.stats.transfers);
	put_number(text, "bytes_moved", rt->outcome.stats.bytes_moved);
	hd_text_put(text, "\"workers\": [");
	for (size_t i = 0; i < rt->n_workers; i++)
		put_worker(text, rt, &rt->workers[i], now);
	hd_text_put(text, "], \"memories\": [");
	for (size_t i = 0; i < rt->n_nodes; i++) {
		hd_text_put(text, i ? ", {\"name\": " : "{\"name\": ");
		hd_text_json(text, rt->platform->nodes[i].name);
		hd_text_put(text, ", ");
		put_number(text, "used", rt->memories[i].used);
		put_number(text, "capacity", rt->memories[i].capacity);
		hd_text_format(text, "\"evictions\": %llu}", (unsigned long long)rt->memories[i].evictions);
	}
	hd_text_put(text, "], \"links\": [");
	put_links(text, rt);
	hd_text_put(text, "]}\n");
}

/* --- Requests ----------------------------------------------------------------------------------------------------- */

static void send_all(int to, const char *bytes, size_t n)
{
	while (n) {
		ssize_t sent = send(to, bytes, n, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return;
		bytes += sent;
		n -= (size_t)sent;
	}
}

static void reply(int to, const char *status, const char *type, const char *body, size_t n)
{
	struct hd_text head = {0};
	hd_text_format(&head,
	               "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n"
	               "Cache-Control: no-store\r\n\r\n",
	               status, type, n);
	if (!head.failed) {
		send_all(to, head.data, head.length);
		send_all(to, body, n);
	}
	hd_text_free(&head);
}

/* Whether the request's Host is this machine: localhost or a loopback address. This prevents DNS rebinding: a foreign
 * web page can give its own host name this machine's address, and a browser would let that page read the replies; but
 * the request still has the foreign name. */
static int is_for_us(const char *request)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};
	const char *host = strcasestr(request, "\r\nhost:");
	if (!host)
		return 0;
	host += strlen("\r\nhost:");
	host += strspn(host, " ");
	size_t length = strcspn(host, ": \r"); /* the name ends before the port, which does not matter */
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (length == strlen(names[i]) && strncasecmp(host, names[i], length) == 0)
			return 1;
	return 0;
}

static void answer(const struct hd_page *p, int to, const char *request)
{
	static const char unknown[] = "there are / and /state\n", foreign[] = "ask for 127.0.0.1 or localhost\n";
	if (!is_for_us(request)) {
		reply(to, "403 Forbidden", "text/plain", foreign, sizeof foreign - 1);
	} else if (strncmp(request, "GET / ", 6) == 0) {
		reply(to, "200 OK", "text/html; charset=utf-8", html, sizeof html - 1);
	} else if (strncmp(request, "GET /state ", 11) == 0) {
		struct hd_text text = {0};
		double now = p->rt->engine->now(p->rt);
		hd_core_enter(p->rt);
		put_state(&text, p->rt, now);
		hd_core_leave(p->rt);
		if (!text.failed)
			reply(to, "200 OK", "application/json", text.data, text.length);
		hd_text_free(&text);
	} else {
		reply(to, "404 Not Found", "text/plain", unknown, sizeof unknown - 1);
	}
}

/* --- Connections -------------------------------------------------------------------------------------------------- */

/* Closes connection i; the last connection takes its place in p->open. */
static void drop(struct hd_page *p, size_t i)
{
	pthread_mutex_lock(&pages_lock);
	close(p->open[i]->socket);
	free(p->open[i]);
	p->open[i] = p->open[--p->n_open];
	pthread_mutex_unlock(&pages_lock);
}

/* Reads from a connection, and answers the request if it is complete. Returns 1 if more must be read, 0 if the
 * connection is to be closed. */
static int serve(const struct hd_page *p, struct connection *c)
{
	ssize_t got = recv(c->socket, c->request + c->n, REQUEST - c->n, MSG_DONTWAIT);
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return 1;
	if (got <= 0)
		return 0;
	c->n += (size_t)got;
	c->request[c->n] = '\0';
	if (!strstr(c->request, "\r\n\r\n"))
		return c->n < REQUEST;
	answer(p, c->socket, c->request);
	return 0;
}

/* Accepts a connection. Browsers open some in advance: if CONNECTIONS are open, the one with the earliest deadline is
 * closed first. Returns 0, or -1. */
static int take(struct hd_page *p)
{
	const struct timeval patience = {.tv_sec = 1}; /* a reply fits into the socket's buffer */
	struct connection *c = malloc(sizeof *c);
	if (!c)
		return -1;
	if (p->n_open == CONNECTIONS) {
		size_t oldest = 0;
		for (size_t i = 1; i < p->n_open; i++)
			if (p->open[i]->deadline < p->open[oldest]->deadline)
				oldest = i;
		drop(p, oldest);
	}
	pthread_mutex_lock(&pages_lock);
	c->socket = accept4(p->socket, NULL, NULL, SOCK_CLOEXEC);
	c->deadline = hd_clock_us() + PATIENCE_S * 1e6;
	c->n = 0;
	int taken = c->socket >= 0;
	if (taken)
		p->open[p->n_open++] = c;
	else
		free(c);
	pthread_mutex_unlock(&pages_lock);
	if (taken)
		setsockopt(c->socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	return taken ? 0 : -1;
}

/* Serves each connection that can be read or is past its deadline; backwards, because drop() moves the last one. */
static void serve_all(struct hd_page *p, const struct pollfd *wanted)
{
	double now = hd_clock_us();
	for (size_t i = p->n_open; i-- > 0;)
		if (wanted[i].revents ? !serve(p, p->open[i]) : now > p->open[i]->deadline)
			drop(p, i);
}

static void *page_main(void *arg)
{
	struct hd_page *p = arg;
	for (;;) {
		struct pollfd wanted[CONNECTIONS + 2];
		nfds_t n = p->n_open;
		for (nfds_t i = 0; i < n; i++)
			wanted[i] = (struct pollfd){.fd = p->open[i]->socket, .events = POLLIN};
		wanted[n] = (struct pollfd){.fd = p->stop[0], .events = POLLIN};
		wanted[n + 1] = (struct pollfd){.fd = p->socket, .events = POLLIN};
		if (poll(wanted, n + 2, n ? PATIENCE_S * 1000 : -1) < 0) {
			if (errno != EINTR)
				return NULL;
			continue;
		}
		if (wanted[n].revents)
			return NULL;
		serve_all(p, wanted);
		if (wanted[n + 1].revents && take(p))
			/* accept fails if the process has too many open files; it is tried again after 100 ms */
			poll(&wanted[n], 1, 100);
	}
}

/* --- Start and end ------------------------------------------------------------------------------------------------ */

/* Listens on a port, with a new socket, because a socket whose listen has failed cannot be bound again. Returns 0, or
 * -1 with the reason in errno. */
static int try_port(struct hd_page *p, int port)
{
	const int yes = 1;
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	if (p->socket >= 0)
		close(p->socket);
	p->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->socket < 0)
		return -1;
	setsockopt(p->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	return bind(p->socket, (struct sockaddr *)&address, sizeof address) || listen(p->socket, CONNECTIONS) ? -1 : 0;
}

/* Listens on the port of the setting `live` or, if it is in use, on the next free one, so that several programs with
 * the same settings get a page each. */
static int listen_on(struct hd_page *p, int *port)
{
	enum { TRIES = 100 };
	const int first = *port;
	int failed = try_port(p, first);
	while (failed && errno == EADDRINUSE && *port < 65535 && *port < first + TRIES)
		failed = try_port(p, ++*port);
	return failed ? hd_error(HEDDLE_E_IO, "the setting live: port %d of 127.0.0.1: %s; choose another", first,
	                         strerror(errno))
	              : 0;
}

static void close_files(const struct hd_page *p)
{
	if (p->socket >= 0)
		close(p->socket);
	for (int i = 0; i < 2; i++)
		if (p->stop[i] >= 0)
			close(p->stop[i]);
	for (size_t i = 0; i < p->n_open; i++)
		close(p->open[i]->socket);
}

static void before_fork(void)
{
	pthread_mutex_lock(&pages_lock);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&pages_lock);
}

/* Runs in a child of fork, which has no page thread: closes the sockets and pipes of all pages. */
static void in_child(void)
{
	for (const struct hd_page *p = pages; p; p = p->next)
		close_files(p);
	pages = NULL;
	pthread_mutex_unlock(&pages_lock);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

static void enlist(struct hd_page *p)
{
	pthread_once(&forks_are_watched, watch_forks);
	pthread_mutex_lock(&pages_lock);
	p->next = pages;
	pages = p;
	pthread_mutex_unlock(&pages_lock);
}

static void free_page(struct hd_page *p)
{
	pthread_mutex_lock(&pages_lock);
	for (struct hd_page **at = &pages; *at; at = &(*at)->next)
		if (*at == p) {
			*at = p->next;
			break;
		}
	close_files(p);
	pthread_mutex_unlock(&pages_lock);
	for (size_t i = 0; i < p->n_open; i++)
		free(p->open[i]);
	free(p);
}

/* Opens the page's socket and pipe, and puts the page into the list; holds pages_lock throughout, so that no child of
 * fork gets a file descriptor that is in no list. */
static int open_files(struct hd_page *p, int *port)
{
	pthread_mutex_lock(&pages_lock);
	int status = listen_on(p, port);
	if (!status && pipe2(p->stop, O_CLOEXEC))
		status = hd_error(HEDDLE_E_IO, "the setting live: %s", strerror(errno));
	pthread_mutex_unlock(&pages_lock);
	return status;
}

int hd_page_open(heddle_runtime *rt)
{
	int asked = rt->config.live;
	struct hd_page *p = malloc(sizeof *p);
	if (!p)
		return hd_no_memory("the live page");
	*p = (struct hd_page){.rt = rt, .socket = -1, .stop = {-1, -1}};
	enlist(p);
	int status = open_files(p, &rt->config.live);
	if (!status && pthread_create(&p->thread, NULL, page_main, p))
		status = hd_error(HEDDLE_E_MEMORY, "the setting live: no thread for the page");
	if (status)
		free_page(p);
	else
		rt->page = p;
	if (!status && rt->config.live != asked)
		hd_reports_say("heddle: port %d is in use: the live page is http://127.0.0.1:%d/\n", asked,
		               rt->config.live);
	return status;
}

void hd_page_close(struct hd_page *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&pages_lock);
	close(p->stop[1]);
	p->stop[1] = -1;
	pthread_mutex_unlock(&pages_lock);
	pthread_join(p->thread, NULL);
	free_page(p);
}
