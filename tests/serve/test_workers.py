"""The threads that work on calls: how many, in which order, which one."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from libravdb_memory.serve.workers import Workers


def test_the_thread_that_worked_last_is_taken_again() -> None:
    workers, names = Workers("warm", 4), list[str]()
    gate, ended = threading.Barrier(4), threading.Semaphore(0)

    def together() -> None:
        gate.wait(30)
        ended.release()

    def alone() -> None:
        names.append(threading.current_thread().name)
        ended.release()

    for _ in range(3):
        workers.submit(together)
    gate.wait(30)
    assert all(ended.acquire(timeout=30) for _ in range(3))
    all_idle(workers, 3)
    for _ in range(50):
        workers.submit(alone)
        assert ended.acquire(timeout=30)
        all_idle(workers, 3)
    assert len(set(names)) == 1
    workers.stop()


def all_idle(workers: Workers, count: int) -> None:
    """A thread is idle a moment after its work has ended."""
    pause = threading.Event()
    for _ in range(3_000):
        if len(workers._idle) == count:
            return
        pause.wait(0.01)
    raise AssertionError("they do not become idle")


@given(st.integers(1, 4), st.integers(0, 200))
def test_everything_is_worked_on_once_and_taken_in_the_order_in_which_it_was_given(count: int, pieces: int) -> None:
    workers, begun, ended = Workers("order", count), list[int](), threading.Semaphore(0)
    taking = threading.Lock()

    def piece(number: int) -> None:
        with taking:
            begun.append(number)
        ended.release()

    for number in range(pieces):
        workers.submit(lambda number=number: piece(number))  # type: ignore[misc]
    assert all(ended.acquire(timeout=30) for _ in range(pieces))
    assert sorted(begun) == list(range(pieces))
    if count == 1:
        assert begun == list(range(pieces))
    workers.stop()


def test_what_was_given_before_the_end_is_still_worked_on_and_then_the_threads_end() -> None:
    workers, gate, ended = Workers("ending", 1), threading.Event(), threading.Semaphore(0)
    threads: set[threading.Thread] = set()

    def work() -> None:
        gate.wait(30)
        threads.add(threading.current_thread())
        ended.release()

    for _ in range(5):
        workers.submit(work)
    assert workers.waiting == 4
    workers.stop()
    gate.set()
    assert all(ended.acquire(timeout=30) for _ in range(5))
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


@given(st.lists(st.sampled_from("abc"), max_size=60), st.integers(1, 4), st.booleans())
def test_clients_that_wait_take_turns_and_each_keeps_its_order(clients: list[str], count: int, lend: bool) -> None:
    workers, gate, ended = Workers("turns", count, lend=lend), threading.Event(), threading.Semaphore(0)
    begun: list[tuple[str, int]] = []
    taking = threading.Lock()

    def piece(client: str, number: int) -> None:
        with taking:
            begun.append((client, number))
        ended.release()

    def hold() -> None:
        gate.wait(30)
        ended.release()

    for seat in range(count):
        workers.submit(hold, seat)  # every thread is busy for somebody else
    for number, client in enumerate(clients):
        workers.submit(lambda client=client, number=number: piece(client, number), client)  # type: ignore[misc]
    assert workers.waiting == len(clients)
    gate.set()
    assert all(ended.acquire(timeout=30) for _ in range(count + len(clients)))
    assert sorted(number for _, number in begun) == list(range(len(clients)))
    if count == 1:
        assert [client for client, _ in begun] == in_turns(clients)
        for name in "abc":
            mine = [number for client, number in begun if client == name]
            assert mine == sorted(mine)
    workers.stop()


def in_turns(clients: list[str]) -> list[str]:
    left = {name: clients.count(name) for name in dict.fromkeys(clients)}
    order: list[str] = []
    while any(left.values()):
        for name in [name for name, count in left.items() if count]:
            order.append(name)
            left[name] -= 1
    return order


def test_where_threads_are_lent_one_client_never_has_all() -> None:
    workers, gate = Workers("lent", 3, lend=True), threading.Event()
    greedy, other = threading.Semaphore(0), threading.Event()

    def long_work() -> None:
        gate.wait(30)
        greedy.release()

    for _ in range(10):
        workers.submit(long_work, "greedy")
    assert workers.waiting == 8
    workers.submit(other.set, "modest")
    assert other.wait(30)
    all_idle(workers, 1)
    gate.set()
    assert all(greedy.acquire(timeout=30) for _ in range(10))
    all_idle(workers, 3)
    assert not workers._at_work
    workers.stop()
