"""The oracle: Kubernetes' own released code, asked over a pipe.

A conformance test states what we answer and compares it with what the real thing answers. Four programs stand in for it, built
from `reference/` on first use: `allocation()` (the scheduler's allocator, the CEL compiler), `validation()` (the API server's
decoding, defaults, conversion and validation), `scheduling()` (the whole scheduler) and `admission()` (quotas and limits). Fields
of questions and answers: `reference/README.md`.

    with allocation() as oracle:
        oracle.ask({"selector": {"expression": "device.driver == 'a'", "device": {"driver": "a"}}})

Start-up costs 15 to 30 ms and an answer some 50 µs (scheduling: 5 to 250 ms), so a test module keeps one session. Where Go is
missing the tests are skipped, except in CI (CI=true or REPARTO_REQUIRE_GO=1), where that is a failure. REPARTO_ORACLE_ALLOCATION,
…_VALIDATION and …_SCHEDULING name programs that are built already.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "reference.py"
#: Questions sent ahead of the answers; enough to hide the pipe, few enough that a crash costs little.
AHEAD = 64
#: Seconds to wait for one answer before the program counts as dead. Questions have limits of their own, which are far shorter.
PATIENCE = 120

Question = dict[str, Any]
Answer = dict[str, Any]


def _unavailable(reason: str) -> None:
    if os.environ.get("CI") == "true" or os.environ.get("REPARTO_REQUIRE_GO") == "1":
        pytest.fail(f"the reference is required here and cannot be had: {reason}", pytrace=False)
    pytest.skip(f"needs Kubernetes' own code: {reason}")


def _script(*arguments: str) -> str:
    done = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        _unavailable(" / ".join(lines[-3:]))
    return done.stdout.strip()


@cache
def program(name: str) -> Path:
    """Path of a reference program, built if need be."""
    ready = os.environ.get(f"REPARTO_ORACLE_{name.upper()}")
    return Path(ready or _script(name))


@cache
def module_folder(module: str) -> Path:
    """Folder of a Go module that the reference depends on, for the test data that it brings."""
    return Path(_script("--module", module))


class Oracle:
    """One running reference program. It is restarted when it dies; the question that killed it is answered `{"kind": "panic"}`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.restarts = 0
        self._path = program(name)
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: Question) -> Answer:
        """The answer to one question."""
        return next(self.ask_many([question]))

    def ask_many(self, questions: Iterable[Question]) -> Iterator[Answer]:
        """Answers in the order of the questions, which are sent ahead."""
        waiting: list[Question] = []
        for question in questions:
            waiting.append(question)
            if len(waiting) == AHEAD:
                yield from self._exchange(waiting)
                waiting = []
        yield from self._exchange(waiting)

    def _exchange(self, questions: list[Question]) -> list[Answer]:
        lines = [json.dumps(question).encode() + b"\n" for question in questions]
        answers: list[Answer] = []
        while len(answers) < len(lines):
            if not self._converse(lines[len(answers) :], answers):
                # The first one without an answer killed it; those behind it are asked again.
                killer = questions[len(answers)]
                answers.append({"id": killer.get("id", ""), "kind": "panic", "error": f"the {self.name} oracle died or hung"})
        return answers

    def _converse(self, lines: list[bytes], answers: list[Answer]) -> bool:
        """Appends the answers to the lines; False where the program died before the last one."""
        process = self._running()
        pipe, replies = process.stdin, process.stdout
        assert pipe and replies

        def write() -> None:
            try:
                pipe.writelines(lines)
                pipe.flush()
            except OSError:
                return  # it died; the reader notices

        answered = threading.Event()

        def watch() -> None:
            before = -1
            while not answered.wait(PATIENCE):
                if len(answers) == before:
                    process.kill()  # the reader notices
                    return
                before = len(answers)

        # A writer of its own: with large questions both pipes fill up, and each side would wait for the other.
        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        threading.Thread(target=watch, daemon=True).start()
        try:
            for _ in lines:
                line = replies.readline()
                if not line.endswith(b"\n"):
                    self.close()
                    self.restarts += 1
                    return False
                answers.append(json.loads(line))
        except BaseException:
            self.close()  # interrupted between question and answer: the next question must not get this answer
            raise
        finally:
            answered.set()
            writer.join()
        return True

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close()
        if self._process is None:
            self._process = subprocess.Popen([self._path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return self._process

    def close(self) -> None:
        """Ends the program."""
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # what was still to be written is of no interest to a dead process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def allocation() -> Oracle:
    """The scheduler's allocator and the CEL compiler of Kubernetes 1.37.2."""
    return Oracle("allocation")


def admission() -> Oracle:
    """Quotas and LimitRanges as the API server 1.37.2 admits pods and claims."""
    return Oracle("admission")


def scheduling() -> Oracle:
    """kube-scheduler 1.37.2 on an in-memory API: one attempt per pod, one pod after the other."""
    return Oracle("scheduling")


def validation() -> Oracle:
    """Decoding, defaults, conversion and validation of the API server 1.37.2."""
    return Oracle("validation")
