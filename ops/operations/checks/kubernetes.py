"""Manifests, strictly, and KEDA's ScaledObject, whose trigger keys no schema knows."""

import json
import re

import yaml
from base import DEPLOY, ROOT, SHARED, Skipped, check, need, none_of, run, tool

BASE = DEPLOY / "kubernetes/base"
PLAIN = [BASE / name for name in ("namespace.yaml", "store.yaml", "topics.yaml", "worker.yaml", "lagwatch.yaml")]
SCALED = DEPLOY / "kubernetes/keda/scaledobject.yaml"
# Of KEDA's kafka scaler (2.20): its metadata is free-form, so a misspelt key would pass and do nothing.
KAFKA_KEYS = {
    "bootstrapServers", "consumerGroup", "topic", "lagThreshold", "activationLagThreshold", "offsetResetPolicy",
    "allowIdleConsumers", "scaleToZeroOnInvalidOffset", "excludePersistentLag", "limitToPartitionsWithLag",
    "ensureEvenDistributionOfPartitions", "version", "partitionLimitation", "sasl", "tls", "unsafeSsl",
    "saslTokenProvider",
}
# Jobs a second of one worker, as the ScaledObject says.
RATES = {"fast": 20, "slow": 10}
# Of its prometheus scaler (2.20), which counts parked jobs.
PROMETHEUS_KEYS = {
    "serverAddress", "query", "threshold", "activationThreshold", "namespace", "customHeaders", "ignoreNullValues",
    "queryParameters", "unsafeSsl", "timeout", "authModes",
}
KEYS = {
    "kafka": (KAFKA_KEYS, {"bootstrapServers", "consumerGroup", "topic", "lagThreshold"}),
    "prometheus": (PROMETHEUS_KEYS, {"serverAddress", "query", "threshold"}),
}
# Seconds of slow jobs that the threshold of parked jobs allows.
PARKED_SECONDS = 60


def thresholds():
    """By topic: what a worker does of a lane within its target, by the reference's default where config.yaml says none."""
    page = (ROOT / "config/reference.md").read_text()
    lanes = documents(BASE / "config.yaml")[0].get("lanes", {})
    found = {"parked": str(PARKED_SECONDS * RATES["slow"])}
    for lane, rate in RATES.items():
        listed = re.search(rf"^\| `lanes\.{lane}\.target` \| `(\w+)` \|", page, re.M)[1]
        number, unit = re.fullmatch(r"(\d+)(s|m|h)", lanes.get(lane, {}).get("target", listed)).groups()
        found[f"mezzotint.jobs.{lane}"] = str(int(number) * {"s": 1, "m": 60, "h": 3600}[unit] * rate)
    return found


def documents(path):
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


@check("kubernetes: manifests fit the schemas of 1.32, strictly")
def manifests():
    for path in PLAIN:
        said = run(tool("kubernetes-validate"), "--strict", "-k", "1.32", path)
        need("WARN" not in said.upper(), f"{path.name}: {said}")


@check("kubernetes: kustomizations name what is there, and all of it")
def kustomizations():
    wrong = []
    for folder in (BASE, SCALED.parent):
        named = documents(folder / "kustomization.yaml")[0]
        files = set(named["resources"]) | {
            word.partition("=")[2] for made in named.get("configMapGenerator", []) for word in made["files"]}
        wrong += [f"{folder.name}: {name} is not there" for name in files if not (folder / name).exists()]
        there = {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml"}
        wrong += [f"{folder.name}: {name} is not named" for name in there - files]
    none_of(wrong)


@check("kubernetes: pods have no privileges, probes, and time to stop")
def pods():
    wrong = []
    for path in PLAIN:
        for document in documents(path):
            if document["kind"] not in ("Deployment", "Job"):
                continue
            name, spec = document["metadata"]["name"], document["spec"]["template"]["spec"]
            own = spec["securityContext"]
            if not own.get("runAsNonRoot") or own["seccompProfile"]["type"] != "RuntimeDefault":
                wrong.append(f"{name}: may be root, or has no filter")
            if spec.get("automountServiceAccountToken") is not False:
                wrong.append(f"{name}: has a token of the cluster")
            for container in spec["containers"]:
                security = container["securityContext"]
                if security != {
                    "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}:
                    wrong.append(f"{name}: {security}")
                if "memory" not in container["resources"]["limits"]:
                    wrong.append(f"{name}: memory without a limit")
                if document["kind"] == "Deployment" and "livenessProbe" not in container:
                    wrong.append(f"{name}: no liveness")
            if name == "mezzotint-worker" and spec["terminationGracePeriodSeconds"] <= 35:
                wrong.append(f"{name}: is killed before worker.drain is over")
    none_of(wrong)


@check("kubernetes: a Job creates the topics with the workers' image and configuration")
def topics():
    job, worker = documents(BASE / "topics.yaml")[0], documents(BASE / "worker.yaml")[0]
    need(job["kind"] == "Job" and worker["kind"] == "Deployment", "topics.yaml has no Job, or worker.yaml no Deployment")
    made, ran = (each["spec"]["template"]["spec"] for each in (job, worker))
    container, other = made["containers"][0], ran["containers"][0]
    need(container["command"][:3] == ["mezzotint", "topics", "create"], container["command"])
    need(container["command"][3:] == other["args"], f"it reads {container['command'][3:]}, workers {other['args']}")
    need(container["image"] == other["image"], f"its image is {container['image']}, the workers' {other['image']}")
    config = lambda spec: [volume for volume in spec["volumes"] if "configMap" in volume]
    need(config(made) == config(ran), "it has another configuration than the workers")


@check("kubernetes: only workers have the whole Secret")
def secrets():
    wrong = []
    for path in PLAIN:
        for document in documents(path):
            if document["kind"] not in ("Deployment", "Job") or document["metadata"]["name"] == "mezzotint-worker":
                continue
            for container in document["spec"]["template"]["spec"]["containers"]:
                given = [each["valueFrom"]["secretKeyRef"]["key"] for each in container.get("env", [])]
                if "envFrom" in container or given != ["MEZZOTINT_KAFKA_SECURITY_PASSWORD"]:
                    wrong.append(f"{path.name}: {container.get('envFrom')} {given}")
    none_of(wrong)


@check("kubernetes: the ScaledObject fits KEDA's schema, and its triggers are KEDA's and the lanes'")
def scaled():
    schema = SHARED / "schemas/keda/scaledobject.json"
    if not schema.exists():
        raise Skipped(f"{schema} is not here")
    import jsonschema

    wrong = []
    for document in documents(SCALED):
        jsonschema.validate(document, json.loads(schema.read_text()))
        for trigger in document["spec"]["triggers"]:
            keys, (known, needed) = set(trigger["metadata"]), KEYS[trigger["type"]]
            wrong += [f"{key} is no key of the {trigger['type']} trigger" for key in keys - known]
            wrong += [f"{key} is missing" for key in needed - keys]
            wrong += [f"{key} is no text" for key, value in trigger["metadata"].items() if not isinstance(value, str)]
        metadata = [trigger["metadata"] for trigger in document["spec"]["triggers"]]
        found = {each.get("topic", "parked"): each.get("lagThreshold", each.get("threshold")) for each in metadata}
        if found != thresholds():
            wrong.append(f"its thresholds are {found}, not the lanes' targets times a worker's rate: {thresholds()}")
    none_of(wrong)
