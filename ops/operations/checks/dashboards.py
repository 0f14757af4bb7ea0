"""Grafana's dashboards, without a Grafana: its schemas, their expressions, the product's series."""

import json
import re

from base import MONITORING, SHARED, Skipped, check, need, none_of, series
from monitoring import names

BOARDS = {path.name: json.loads(path.read_text()) for path in sorted(MONITORING.glob("dashboards/*.json"))}


def panels():
    return [(name, panel) for name, board in BOARDS.items() for panel in board["panels"]]


def targets():
    return [(f"{name}: {panel['title']}", target) for name, panel in panels() for target in panel.get("targets", [])]


def expanded(expression):
    """As Prometheus gets it."""
    return expression.replace("$__rate_interval", "5m").replace("$__interval", "1m").replace("$instance", "a:9464")


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
