// SPDX-License-Identifier: GPL-2.0
/*
 * TLT's work (TLT21, 5.1) after TCP has processed a packet: it answers important data that TCP
 * did not answer, and clocks if TCP had nothing to send.  A tasklet runs right after the packets
 * of this interrupt.  While a process uses the socket, a work item waits for it, but not for
 * ever.  The process may itself wait for a page of memory from another program (userfaultfd,
 * FUSE), and neither other flows nor the end of TLT may depend on that.
 */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/percpu.h>

#include "compat/compat.h"
#include "tlt_config.h"
#include "tlt_deferred.h"
#include "tlt_flow.h"
#include "tlt_inject.h"
#include "tlt_net.h"
#include "tlt_select.h"

/* A process done with the socket wakes the waiters.  Other flows have their turn after this. */
#define TLT_DEFERRED_PATIENCE	msecs_to_jiffies(10)

struct tlt_deferred_queue {
	struct llist_head flows;
	struct tasklet_struct tasklet;
};

static DEFINE_PER_CPU(struct tlt_deferred_queue, tlt_deferred_queues);
static struct workqueue_struct *tlt_deferred_works;

static void tlt_deferred_look(const struct sock *sk, struct tlt_room *room)
{
	const struct inet_connection_sock *icsk = inet_csk(sk);

	*room = (struct tlt_room){
		.offered_bytes = tcp_receive_window(tcp_sk(sk)),
		.free_bytes = tcp_space(sk),
		.segment_bytes = icsk->icsk_ack.rcv_mss,
		.ack_due = inet_csk_ack_scheduled(sk),
	};
}

/* TCP delays ACKs; TLT answers important data now.  The output hook marks the ACK. */
static void tlt_deferred_answer(struct tlt_flow *flow, struct sock *sk)
{
	struct tlt_room room;
	bool owed;

	tlt_deferred_look(sk, &room);
	tlt_flow_lock(flow);
	owed = tlt_receiver_owes(&flow->receiver, &room);
	tlt_flow_unlock(flow);
	if (!owed || !((1 << sk->sk_state) & TLT_ANSWER_STATES))
		return;
	tlt_count(flow->tn, TLT_STAT_ANSWERS);
	tp_tcp_send_ack(sk, tcp_sk(sk)->rcv_nxt);
}

/*
 * As TCP does wherever it begins to work.  Its packets carry this time (TSval).  Clock data must
 * not carry a later one, or the peer would refuse TCP's next packet as old (PAWS).
 */
static void tlt_deferred_set_clock(struct tcp_sock *tp)
{
	u64 now_ns = tcp_clock_ns();

	tp->tcp_clock_cache = now_ns;
	tp->tcp_mstamp = div_u64(now_ns, NSEC_PER_USEC);
}

/* The socket is locked. */
static void tlt_deferred_run(struct tlt_flow *flow, struct sock *sk)
{
	const struct tlt_config *config;

	rcu_read_lock();
	config = rcu_dereference(flow->tn->config);
	if (config) {
		tlt_deferred_set_clock(tcp_sk(sk));
		tlt_deferred_answer(flow, sk);
		tlt_inject(flow, sk, config);
	}
	rcu_read_unlock();
}

static void tlt_deferred_done(struct tlt_flow *flow, struct sock *sk)
{
	struct tlt_net *tn = flow->tn;

	sock_put(sk);
	tlt_flow_put(flow);
	atomic_dec(&tn->deferred);
}

/* From here on the flow may be queued anew, also by a packet that TLT sends for it. */
static struct sock *tlt_deferred_take(struct tlt_flow *flow)
{
	struct sock *sk = flow->sk;

	clear_bit_unlock(TLT_FLOW_QUEUED, &flow->state);
	return sk;
}

/* Unless a process uses the socket.  Bottom halves are off. */
static bool tlt_deferred_try(struct tlt_flow *flow)
{
	struct sock *sk = flow->sk;

	bh_lock_sock(sk);
	if (sock_owned_by_user(sk)) {
		bh_unlock_sock(sk);
		return false;
	}
	tlt_deferred_take(flow);
	tlt_deferred_run(flow, sk);
	bh_unlock_sock(sk);
	tlt_deferred_done(flow, sk);
	return true;
}

