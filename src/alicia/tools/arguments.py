"""Arguments as the model wrote them: decoded, and checked against the tool's schema."""

from typing import Any, cast

import jsonschema
import msgspec
from jsonschema.exceptions import best_match  # pyright: ignore[reportUnknownVariableType]
from jsonschema.protocols import Validator
from referencing import Registry
from referencing.exceptions import Unresolvable

from alicia.errors import ErrorCode
from alicia.tools.definition import ToolError

LONGEST_COMPLAINT = 400


def compile_schema(schema: dict[str, Any]) -> Validator:
    """A validator to be used many times; ValueError if the schema is none, or not one of an object.

    References are resolved within the schema only: nothing is ever fetched.
    """
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ValueError(f"not a JSON schema: {error.message[:LONGEST_COMPLAINT]}") from error
    if schema.get("type", "object") != "object":
        raise ValueError("a tool's schema must be of type object")
    registry: Registry[Any] = Registry()
    return jsonschema.Draft202012Validator(schema, registry=registry)


def read_arguments(written: str, validator: Validator) -> dict[str, Any]:
    """The arguments, or a ToolError that says what is wrong with them and where."""
    try:
        arguments = msgspec.json.decode(written or "{}", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise _invalid(f"The arguments are not a JSON object: {error}.") from error
    try:
        errors = cast("Any", validator.iter_errors(arguments))  # pyright: ignore[reportUnknownMemberType]
        worst = cast("jsonschema.ValidationError | None", best_match(errors))
    except (Unresolvable, RecursionError) as error:
        raise _invalid(
            "The tool's own schema cannot be used: one of its references leads nowhere."
        ) from error
    if worst is not None:
        raise _invalid(_complaint(worst))
    return arguments


def _complaint(error: jsonschema.ValidationError) -> str:
    where = error.json_path.removeprefix("$").removeprefix(".")
    text = (
        error.message if len(error.message) <= LONGEST_COMPLAINT else error.message[:LONGEST_COMPLAINT] + "…"
    )
    return f"Wrong argument `{where}`: {text}." if where else f"Wrong arguments: {text}."


def _invalid(message: str) -> ToolError:
    return ToolError(message, ErrorCode.INVALID_PARAMETERS)
