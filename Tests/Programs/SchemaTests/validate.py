"""Checks config/asyncapi.json, the schemas beside it, and records against them. Needs Debian's python3-jsonschema.

validate.py CONFIG document META   the document against AsyncAPI's own schema, the schemas against theirs, every reference
validate.py CONFIG records         records, a JSON object a line on standard input:
                                   {"topic": …, "key": …, "headers": {…}, "value": …}

Prints a line for each problem; its status is 0 if there is none.
"""

import json
import pathlib
import sys

import jsonschema

problems = []


def load(path):
    return json.loads(path.read_text("utf-8"))


class Resolver(jsonschema.RefResolver):
    """Finds schemas within a document by their ids, without a network.

    Debian's jsonschema 4.10.3 trips over AsyncAPI's schema, which has properties that are themselves named $id.
    """

    def __init__(self, path):
        document = load(path)
        super().__init__(path.resolve().as_uri(), document, store=dict(ids(document)))

    def _find_in_subschemas(self, url):
        return None


def ids(node):
    if isinstance(node, dict):
        if isinstance(node.get("$id"), str):
            yield node["$id"], node
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            yield from ids(part)


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            yield from references(part)


def check_document(config, meta):
    document = load(config / "asyncapi.json")
    validator = jsonschema.Draft7Validator(load(meta), resolver=Resolver(meta))
    for error in validator.iter_errors(document):
        problems.append(f"asyncapi.json: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
    for path in [config / "asyncapi.json", *sorted((config / "schemas").glob("*.json"))]:
        schema = load(path)
        if path.parent.name == "schemas":
            jsonschema.Draft7Validator.check_schema(schema)
        for reference in references(schema):
            try:
                Resolver(path).resolve(reference)
            except jsonschema.RefResolutionError as error:
                problems.append(f"{path.name}: {reference}: {error}")


def faults(message, record, resolve):
    parts = [
        ("key", message["bindings"]["kafka"]["key"], record["key"]),
        ("headers", message.get("headers", {}), record["headers"]),
        ("body", message.get("payload", {}), record["value"]),
    ]
    for name, schema, value in parts:
        for error in jsonschema.Draft7Validator(schema, resolver=resolve).iter_errors(value):
            place = "/".join(map(str, error.absolute_path))
            yield f"{name} {place}: {error.message[:200]}"


def check_records(config, lines):
    path = config / "asyncapi.json"
    document = load(path)
    resolve = Resolver(path)
    channels = {channel["address"].removeprefix("{prefix}"): channel for channel in document["channels"].values()}
    for number, line in enumerate(lines):
        record = json.loads(line)
        kinds = {name: resolve.resolve(ref["$ref"])[1] for name, ref in channels[record["topic"]]["messages"].items()}
        found = {name: list(faults(message, record, resolve)) for name, message in kinds.items()}
        fitting = [name for name, wrong in found.items() if not wrong]
        if len(fitting) != 1:
            problems.append(f"{number}: a record of {record['topic']} fits {fitting}: {found}")


config = pathlib.Path(sys.argv[1])
if sys.argv[2] == "document":
    check_document(config, pathlib.Path(sys.argv[3]))
else:
    check_records(config, sys.stdin)
print("\n".join(problems))
sys.exit(1 if problems else 0)
