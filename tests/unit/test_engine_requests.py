"""The order in which the engine is asked, and what is lost with a load."""

from __future__ import annotations

from desktop_app.core.settings import AnswerSettings, ModelSettings
from desktop_app.protocol.messages import Generate
from desktop_app.services.engine_requests import EngineRequests

TARGET = ModelSettings("/m/target.gguf")


def question(requests: EngineRequests) -> Generate:
    return requests.add_question([], AnswerSettings())


def test_a_load_goes_before_questions_that_wait() -> None:
    requests = EngineRequests()
    asked = question(requests)
    load = requests.add_load(TARGET, None)
    assert requests.begin_next() is load
    assert requests.end_running() is load
    assert requests.begin_next() is asked


def test_a_new_process_gets_the_pair_before_the_question_and_once() -> None:
    requests = EngineRequests()
    load = requests.add_load(TARGET, None)
    requests.begin_next()
    requests.drop_all()
    requests.process_started()
    first, second = question(requests), question(requests)
    order = []
    while (request := requests.begin_next()) is not None:
        order.append(request)
        requests.end_running()
    assert order == [load, first, second]


def test_questions_are_stranded_by_the_last_load_only() -> None:
    requests = EngineRequests()
    old = requests.add_load(TARGET, None)
    asked = question(requests)
    requests.begin_next()
    new = requests.add_load(TARGET, TARGET)
    assert requests.loads == [new.request, old.request]
    requests.end_running()
    requests.load_undone(old)
    assert requests.take_stranded() == []
    assert requests.begin_next() is new
    requests.end_running()
    requests.load_undone(new)
    assert requests.take_stranded() == [asked]
    assert not requests.any_wait


def test_a_request_that_waits_can_be_taken_back() -> None:
    requests = EngineRequests()
    asked = question(requests)
    assert requests.take_back(asked.request) is asked
    assert requests.take_back(asked.request) is None
    assert requests.begin_next() is None
