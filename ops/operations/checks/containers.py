"""The container file and the compose file; the image built and run, where this machine can."""

import os
import pathlib
import re
import shutil

import yaml
from base import DEPLOY, PLACE, ROOT, Skipped, Wrong, check, need, none_of, run, tool

FILE = DEPLOY / "Containerfile"
IMAGE, DEMO = "localhost/mezzotint:check", "localhost/mezzotint-demo:check"
LIMIT = 400 << 20
# Without a daemon, privileges of a container's runtime, or an overlay file system.
STORAGE = ["--root", PLACE / "containers", "--runroot", PLACE / "containers-run", "--storage-driver", "vfs"]


def buildah(*words, **options):
    environment = {**os.environ, "BUILDAH_ISOLATION": "chroot"}
    return run(tool("buildah"), *STORAGE, *words, env=environment, **options)


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


def base_image():
    """Debian 12 under the name that the container file has it by, from Debian's packages: no registry of images is asked."""
    if os.geteuid() != 0:
        raise Skipped("building without root was not tried")
    tool("buildah")
    archive = PLACE / "bookworm.tar"
    if not archive.exists():
        part = archive.with_suffix(".part.tar")
        try:
            run(tool("mmdebstrap"), "--variant=minbase", "--include=ca-certificates", "bookworm", part, timeout=300)
        except Wrong as wrong:
            raise Skipped(f"Debian's base system cannot be had: {str(wrong)[-200:]}")
        part.rename(archive)
    held = buildah("images", "--format", "{{.Name}}")
    if "library/debian" in held:
        return
    made = buildah("from", "scratch").strip()
    buildah("add", made, archive, "/", timeout=300)
    buildah("commit", "--rm", made, "docker.io/library/debian:bookworm-slim", timeout=300)
    # Swift's image is Debian and what the toolchain calls; the toolchain itself is this machine's, mounted.
    made = buildah("from", "--pull-never", "docker.io/library/debian:bookworm-slim").strip()
    buildah("run", made, "--", "sh", "-c",
            "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends"
            " binutils gcc libc6-dev libstdc++-12-dev libcurl4 libedit2 libpython3.11 libsqlite3-0 libxml2 zlib1g"
            " libncurses6 tzdata git >/dev/null", timeout=600)
    buildah("config", "--env", "PATH=/opt/swift/usr/bin:/usr/local/bin:/usr/bin:/bin", made)
    buildah("commit", "--rm", made, "docker.io/library/swift:6.3-bookworm", timeout=300)


def toolchain():
    swift = shutil.which("swift")
    if swift is None:
        raise Skipped("there is no swift to build with")
    return pathlib.Path(swift).resolve().parents[2]


@check("containers: the image is built, small enough, and of a plain user")
def built():
    base_image()
    # The build stage's folder is kept between checks: what did not change is not compiled again.
    kept = PLACE / "image-build"
    kept.mkdir(parents=True, exist_ok=True)
    for target, name in (("demo", DEMO), ("worker", IMAGE)):
        buildah("bud", "--pull-never", "--layers=false", "--target", target, "--tag", name,
                "--volume", f"{toolchain()}:/opt/swift:ro", "--volume", f"{kept}:/src/.build",
                "--format", "docker", "--file", FILE, ROOT, timeout=2400)
    size = int(buildah("inspect", "--type", "image", "--format", "{{.Docker.Size}}", IMAGE).strip() or 0)
    made = buildah("from", "--pull-never", IMAGE).strip()
    try:
        root = buildah("mount", made).strip()
        size = max(size, int(run("du", "-sxb", root).split()[0]))
        need(size <= LIMIT, f"it has {size >> 20} MiB, of at most {LIMIT >> 20}")
        said = buildah("run", made, "--", "sh", "-c", "id -u; mezzotint doctor --set data=/data 2>&1")
        need(said.startswith("10001"), f"it runs as {said}")
    finally:
        buildah("rm", made)
    return f"{size >> 20} MiB"


@check("containers: the image runs the demo")
def demonstrated():
    if DEMO not in buildah("images", "--format", "{{.Name}}:{{.Tag}}"):
        raise Skipped("the image was not built")
    made = buildah("from", "--pull-never", DEMO).strip()
    try:
        # /data is a volume, of which nothing is left after the run.
        buildah("run", made, "--", "sh", "-c",
                "mezzotint-demo --out /data/demo --jobs 40 && test -s /data/demo/index.html", timeout=300)
    finally:
        buildah("rm", made)
