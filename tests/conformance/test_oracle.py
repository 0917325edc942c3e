"""The way to the oracle: answers come in order, and one question that ends the program costs only that question."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from conformance import oracle as oracle_module
from conformance.oracle import Oracle, allocation, scheduling, validation

pytestmark = pytest.mark.reference

TRUE = {"selector": {"expression": "true", "device": {"driver": "a"}}}


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with allocation() as running:
        yield running


def test_answers_come_in_the_order_of_the_questions(oracle: Oracle):
    questions = [{"id": str(number), "selector": {"expression": " " * (number % 7000) + "true"}} for number in range(500)]
    assert [answer["id"] for answer in oracle.ask_many(questions)] == [str(number) for number in range(500)]


def test_a_panic_of_kubernetes_is_an_answer(oracle: Oracle):
    optional_element_of_type_any = '[?device.attributes["a"].x] == [1]'  # cel.md 11.4
    question = {
        "selector": {"expression": optional_element_of_type_any, "environment": "NewExpressions", "device": {"driver": "a"}}
    }
    assert oracle.ask(question)["kind"] == "panic"
    assert oracle.ask(TRUE)["selector"]["match"] is True
    assert oracle.restarts == 0


def test_a_program_that_dies_is_started_again(oracle: Oracle):
    assert oracle.ask(TRUE)["kind"] == "selector"
    process = oracle._process
    assert process
    process.kill()
    process.wait()
    assert oracle.ask(TRUE)["selector"]["match"] is True


def test_a_program_that_hangs_is_killed_and_started_again(oracle: Oracle, monkeypatch: pytest.MonkeyPatch):
    assert oracle.ask(TRUE)["kind"] == "selector"
    assert oracle._process
    oracle._process.send_signal(signal.SIGSTOP)
    monkeypatch.setattr(oracle_module, "PATIENCE", 0.2)
    assert oracle.ask(TRUE)["kind"] == "panic"
    monkeypatch.undo()
    assert oracle.ask(TRUE)["selector"]["match"] is True


def test_a_misspelt_field_is_refused_by_every_program(oracle: Oracle):
    assert oracle.ask({"selektor": {}})["kind"] == "invalid"
    with scheduling() as scheduler:
        assert "unknown field" in scheduler.ask({"nodez": []})["error"]
    with validation() as objects:
        assert "unknown field" in objects.ask({"objekt": {}})["decode"]


def test_gates_hold_for_one_question_only():
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "a"},
        "spec": {
            "driver": "a.example.com",
            "nodeName": "n",
            "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "d", "attributes": {"x": {"strings": ["a"]}}}],
        },
    }
    with validation() as objects:
        before = objects.ask({"object": claim})
        changed = objects.ask({"object": claim, "gates": {"DRAListTypeAttributes": True}})
        after = objects.ask({"object": claim})
    assert before == after
    assert changed["errors"] == []
