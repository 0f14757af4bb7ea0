"""Grafana's dashboards, without a Grafana: its schemas, their expressions, the product's series."""

import json
import re
import tempfile

import yaml
from base import MONITORING, SHARED, Skipped, check, need, none_of, run, series, tool
from monitoring import names

BOARDS = {path.name: json.loads(path.read_text()) for path in sorted(MONITORING.glob("dashboards/*.json"))}


def panels():
    return [(name, panel) for name, board in BOARDS.items() for panel in board["panels"]]


def targets():
    return [(f"{name}: {panel['title']}", target) for name, panel in panels() for target in panel.get("targets", [])]


def expanded(expression):
    """As Prometheus gets it."""
    for variable, value in {
        "$__rate_interval": "5m", "$__interval": "1m", "$instance": "a:9464", "$cluster": "c", "$namespace": "n"}.items():
        expression = expression.replace(variable, value)
    return expression


def schema(name):
    path = SHARED / "schemas/grafana" / name
    if not path.exists():
        raise Skipped(f"{path} is not here")
    return json.loads(path.read_text())


def errors(schema, value, where):
    import jsonschema

    validator = jsonschema.validators.validator_for(schema)(schema)
    return [f"{where}: {'/'.join(map(str, e.absolute_path))}: {e.message[:300]}" for e in validator.iter_errors(value)]


@check("dashboards: each fits Grafana's schema, panel by panel")
def shapes():
    whole = schema("dashboard.json")
    need(len(BOARDS) == 4, f"there are {len(BOARDS)} dashboards")
    # The whole schema's alternatives make for errors that name nothing: each part against its own.
    part = lambda name: {**whole, "$ref": f"#/definitions/{name}"}
    wrong = []
    for name, panel in panels():
        kind = "RowPanel" if panel["type"] == "row" else "Panel"
        wrong += errors(part(kind), panel, f"{name}: {panel['title']}")
    for name, board in BOARDS.items():
        wrong += errors(part("Dashboard"), {**board, "panels": []}, name)
    none_of(wrong)


@check("dashboards: each query fits the schema of Prometheus's")
def queries():
    whole = schema("prometheus.json")
    none_of(error for where, target in targets() for error in errors(whole, target, where))


@check("dashboards: ids, refIds and places do not clash")
def unique():
    wrong = []
    for name, board in BOARDS.items():
        ids = [panel["id"] for panel in board["panels"]]
        if len(set(ids)) < len(ids):
            wrong.append(f"{name}: two panels have one id")
        taken = set()
        for panel in board["panels"]:
            grid = panel["gridPos"]
            cells = {(x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])}
            if cells & taken or grid["x"] + grid["w"] > 24:
                wrong.append(f"{name}: {panel['title']} lies over another, or over the edge")
            taken |= cells
    uids = [board["uid"] for board in BOARDS.values()]
    if len(set(uids)) < len(uids):
        wrong.append("two dashboards have one uid")
    for name, panel in panels():
        refs = [target.get("refId") for target in panel.get("targets", [])]
        if panel["type"] != "row" and (not refs or None in refs or len(set(refs)) < len(refs)):
            wrong.append(f"{name}: {panel['title']}: refIds {refs}")
    none_of(wrong)


def expressions():
    """Queries, and what annotations and variables ask."""
    for where, target in targets():
        yield where, target["expr"]
    for name, board in BOARDS.items():
        for note in board["annotations"]["list"]:
            yield f"{name}: {note['name']}", note["expr"]
        for variable in board["templating"]["list"]:
            if variable["type"] == "query":
                yield f"{name}: ${variable['name']}", re.sub(r"label_values\((.*), \w+\)", r"\1", variable["query"])


@check("dashboards: every expression is PromQL, over series that there are")
def parsed():
    known, wrong = series(), []
    for where, expression in expressions():
        try:
            wrong += [f"{where}: {name} is no series" for name in names(expanded(expression)) - known]
        except ValueError as error:
            wrong.append(f"{where}: {expression}: {error}")
    none_of(wrong)


CHOICES = ("mezzotint:deployment", 'mezzotint:deployment{cluster="$cluster"}')


@check("dashboards: every series is of the chosen deployment")
def chosen():
    wrong = []
    for where, expression in expressions():
        bare = re.sub(r"\[[^]]*\]", "", expression)
        for found in re.finditer(r"\b(?:(?:mezzotint[_:]|process_)[\w:]+|ALERTS)(\{[^}]*\})?", bare):
            # The choice itself is made among all of them.
            if found[0] not in CHOICES and 'cluster="$cluster",namespace="$namespace"' not in (found[1] or ""):
                wrong.append(f"{where}: {found[0]}")
    none_of(wrong)


# A worker that is new to Prometheus, as every pod is: its counters begin with what they have by then.
FIRST_START = {
    "process_start_time_seconds": "_x9 520x40", "mezzotint_build_info": "_x9 1x40",
    "mezzotint_partitions_assigned_total": "_x9 6x40"}


@check("dashboards: annotations mark a first start and a first assignment, once and with the value 1")
def marked():
    notes = [(name, note) for name, board in BOARDS.items() for note in board["annotations"]["list"]]
    need(len(notes) == 2 * len(BOARDS), f"there are {len(notes)} annotations")
    labels = 'cluster="c",namespace="n",job="mezzotint",instance="a"'
    tests = {
        "evaluation_interval": "1m",
        "tests": [{
            "interval": "1m",
            "input_series": [{"series": f"{name}{{{labels}}}", "values": values} for name, values in FIRST_START.items()],
            # Grafana asks every 60 s, and marks what is 1.
            "promql_expr_test": [
                {"expr": f"sum(sum_over_time(({expanded(note['expr'])})[30m:1m]))", "eval_time": "30m",
                 "exp_samples": [{"labels": "{}", "value": 1}]}
                for _, note in notes]}]}
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        yaml.safe_dump(tests, file)
        file.flush()
        run(tool("promtool"), "test", "rules", file.name)
