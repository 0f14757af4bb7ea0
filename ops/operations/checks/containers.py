"""The container file and the compose file."""

import re

import yaml
from base import DEPLOY, ROOT, check, need, none_of, run, tool

FILE = DEPLOY / "Containerfile"


@check("containers: hadolint finds nothing")
def linted():
    run(tool("hadolint"), FILE)


@check("containers: the image has the packages that building and running need")
def packages():
    text = FILE.read_text()
    install = (ROOT / "ops/install").read_text()
    listed = re.search(r"packages=\(\n(.*?)\)", install, re.S).group(1).split()
    none_of(f"{name} is in ops/install, and not in the build stage" for name in listed if f" {name}" not in text)


@check("containers: compose.yaml says only what settings there are")
def composed():
    page = (ROOT / "config/reference.md").read_text()
    keys = set(re.findall(r"^\| `([a-z]\w*(?:\.\w+)*)` \|", page, re.M))
    variables = {"MEZZOTINT_" + re.sub(r"([a-z])([A-Z])", r"\1_\2", key).replace(".", "_").upper() for key in keys}
    text = (DEPLOY / "compose.yaml").read_text()
    need("was not run" in text, "it does not say that it was not run")
    services = yaml.safe_load(text)["services"]
    need(sorted(services) == ["kafka", "lagwatch", "prometheus", "topics", "worker-1", "worker-2"], sorted(services))
    wrong = []
    for name, service in services.items():
        for variable in service.get("environment", {}):
            if variable.startswith("MEZZOTINT_") and variable not in variables:
                wrong.append(f"{name}: {variable} is no setting")
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith(".") and not (DEPLOY / source).exists():
                wrong.append(f"{name}: {source} is not there")
    none_of(wrong)
    run(tool("promtool"), "check", "config", "--syntax-only", DEPLOY / "prometheus.yml")
