"""A JSON value against a schema of docs/schema."""

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def problems(value, schema, where="$", whole=None):
    """A validator of the part of JSON Schema that our schemas use; it refuses keywords that it does not know."""
    whole = whole or schema
    unknown = set(schema) - {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "required", "additionalProperties",
                             "properties", "items", "minItems", "maxItems", "enum", "const", "minimum"}
    if unknown:
        yield f"{where}: the schema uses {unknown}"
    if "$ref" in schema:
        yield from problems(value, whole["$defs"][schema["$ref"].rsplit("/", 1)[1]], where, whole)
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    kinds = schema.get("type", [])
    number = lambda v: isinstance(v, (int, float)) and not isinstance(v, bool)
    for_integer = lambda v: isinstance(v, int) and not isinstance(v, bool)
    fits = {"integer": for_integer, "number": number}
    if kinds and not any(fits[k](value) if k in fits else isinstance(value, TYPES[k]) for k in ([kinds] if isinstance(kinds, str) else kinds)):
        yield f"{where}: {value!r} is no {kinds}"
    if "minimum" in schema and number(value) and value < schema["minimum"]:
        yield f"{where}: {value} is too small"
    if isinstance(value, dict):
        yield from (f"{where}: {key} is missing" for key in schema.get("required", []) if key not in value)
        for key, item in value.items():
            if key in schema.get("properties", {}):
                yield from problems(item, schema["properties"][key], f"{where}.{key}", whole)
            elif schema.get("additionalProperties") is False:
                yield f"{where}: {key} is unknown"
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            yield f"{where}: {len(value)} items"
        for index, item in enumerate(value):
            yield from problems(item, schema.get("items", {}), f"{where}[{index}]", whole)
