"""Rules, their unit tests, the runbook, Alertmanager's example."""

import re

import yaml
from base import MONITORING, ROOT, check, need, none_of, run, series, tool

RULES = sorted(MONITORING.glob("rules/*.yml"))
TESTS = sorted(MONITORING.glob("tests/*.yml"))


def alerts():
    return [
        rule
        for path in RULES
        for group in yaml.safe_load(path.read_text())["groups"]
        for rule in group["rules"]
        if "alert" in rule
    ]


def names(expression):
    """The metrics of an expression: what its selectors name."""
    import promql_parser

    promql_parser.parse(expression)
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression)
    bare = re.sub(r"\b(?:by|on|without|ignoring|group_left|group_right)\s*\([^)]*\)", "", bare)
    bare = re.sub(r"\{[^}]*\}", "{}", bare)
    return set(re.findall(r"\b(?:mezzotint[\w:]*|process_\w+|up|ALERTS)\b(?!\s*\()", bare))


@check("monitoring: rules load")
def rules():
    run(tool("promtool"), "check", "rules", *RULES, *sorted(MONITORING.glob("exporters/*.yml")))


@check("monitoring: rules' unit tests")
def unit_tests():
    need(TESTS, "ops/monitoring/tests is empty")
    said = run(tool("promtool"), "test", "rules", *TESTS, timeout=400)
    return f"{said.count('SUCCESS')} files"


@check("monitoring: every alert is in a unit test")
def tested():
    tests = "".join(path.read_text() for path in TESTS)
    none_of(rule["alert"] for rule in alerts() if f'alertname="{rule["alert"]}"' not in tests)


@check("monitoring: every series in a rule is the product's, or recorded")
def known():
    known = series()
    none_of(
        f"{rule.get('alert') or rule['record']}: {name} is no series"
        for path in RULES
        for group in yaml.safe_load(path.read_text())["groups"]
        for rule in group["rules"]
        for name in names(rule["expr"]) - known
    )


def mixes(expression):
    """Where an expression would let one deployment stand in for another: aggregations and matches without their labels."""
    kept = "(cluster, namespace"
    for found in re.finditer(r"\b(sum|min|max|avg|count|group|topk|bottomk|quantile|stddev)\b *(\w*) *(\([^()]*)", expression):
        if found[2] != "by" or not found[3].startswith(kept):
            yield found[0]
    for found in re.finditer(r"\b(on|ignoring|without) *(\([^()]*\))", expression):
        if found[1] != "on" or not found[2].startswith(kept):
            yield found[0]
    # What is missing everywhere is missing in no deployment: that is for a Prometheus that has none.
    yield from (found[0] for found in re.finditer(r"\babsent(_over_time)?\((?!mezzotint:deployment\))[^)]*\)", expression))


@check("monitoring: every rule keeps deployments apart")
def apart():
    none_of(
        f"{rule.get('alert') or rule['record']}: {mix}: it must go by (cluster, namespace, …)"
        for path in [*RULES, *MONITORING.glob("exporters/*.yml")]
        for group in yaml.safe_load(path.read_text())["groups"]
        for rule in group["rules"]
        for mix in mixes(rule["expr"])
    )


@check("monitoring: every alert has its part of the runbook, and each part an alert")
def runbook():
    page = (MONITORING / "runbook.md").read_text()
    parts = {}
    for part in re.split(r"^## ", page, flags=re.M)[1:]:
        title, _, body = part.partition("\n")
        parts[title.strip()] = body
    wrong = []
    for rule in alerts():
        name, link = rule["alert"], rule["annotations"]["runbook_url"]
        if link != f"ops/monitoring/runbook.md#{name.lower()}":
            wrong.append(f"{name}: its runbook_url is {link}")
        if "mezzotint_watch_log_connected" not in rule["annotations"].get("lagwatch", ""):
            wrong.append(f"{name}: it does not lead to lagwatch's page")
        for word in ("**Means:**", "**Look at:**", "**Do:**"):
            if word not in parts.get(name, ""):
                wrong.append(f"{name}: the runbook does not say {word}")
        if rule["labels"].get("severity") not in ("page", "ticket"):
            wrong.append(f"{name}: its severity is neither page nor ticket")
    wrong += [f"{name}: the runbook has it, and no rule" for name in set(parts) - {rule["alert"] for rule in alerts()}]
    none_of(wrong)


@check("monitoring: links of its pages lead somewhere")
def links():
    wrong = []
    for page in [*MONITORING.rglob("*.md"), *(ROOT / "ops/deploy").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]*)(?:#[^)]*)?\)", page.read_text()):
            if target and "://" not in target and not (page.parent / target).exists():
                wrong.append(f"{page.relative_to(ROOT)}: {target} is not there")
    none_of(wrong)


@check("monitoring: Alertmanager takes the example")
def alertmanager():
    run(tool("amtool"), "check-config", MONITORING / "alertmanager.yml")
    # Whom it would tell.
    for severity, receiver in (("page", "pager"), ("ticket", "tickets")):
        said = run(
            tool("amtool"), "config", "routes", "test", f"--config.file={MONITORING / 'alertmanager.yml'}",
            f"severity={severity}")
        need(said.split()[-1] == receiver, f"a {severity} goes to {said}")
