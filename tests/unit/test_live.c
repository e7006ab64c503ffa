/* The setting live: a client of its page, while tasks run. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <netinet/in.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "internals.h"
#include "ok.h"

static sem_t begun, may_end;

static int held(heddle_context *c)
{
	(void)c;
	sem_post(&begun);
	sem_wait(&may_end);
	return 0;
}

static struct sockaddr_in loopback(int port)
{
	return (struct sockaddr_in){
	    .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* A port that was free a moment ago. */
static int free_port(void)
{
	struct sockaddr_in address = loopback(0);
	socklen_t size = sizeof address;
	int s = socket(AF_INET, SOCK_STREAM, 0);
	if (s < 0 || bind(s, (struct sockaddr *)&address, size)) {
		print_message("there is no loopback device here\n");
		skip();
	}
	assert_int_equal(getsockname(s, (struct sockaddr *)&address, &size), 0);
	close(s);
	return ntohs(address.sin_port);
}

/* One CPU worker, emulated accelerators, and the page. Another program may take the port first: then the page has
 * another one. */
static heddle_runtime *start_with(struct heddle_config *config, int n_emulated)
{
	heddle_runtime *rt = NULL;
	OK(heddle_config_init(config));
	config->n_cpu = 1;
	config->n_cuda = config->n_opencl = 0;
	config->n_emulated = n_emulated;
	config->model_dir = "none";
	config->live = free_port();
	OK(heddle_start(config, &rt));
	config->live = rt->config.live;
	return rt;
}

static heddle_runtime *start(struct heddle_config *config)
{
	return start_with(config, 0);
}

