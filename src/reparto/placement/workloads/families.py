"""Which controller runs which kind."""

from collections.abc import Mapping
from typing import Final

from reparto.placement.workloads.argo import cron_workflow, workflow
from reparto.placement.workloads.daemons import daemon_set
from reparto.placement.workloads.flink import flink_deployment
from reparto.placement.workloads.jobs import cron_job, job
from reparto.placement.workloads.jobset import job_set
from reparto.placement.workloads.knative import knative_service
from reparto.placement.workloads.kserve import inference_service, llm_inference_service
from reparto.placement.workloads.kubeflow import mpi_job, training_job
from reparto.placement.workloads.leaderworker import leader_worker_set
from reparto.placement.workloads.nim import nim_service
from reparto.placement.workloads.objects import Family, Workload
from reparto.placement.workloads.ray import ray_cluster, ray_cron_job, ray_job, ray_service
from reparto.placement.workloads.replicated import deployment, replica_set, replication_controller
from reparto.placement.workloads.spark import scheduled_spark_application, spark_application
from reparto.placement.workloads.stateful import stateful_set
from reparto.placement.workloads.trainer import train_job
from reparto.placement.workloads.volcano import volcano_cron_job, volcano_job
from reparto.placement.workloads.walk import unknown

_FAMILIES: Final[Mapping[tuple[str, str], Family]] = {
    ("apps", "Deployment"): deployment,
    ("argoproj.io", "Rollout"): deployment,
    ("apps", "ReplicaSet"): replica_set,
    ("", "ReplicationController"): replication_controller,
    ("apps", "StatefulSet"): stateful_set,
    ("apps", "DaemonSet"): daemon_set,
    ("batch", "Job"): job,
    ("batch", "CronJob"): cron_job,
    ("jobset.x-k8s.io", "JobSet"): job_set,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): leader_worker_set,
    ("ray.io", "RayCluster"): ray_cluster,
    ("ray.io", "RayJob"): ray_job,
    ("ray.io", "RayService"): ray_service,
    ("ray.io", "RayCronJob"): ray_cron_job,
    ("kubeflow.org", "PyTorchJob"): training_job,
    ("kubeflow.org", "TFJob"): training_job,
    ("kubeflow.org", "XGBoostJob"): training_job,
    ("kubeflow.org", "PaddleJob"): training_job,
    ("kubeflow.org", "JAXJob"): training_job,
    ("kubeflow.org", "MPIJob"): mpi_job,
    ("trainer.kubeflow.org", "TrainJob"): train_job,
    ("batch.volcano.sh", "Job"): volcano_job,
    ("batch.volcano.sh", "CronJob"): volcano_cron_job,
    ("argoproj.io", "Workflow"): workflow,
    ("argoproj.io", "CronWorkflow"): cron_workflow,
    ("serving.knative.dev", "Service"): knative_service,
    ("serving.kserve.io", "InferenceService"): inference_service,
    ("serving.kserve.io", "LLMInferenceService"): llm_inference_service,
    ("apps.nvidia.com", "NIMService"): nim_service,
    ("sparkoperator.k8s.io", "SparkApplication"): spark_application,
    ("sparkoperator.k8s.io", "ScheduledSparkApplication"): scheduled_spark_application,
    ("flink.apache.org", "FlinkDeployment"): flink_deployment,
}
# Kinds of which not everything can be known from the object: what their controller has made, where it is in the input, says more.
_BY_CHILDREN: Final = frozenset(
    (
        ("serving.knative.dev", "Service"),
        ("serving.kserve.io", "InferenceService"),
        ("serving.kserve.io", "LLMInferenceService"),
        ("apps.nvidia.com", "NIMService"),
        ("flink.apache.org", "FlinkDeployment"),
    )
)
# Kinds that hold pod templates which nobody runs as they stand: others name them, or they are a copy.
_APART: Final = frozenset(
    (
        ("", "PodTemplate"),
        ("apps", "ControllerRevision"),
        ("argoproj.io", "ClusterWorkflowTemplate"),
        ("argoproj.io", "WorkflowTemplate"),
        ("extensions.agents.x-k8s.io", "SandboxTemplate"),
        ("flow.volcano.sh", "JobTemplate"),
        ("kueue.x-k8s.io", "Workload"),
        ("ome.io", "ClusterServingRuntime"),
        ("ome.io", "ServingRuntime"),
        ("serving.knative.dev", "Configuration"),
        ("serving.knative.dev", "Revision"),
        ("serving.kserve.io", "ClusterServingRuntime"),
        ("serving.kserve.io", "LLMInferenceServiceConfig"),
        ("serving.kserve.io", "ServingRuntime"),
        ("trainer.kubeflow.org", "ClusterTrainingRuntime"),
        ("trainer.kubeflow.org", "TrainingRuntime"),
    )
)


def family_of(item: Workload) -> tuple[Family, bool]:
    """The rule that makes pods of an object, and whether objects that it controls in the input are to be followed instead."""
    key = (item.group, item.kind)
    found = _FAMILIES.get(key)
    return (unknown, True) if found is None else (found, key in _BY_CHILDREN)


def is_kept_apart(item: Workload) -> bool:
    """Whether an object holds pod templates without running them."""
    return (item.group, item.kind) in _APART
