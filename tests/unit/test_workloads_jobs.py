"""Jobs and CronJobs: how many pods run at once, and which indexes. Rules: pkg/controller/job, pkg/apis/batch/v1/defaults.go."""

import pytest

from unit.workload_objects import expanded, names, owned, owners, pod_template, running, stems, workload

INDEX = "batch.kubernetes.io/job-completion-index"


def job(status=None, metadata=None, **spec):
    return workload("batch/v1", "Job", {"template": pod_template(), **spec}, name="train", status=status, **(metadata or {}))


@pytest.mark.parametrize(
    ("spec", "pods"),
    [
        ({}, 1),  # both absent: one completion, one at a time
        ({"parallelism": 4}, 4),  # a work queue: completions absent
        ({"completions": 6}, 1),  # one after the other
        ({"completions": 6, "parallelism": 4}, 4),
        ({"completions": 2, "parallelism": 4}, 2),
        ({"parallelism": 0}, 0),
        ({"parallelism": 4, "suspend": True}, 0),
    ],
)
def test_as_many_pods_as_run_at_once(spec, pods: int):
    assert stems(expanded(job(**spec))) == ["train-"] * pods


def test_pods_carry_the_jobs_name_and_uid():
    (pod,) = expanded(job(metadata={"uid": "u-1"})).pods
    labels = pod.metadata.labels or {}
    assert labels["batch.kubernetes.io/job-name"] == labels["job-name"] == "train"
    assert labels["batch.kubernetes.io/controller-uid"] == labels["controller-uid"] == "u-1"
    assert pod.metadata.owner_references[0].uid == "u-1"


def test_succeeded_pods_are_not_run_again():
    # 6 wanted, 3 succeeded, 2 running: one more may start (6 - 3 = 3 at once).
    exist = [running(f"train-{n}", owned("Job", "train"), phase="Succeeded") for n in "abc"]
    exist += [running(f"train-{n}", owned("Job", "train")) for n in "de"]
    assert len(expanded(job(completions=6, parallelism=4), *exist).pods) == 1


def test_the_status_counts_pods_that_are_gone():
    assert len(expanded(job({"succeeded": 5}, completions=6, parallelism=4)).pods) == 1


def test_a_work_queue_that_has_a_success_starts_no_further_pods():
    assert expanded(job({"succeeded": 1}, parallelism=4)).pods == ()


@pytest.mark.parametrize("condition", ["Complete", "Failed"])
def test_a_finished_job_has_no_pods(condition: str):
    assert expanded(job({"conditions": [{"type": condition, "status": "True"}]}, parallelism=2)).pods == ()


def test_indexed_pods_have_their_index_in_name_label_annotation():
    found = expanded(job(completions=3, parallelism=2, completionMode="Indexed"))
    assert stems(found) == ["train-0-", "train-1-"]
    assert [(pod.metadata.labels or {})[INDEX] for pod in found.pods] == ["0", "1"]
    assert [(pod.metadata.annotations or {})[INDEX] for pod in found.pods] == ["0", "1"]


def test_the_lowest_indexes_that_neither_succeeded_nor_run_come_next():
    # Of 0..7: 0, 2, 3 are complete, 1 runs, 5 has failed for good; two more may start (8 - 3 = 5, at most 3 at once, 1 runs).
    busy = running("train-1-aaaaa", owned("Job", "train"), annotations={INDEX: "1"})
    status = {"completedIndexes": "0,2-3", "failedIndexes": "5"}
    found = expanded(job(status, completions=8, parallelism=3, completionMode="Indexed"), busy)
    assert stems(found) == ["train-4-", "train-6-"]


def test_a_long_name_is_cut_so_that_the_index_stays():
    # 58 characters before those that are drawn: 55 of the name, and -0-.
    long = workload("batch/v1", "Job", {"template": pod_template(), "completions": 1, "completionMode": "Indexed"}, name="n" * 60)
    assert stems(expanded(long)) == ["n" * 55 + "-0-"]


def test_indexed_without_completions_is_refused():
    found = expanded(job(parallelism=2, completionMode="Indexed"))
    assert found.pods == ()
    assert [problem.path for problem in found.problems] == ["spec.completions"]


def test_two_jobs_of_one_generate_name_are_two_jobs():
    one = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"generateName": "run-", "namespace": "ml"},
        "spec": {"template": pod_template()},
    }
    found = expanded(one, {**one, "metadata": {**one["metadata"], "labels": {"x": "y"}}})
    assert len(set(owners(found))) == len(names(found)) == 2


# --- CronJobs ---------------------------------------------------------------------------------------------------------------------


def cron_job(**spec):
    inner = {"metadata": {"labels": {"team": "a"}}, "spec": {"parallelism": 2, "completions": 2, "template": pod_template()}}
    return workload("batch/v1", "CronJob", {"schedule": "0 * * * *", "jobTemplate": inner, **spec}, name="nightly")


def test_a_cron_job_is_planned_for_one_run():
    found = expanded(cron_job())
    (run,) = set(owners(found))
    assert run.startswith("Job/nightly-")
    assert stems(found) == [f"{run.removeprefix('Job/')}-"] * 2


def test_a_suspended_cron_job_has_none():
    assert expanded(cron_job(suspend=True)).pods == ()


def test_a_run_of_the_input_is_the_run():
    spec = {"parallelism": 2, "completions": 2, "template": pod_template()}
    run = workload(
        "batch/v1", "Job", spec, name="nightly-28000000", ownerReferences=owned("CronJob", "nightly", api_version="batch/v1")
    )
    pod = running("nightly-28000000-aaaaa", owned("Job", "nightly-28000000"))
    assert stems(expanded(cron_job(), run, pod)) == ["nightly-28000000-"]


def test_a_finished_run_is_followed_by_another():
    done = {"conditions": [{"type": "Complete", "status": "True"}]}
    run = workload(
        "batch/v1",
        "Job",
        {"template": pod_template()},
        name="nightly-28000000",
        status=done,
        ownerReferences=owned("CronJob", "nightly"),
    )
    found = expanded(cron_job(), run)
    assert len(found.pods) == 2
    assert "Job/nightly-28000000" not in owners(found)


def test_pods_of_a_run_count_where_its_job_is_not_in_the_input():
    assert expanded(cron_job(), running("nightly-28000000-aaaaa", owned("Job", "nightly-28000000"))).pods == ()
