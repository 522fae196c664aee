"""A dict may use today's words, words of earlier scenarios, and names that people type: the results are the same."""

import pytest

import paceline
from conftest import ring

NET = {"workload": {"profile": "resnet-50", "batch": 4, "step_time": "10ms"}}
TODAY = [
    {"label": "dense", "kind": "dense", "aggregation": {"kind": "all-reduce", "plan": "halving-doubling"}},
    {"label": "buckets", "kind": "sgd", "schedule": "25MiB"},
    {"label": "DGC", "kind": "dgc", "codec": {"kind": "dgc", "density": 0.01}},
    {"label": "QSGD", "kind": "sgd", "codec": {"kind": "qsgd"}, "aggregation": {"kind": "all-gather", "how": "bruck"}},
    {"label": "two-phase", "kind": "sgd", "codec": "terngrad", "aggregation": "two-phase"},
    {"label": "servers", "kind": "sgd", "aggregation": {"kind": "all-reduce", "plan": "parameter-server"}},
]
EARLIER = [
    {"label": "dense", "kind": "dense", "all_reduce": "halving-doubling"},
    {"label": "buckets", "kind": "dense-overlapped", "bucket": "25MiB"},
    {"label": "DGC", "kind": "dgc", "density": 0.01},
    {"label": "QSGD", "kind": "compressed-sgd", "compressor": {"kind": "qsgd"}, "exchange": "all-gather-bruck"},
    {"label": "two-phase", "kind": "sgd", "codec": "terngrad", "transport": "two-phase"},
    {"label": "servers", "kind": "ps-sync"},
]


def test_earlier_words_give_the_results_of_todays():
    today, earlier = (paceline.run(ring(**NET, sweep={"algorithm": words})) for words in (TODAY, EARLIER))
    assert len({point.metrics["bytes_sent_per_node_per_step"] for point in today.points}) >= 4
    assert earlier.csv() == today.csv()


def test_a_version_means_nothing():
    expected = paceline.run(ring()).csv()
    for version in (1, 2):
        assert paceline.run(ring(version=version, algorithm={"kind": "dense", "all_reduce": "ring"})).csv() == expected


def test_a_name_that_people_type_is_its_own_label():
    spelled = {"label": "ddp", "kind": "sgd", "schedule": {"pieces": "25MiB", "begin": "beside-backward"}}
    of_name = paceline.run(ring(**NET, algorithm={"kind": "ddp"}))
    assert list(of_name.frame["algorithm"]) == ["ddp"]
    assert of_name.csv() == paceline.run(ring(**NET, algorithm=spelled)).csv()


def test_an_error_names_the_word_that_the_user_wrote():
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.run(ring(algorithm={"kind": "dense", "all_reduce": "rung"}))
    assert (caught.value.path, caught.value.value) == ("algorithm.all_reduce", "rung")


def test_an_earlier_word_beside_todays_is_refused():
    with pytest.raises(paceline.ScenarioError, match='earlier name of "aggregation') as caught:
        paceline.run(ring(algorithm={"kind": "dense", "all_reduce": "ring", "aggregation": "all-reduce"}))
    assert caught.value.path == "algorithm.all_reduce"


@pytest.mark.parametrize("kind", [{"a": 1}, ["sgd"], None, 3])
def test_a_kind_that_is_no_text_is_refused_at_its_place(kind):
    with pytest.raises(paceline.ScenarioError) as caught:
        paceline.run(ring(algorithm={"kind": kind}))
    assert caught.value.path == "algorithm.kind"