/*
 * Waits as lock_sock() does, but for a limited time, and beside the exclusive waiters, which the
 * socket's release wakes one by one: a waiter woken here would not wake the next.
 */
static void tlt_deferred_wait_for(struct sock *sk)
{
	DEFINE_WAIT(wait);

	spin_lock_bh(&sk->sk_lock.slock);
	if (sock_owned_by_user(sk)) {
		prepare_to_wait(&sk->sk_lock.wq, &wait, TASK_UNINTERRUPTIBLE);
		spin_unlock_bh(&sk->sk_lock.slock);
		schedule_timeout(TLT_DEFERRED_PATIENCE);
		spin_lock_bh(&sk->sk_lock.slock);
		finish_wait(&sk->sk_lock.wq, &wait);
	}
	spin_unlock_bh(&sk->sk_lock.slock);
}

static void tlt_deferred_work(struct work_struct *work)
{
	struct tlt_flow *flow = container_of(work, struct tlt_flow, work);
	struct sock *sk = flow->sk;
	bool done;

	tlt_deferred_wait_for(sk);
	local_bh_disable();
	done = tlt_deferred_try(flow);
	local_bh_enable();
	if (done)
		return;
	if (rcu_access_pointer(flow->tn->config)) {
		queue_work(tlt_deferred_works, &flow->work);
		return;
	}
	tlt_deferred_take(flow);
	tlt_deferred_done(flow, sk);
}

static void tlt_deferred_one(struct tlt_flow *flow)
{
	if (tlt_deferred_try(flow))
		return;
	INIT_WORK(&flow->work, tlt_deferred_work);
	queue_work(tlt_deferred_works, &flow->work);
}

static void tlt_deferred_tasklet(struct tasklet_struct *tasklet)
{
	struct tlt_deferred_queue *queue = from_tasklet(queue, tasklet, tasklet);
	struct tlt_flow *flow, *next;
	struct llist_node *flows;

	flows = llist_reverse_order(llist_del_all(&queue->flows));
	llist_for_each_entry_safe(flow, next, flows, deferred)
		tlt_deferred_one(flow);
}

/* Bottom halves are off; the caller has a reference to @sk. */
void tlt_defer(struct tlt_flow *flow, struct sock *sk)
{
	struct tlt_deferred_queue *queue = this_cpu_ptr(&tlt_deferred_queues);

	if (test_and_set_bit_lock(TLT_FLOW_QUEUED, &flow->state))
		return;
	/* The flow was idle for long, and the reaper just forgets it. */
	if (!refcount_inc_not_zero(&flow->refs)) {
		clear_bit_unlock(TLT_FLOW_QUEUED, &flow->state);
		return;
	}
	sock_hold(sk);
	atomic_inc(&flow->tn->deferred);
	flow->sk = sk;
	llist_add(&flow->deferred, &queue->flows);
	tasklet_schedule(&queue->tasklet);
}

/* No hook runs any more: the flows that they queued will soon be done. */
void tlt_deferred_wait(const struct tlt_net *tn)
{
	while (atomic_read(&tn->deferred))
		usleep_range(1000, 2000);
}

int tlt_deferred_init(void)
{
	int cpu;

	tlt_deferred_works = alloc_workqueue("tlt", WQ_HIGHPRI | WQ_MEM_RECLAIM | TP_WQ_PERCPU,
					     0);
	if (!tlt_deferred_works)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct tlt_deferred_queue *queue = per_cpu_ptr(&tlt_deferred_queues, cpu);

		init_llist_head(&queue->flows);
		tasklet_setup(&queue->tasklet, tlt_deferred_tasklet);
	}
	return 0;
}

/* No hook runs any more. */
void tlt_deferred_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		tasklet_kill(&per_cpu_ptr(&tlt_deferred_queues, cpu)->tasklet);
	destroy_workqueue(tlt_deferred_works);
}
