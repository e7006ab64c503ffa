"""A scheduling policy of one's own, which then stands in one table with those that come with Heddle. Writes policy.png.

The rule: each ready task goes to the worker that would finish it first, counting the transfer of its data, as in HEFT;
the most urgent task of a worker comes first, and tasks are urgent that release much work."""
import heapq

import heddle


class Earliest(heddle.Policy):
    """The worker that would finish the task first; there, the longest remaining path first."""

    def setup(self):
        self.queues = [[] for _ in self.platform.workers]
        self.free = [0.0] * len(self.queues)  # when each worker will have done what is in its queue

    def ready(self, tasks, releaser):
        now = self.now()
        for task in sorted(tasks, key=lambda t: -t.priority):
            times = [task.time(c) for c in range(len(self.platform.classes))]
            moves = [task.transfer_time(n) for n in range(len(self.platform.nodes))]
            best, end = None, float("inf")
            for w, worker in enumerate(self.platform.workers):
                then = max(self.free[w], now) + moves[worker.node] + times[worker.class_id]
                if then < end and task.can_run(w):
                    best, end = w, then
            self.free[best] = end
            task.prefetch(self.platform.workers[best].node)
            heapq.heappush(self.queues[best], (-task.priority, task.order, task))

    def pick(self, worker):
        queue = self.queues[worker]
        return heapq.heappop(queue)[2] if queue else None


graph = heddle.cholesky(20)
table = heddle.compare(graph, "intel-v100", ["eager", "lws", "dmdas", "heft", Earliest])
print(table)
table["earliest"].gantt("policy.png")
