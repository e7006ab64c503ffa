/* The live page. A thread answers one request at a time, on the loopback device alone: `/` is a page that asks for
 * `/state` twice a second, which is JSON. The state is taken under the core lock, and takes as long as there are
 * workers and memories, however many tasks there are. Nothing can be changed from there. */
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

enum { REQUEST = 16384, PATIENCE_S = 10 };

struct hd_page {
	heddle_runtime *rt;
	int socket, stop[2]; /* stop: a pipe; when its end for writing is closed the thread ends */
	pthread_t thread;
};

static const char html[] =
    "<!DOCTYPE html><meta charset=utf-8><title>Heddle</title><style>"
    "body{font:14px sans-serif;margin:2em}table{border-collapse:collapse;margin:1em 0}"
    "td,th{padding:2px 12px 2px 0;text-align:left}td.n{text-align:right}"
    ".bar{display:inline-block;height:10px;background:#4a90c4}.idle{color:#999}</style>"
    "<h1>Heddle</h1><p id=tasks></p><table id=workers></table><table id=memories></table>"
    "<script>\n"
    "const cell = (text, kind) => { const td = document.createElement('td'); td.textContent = text;"
    " td.className = kind || ''; return td; };\n"
    "const mib = b => (b / 1048576).toFixed(1) + ' MiB';\n"
    "function fill(id, head, rows) { const t = document.getElementById(id); t.textContent = '';"
    " for (const r of [head, ...rows]) { const tr = t.insertRow(); for (const c of r) tr.append(c instanceof Node ? c :"
    " cell(c)); } }\n"
    "function share(x) { const td = cell(''); const b = document.createElement('span'); b.className = 'bar';"
    " b.style.width = 100 * x + 'px'; td.append(b, ' ' + (100 * x).toFixed(0) + ' %'); return td; }\n"
    "async function show() { try { const s = await (await fetch('/state')).json();\n"
    "document.getElementById('tasks').textContent = `${s.policy} on ${s.platform}: ${s.ended} tasks ended, "
    "${s.running} "
    "running, ${s.staged} next on their workers, ${s.ready} ready, ${s.unfinished} unfinished; "
    "${s.transfers_under_way} "
    "copies under way, ${s.transfers} so far, ${mib(s.bytes_moved)}`;\n"
    "fill('workers', ['worker', 'busy', 'runs'], s.workers.map(w => [w.name, share(w.busy_share), "
    "cell(w.tasks.join(', ') || 'idle', w.tasks.length ? '' : 'idle')]));\n"
    "fill('memories', ['memory', 'used', 'capacity', 'evictions'], s.memories.map(m => [m.name, mib(m.used), "
    "m.capacity ?"
    " mib(m.capacity) : 'no limit', m.evictions]));\n"
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
	hd_text_put(text, w->id ? ", {\"name\": " : "{\"name\": ");
	hd_text_json(text, rt->platform->workers[w->id].name);
	hd_text_put(text, ", \"class\": ");
	hd_text_json(text, rt->platform->classes[rt->platform->workers[w->id].class_id].name);
	hd_text_format(text, ", \"in_flight\": %u, \"busy_share\": %.4f, \"tasks\": [", w->in_flight,
	               now > 0 ? w->busy / now < 1 ? w->busy / now : 1.0 : 0.0);
	for (unsigned i = 0; i < w->n_slots; i++) {
		if (!w->slots[i].task)
			continue;
		hd_text_put(text, n++ ? ", " : "");
		hd_text_json(text, hd_task_title(w->slots[i].task, title, sizeof title));
	}
	hd_text_put(text, "]}");
}