/* What the page answers; the caller frees it. NULL: nobody listens. */
static char *ask(int port, const char *request)
{
	struct sockaddr_in address = loopback(port);
	int s = socket(AF_INET, SOCK_STREAM, 0);
	const struct timeval patience = {.tv_sec = 60}; /* of another program that has the port by now */
	setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	size_t n = 0, max = 1 << 16;
	char *text = malloc(max);
	if (connect(s, (struct sockaddr *)&address, sizeof address)) {
		close(s);
		free(text);
		return NULL;
	}
	assert_int_equal(send(s, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	for (ssize_t got; n + 1 < max && (got = recv(s, text + n, max - 1 - n, 0)) > 0;)
		n += (size_t)got;
	text[n] = '\0';
	close(s);
	return text;
}

static void assert_answer(int port, const char *request, const char *begin, const char *word)
{
	char *text = ask(port, request);
	assert_non_null(text);
	assert_int_equal(strncmp(text, begin, strlen(begin)), 0);
	assert_non_null(strstr(text, word));
	free(text);
}

static json_t *state_of(int port)
{
	char *text = ask(port, "GET /state HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_non_null(text);
	const char *body = strstr(text, "\r\n\r\n");
	assert_non_null(body);
	json_t *state = json_loads(body, 0, NULL);
	assert_non_null(state);
	free(text);
	return state;
}

static double number_of(const json_t *object, const char *name)
{
	const json_t *number = json_object_get(object, name);
	assert_true(json_is_number(number));
	return json_number_value(number);
}

static void running_task_and_waiting_one_are_shown(void **state)
{
	(void)state;
	struct heddle_config config;
	heddle_runtime *rt = start(&config);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "held", .cpu = held);
	double x = 0;
	heddle_data *d;
	OK(heddle_variable(rt, &x, sizeof x, &d));
	for (int i = 0; i < 3; i++)
		OK(heddle_submit(rt, heddle_call(c), heddle_rw(d)));
	sem_post(&may_end);
	sem_wait(&begun);
	sem_wait(&begun); /* so the first has ended, and the second runs */
	json_t *s = state_of(config.live), *worker = json_array_get(json_object_get(s, "workers"), 0);
	assert_int_equal(json_integer_value(json_object_get(s, "running")), 1);
	assert_int_equal(json_integer_value(json_object_get(s, "unfinished")), 2);
	assert_int_equal(json_integer_value(json_object_get(s, "ended")), 1);
	assert_string_equal(json_string_value(json_object_get(worker, "name")), "cpu0");
	const char *task = json_string_value(json_array_get(json_object_get(worker, "tasks"), 0));
	assert_true(task && strstr(task, "held"));
	assert_int_equal(json_array_size(json_object_get(s, "memories")), 1);
	double at = number_of(s, "now"), busy = number_of(worker, "busy");
	json_decref(s);
	/* From two states follows how busy a worker was between them: this one all the time, to the rounding. */
	s = state_of(config.live);
	worker = json_array_get(json_object_get(s, "workers"), 0);
	assert_true(fabs(number_of(worker, "busy") - busy - (number_of(s, "now") - at)) <= 2);
	json_decref(s);
	sem_post(&may_end);
	sem_post(&may_end);
	OK(heddle_unregister(d));
	sem_wait(&begun);
	s = state_of(config.live);
	assert_int_equal(json_integer_value(json_object_get(s, "running")), 0);
	json_decref(s);
	OK(heddle_stop(rt));
	char *after = ask(config.live, "GET / HTTP/1.1\r\n\r\n"); /* another program may have the port */
	assert_true(!after || !strstr(after, "127.0.0.1 or localhost"));
	free(after);
}

static void page_is_for_this_machine_alone_and_has_no_other_files(void **state)
{
	(void)state;
	struct heddle_config config;
	heddle_runtime *rt = start(&config), *other;
	int port = config.live;
	assert_answer(port, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "HTTP/1.1 200", "<title>Heddle");
	assert_answer(port, "GET /x HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "HTTP/1.1 404", "/state");
	assert_answer(port, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "HTTP/1.1 404", "/state");
	assert_answer(port, "GET / HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n", "HTTP/1.1 403", "localhost");
	assert_answer(port, "GET / HTTP/1.1\r\nHost: localhost.example\r\n\r\n", "HTTP/1.1 403", "localhost");
	assert_answer(port, "GET / HTTP/1.1\r\nHost: localhost:80\r\n\r\n", "HTTP/1.1 200", "<title>Heddle");
	assert_answer(port, "GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 403", "localhost");
	OK(heddle_stop(rt));
	OK(heddle_start(&config, &other)); /* the port is free again, unless another program has taken it */
	OK(heddle_stop(other));
}

static int refusals; /* of listen that are still to come */

/* In place of the C library's, which refuses a port where another socket has come first that was bound before. */
int listen(int s, int backlog)
{
	if (refusals > 0) {
		refusals--;
		errno = EADDRINUSE;
		return -1;
	}
	return (int)syscall(SYS_listen, s, backlog);
}

static void page_whose_port_is_lost_to_another_has_the_next_one(void **state)
{
	(void)state;
	struct heddle_config config;
	refusals = 2;
	heddle_runtime *rt = start(&config);
	assert_int_equal(refusals, 0);
	assert_answer(config.live, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200", "<title>Heddle");
	OK(heddle_stop(rt));
}

static void second_page_has_the_next_free_port(void **state)
{
	(void)state;
	struct heddle_config config;
	heddle_runtime *rt = start(&config), *other;
	OK(heddle_start(&config, &other));
	assert_true(other->config.live > config.live);
	assert_answer(config.live, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200", "<title>Heddle");
	assert_answer(other->config.live, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200", "<title>Heddle");
	OK(heddle_stop(rt));
	OK(heddle_stop(other));
}

/* Browsers open connections before they know what to ask, and keep them: more than the page has places for. */
static void connections_without_requests_hold_up_nobody(void **state)
{
	enum { MANY = 40 };
	(void)state;
	struct heddle_config config;
	heddle_runtime *rt = start(&config);
	struct sockaddr_in address = loopback(config.live);
	int silent[MANY];
	for (int i = 0; i < MANY; i++) {
		silent[i] = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(silent[i], (struct sockaddr *)&address, sizeof address), 0);
		if (i % 8 == 0)
			json_decref(state_of(config.live));
	}
	json_decref(state_of(config.live));
	/* the first have been dropped, and the last one may still ask */
	static const char request[] = "GET /state HTTP/1.1\r\nHost: localhost\r\n\r\n";
	char c;
	assert_true(recv(silent[0], &c, 1, 0) <= 0);
	assert_int_equal(send(silent[MANY - 1], request, sizeof request - 1, MSG_NOSIGNAL), sizeof request - 1);
	assert_int_equal(recv(silent[MANY - 1], &c, 1, 0), 1);
	assert_int_equal(c, 'H');
	for (int i = 0; i < MANY; i++)
		close(silent[i]);
	OK(heddle_stop(rt));
}

/* A child of fork, which lives on, keeps neither the port nor a connection. */
static void children_of_fork_do_not_keep_the_page(void **state)
{
	(void)state;
	struct heddle_config config;
	heddle_runtime *rt = start(&config), *again;
	int end[2], connection = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in address = loopback(config.live);
	assert_int_equal(pipe(end), 0);
	assert_int_equal(connect(connection, (struct sockaddr *)&address, sizeof address), 0);
	json_decref(state_of(config.live)); /* so it has been accepted */
	pid_t child = fork();
	if (!child) {
		char c;
		close(end[1]);
		_exit((int)read(end[0], &c, 1)); /* until the parent closes its end */
	}
	OK(heddle_stop(rt));
	char c;
	assert_true(recv(connection, &c, 1, 0) <= 0); /* nobody has it any more */
	int status = heddle_start(&config, &again);
	assert_true(status == 0 || status == HEDDLE_E_IO); /* another program may have taken the port */
	if (!status) {
		json_decref(state_of(config.live));
		OK(heddle_stop(again));
	} else {
		char *text = ask(config.live, "GET / HTTP/1.1\r\n\r\n");
		assert_true(!text || !strstr(text, "127.0.0.1 or localhost"));
		free(text);
	}
	close(connection);
	close(end[0]);
	close(end[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
}

static int add_one(heddle_context *c)
{
	++*(double *)heddle_ptr(c, 0);
	return 0;
}

static void each_link_shows_what_it_has_moved(void **state)
{
	(void)state;
	struct heddle_config config;
	heddle_runtime *rt = start_with(&config, 1);
	heddle_codelet *c = heddle_codelet_new(rt, .name = "add_one", .cpu = add_one);
	double x = 0;
	heddle_data *d;
	OK(heddle_variable(rt, &x, sizeof x, &d));
	OK(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_on(1)));
	OK(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_on(0)));
	OK(heddle_submit(rt, heddle_call(c), heddle_rw(d), heddle_on(1)));
	OK(heddle_wait_all(rt));
	json_t *s = state_of(config.live), *links = json_object_get(s, "links");
	assert_int_equal(json_array_size(links), 2);
	for (size_t i = 0; i < 2; i++) {
		json_t *link = json_array_get(links, i);
		int there = strcmp(json_string_value(json_object_get(link, "from")),
		                   heddle_runtime_platform(rt)->nodes[0].name) == 0;
		assert_int_equal(json_integer_value(json_object_get(link, "transfers")), there ? 2 : 1);
		assert_int_equal(json_integer_value(json_object_get(link, "bytes")), there ? 16 : 8);
	}
	json_decref(s);
	OK(heddle_unregister(d));
	OK(heddle_stop(rt));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(running_task_and_waiting_one_are_shown),
	    cmocka_unit_test(page_is_for_this_machine_alone_and_has_no_other_files),
	    cmocka_unit_test(page_whose_port_is_lost_to_another_has_the_next_one),
	    cmocka_unit_test(second_page_has_the_next_free_port),
	    cmocka_unit_test(connections_without_requests_hold_up_nobody),
	    cmocka_unit_test(children_of_fork_do_not_keep_the_page),
	    cmocka_unit_test(each_link_shows_what_it_has_moved),
	};
	sem_init(&begun, 0, 0);
	sem_init(&may_end, 0, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