/* The lock is held. */
static void put_state(struct hd_text *text, heddle_runtime *rt, double now)
{
	HD_HELD(&rt->lock);
	hd_text_put(text, "{\"policy\": ");
	hd_text_json(text, rt->sched.policy->name);
	hd_text_put(text, ", \"platform\": ");
	hd_text_json(text, rt->platform->name);
	hd_text_put(text, ", ");
	/* With those that lie in the ring. Relaxed, pairs with nothing: a task that this misses is being submitted. */
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

/* Whether the request is for this machine by its own name: another name may be one that a page of somebody else's has
 * been given this address by. */
static int is_for_us(const char *request)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};
	const char *host = strcasestr(request, "\r\nhost:");
	if (!host)
		return 0;
	host += strlen("\r\nhost:");
	host += strspn(host, " ");
	size_t length = strcspn(host, ": \r"); /* without the port */
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

/* Whether more of a request has come. 0: nothing has for too long, or the runtime stops. */
static int has_more(const struct hd_page *p, int from, double deadline)
{
	struct pollfd wanted[2] = {{.fd = from, .events = POLLIN}, {.fd = p->stop[0], .events = POLLIN}};
	double left_ms = (deadline - hd_clock_us()) / 1e3;
	return left_ms > 0 && poll(wanted, 2, (int)left_ms + 1) > 0 && !wanted[1].revents;
}

static void serve_one(const struct hd_page *p, int from)
{
	char request[REQUEST + 1];
	size_t n = 0;
	double deadline = hd_clock_us() + PATIENCE_S * 1e6;
	const struct timeval patience = {.tv_sec = 1}; /* a reply is small: the socket takes it at once */
	setsockopt(from, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	while (n < REQUEST && has_more(p, from, deadline)) {
		ssize_t got = recv(from, request + n, REQUEST - n, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
		request[n] = '\0';
		if (strstr(request, "\r\n\r\n")) {
			answer(p, from, request);
			break;
		}
	}
	close(from);
}

static void *page_main(void *arg)
{
	const struct hd_page *p = arg;
	struct pollfd wanted[2] = {{.fd = p->socket, .events = POLLIN}, {.fd = p->stop[0], .events = POLLIN}};
	for (;;) {
		if (poll(wanted, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (wanted[1].revents)
			return NULL;
		int from = wanted[0].revents ? accept4(p->socket, NULL, NULL, SOCK_CLOEXEC) : -1;
		if (from >= 0)
			serve_one(p, from);
		else
			poll(&wanted[1], 1, 100); /* the process may have no more files: it is asked again later */
	}
}

/* --- Start and end ------------------------------------------------------------------------------------------------ */

static int listen_on(struct hd_page *p, int port)
{
	const int yes = 1;
	struct sockaddr_in address = {
	    .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	p->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->socket >= 0)
		setsockopt(p->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (p->socket < 0 || bind(p->socket, (struct sockaddr *)&address, sizeof address) || listen(p->socket, 8))
		return hd_error(HEDDLE_E_IO, "the setting live: port %d of 127.0.0.1: %s; choose another", port,
		                strerror(errno));
	return 0;
}

static void free_page(struct hd_page *p)
{
	if (p->socket >= 0)
		close(p->socket);
	for (int i = 0; i < 2; i++)
		if (p->stop[i] >= 0)
			close(p->stop[i]);
	free(p);
}

int hd_page_open(heddle_runtime *rt, int port)
{
	struct hd_page *p = malloc(sizeof *p);
	if (!p)
		return hd_no_memory("the live page");
	*p = (struct hd_page){.rt = rt, .socket = -1, .stop = {-1, -1}};
	int status = listen_on(p, port);
	if (!status && (pipe2(p->stop, O_CLOEXEC) || pthread_create(&p->thread, NULL, page_main, p)))
		status = hd_error(HEDDLE_E_MEMORY, "the setting live: no thread for the page");
	if (status)
		free_page(p);
	else
		rt->page = p;
	return status;
}

void hd_page_close(struct hd_page *p)
{
	if (!p)
		return;
	close(p->stop[1]);
	p->stop[1] = -1;
	pthread_join(p->thread, NULL);
	free_page(p);
}
