"""Part classes, generated from the parts in the extension, including those of plug-ins."""

import functools
import inspect
import json
import keyword

from vaglio import _vaglio
from vaglio._settings import plain

#: Module of each role.
MODULES = {
    "criterion": "criterion",
    "search": "search",
    "learner": "learner",
    "map": "maps",
    "target_map": "target_maps",
    "loss": "loss",
    "resampling": "splits",
}


@functools.cache
def parts():
    """Every part of the extension: role, kind, summary, example and fields."""
    return json.loads(_vaglio.parts())


def class_name(kind):
    """Class name of a kind.

    >>> class_name("fs_ls_svm")
    'FsLsSvm'
    """
    return "".join(word.capitalize() for word in kind.split("_"))


def python_name(field):
    """Argument name of a field: ``lambda_`` for ``lambda``."""
    return f"{field}_" if keyword.iskeyword(field) else field


class Part:
    """Part of a pipeline, with its settings as arguments and attributes.

    Parts compare by their settings and can be cloned by scikit-learn; ``part__setting`` names a nested setting, as in
    ``GridSearchCV(…, {"search__max_features": [3, 5]})``.
    """

    _kind = ""
    _fields = ()

    def __init__(self, *args, **settings):
        bound = self.__signature__.bind(*args, **settings)
        bound.apply_defaults()
        for name, value in bound.arguments.items():
            setattr(self, name, value)

    def get_params(self, deep=True):
        """Settings by name; with ``deep``, also those of nested parts."""
        params = {python_name(field["name"]): getattr(self, python_name(field["name"])) for field in self._fields}
        if deep:
            for name, value in list(params.items()):
                if isinstance(value, Part):
                    params.update({f"{name}__{key}": inner for key, inner in value.get_params().items()})
        return params

    def set_params(self, **params):
        """Change settings; return the part."""
        for name, value in params.items():
            name, _, rest = name.partition("__")
            if name not in self.get_params(deep=False):
                known = ", ".join(self.get_params(deep=False))
                raise ValueError(f"{type(self).__name__} has no setting `{name}`; there are: {known}")
            if rest:
                getattr(self, name).set_params(**{rest: value})
            else:
                setattr(self, name, value)
        return self

    def _settings(self):
        settings = {"kind": self._kind}
        for field in self._fields:
            value = plain(getattr(self, python_name(field["name"])))
            if field["required"] or value != field.get("default"):
                settings[field["name"]] = value
        return settings

    def __repr__(self):
        settings = [f"{python_name(name)}={value!r}" for name, value in self._settings().items() if name != "kind"]
        return f"{type(self).__name__}({', '.join(settings)})"

    def __eq__(self, other):
        return isinstance(other, Part) and self._settings() == other._settings()

    def __hash__(self):
        return hash(json.dumps(self._settings(), sort_keys=True, default=str))


def _documentation(part):
    lines = [part["summary"][:1].upper() + part["summary"][1:] + ".", ""]
    if part["fields"]:
        lines += ["Parameters", "----------"]
    for field in part["fields"]:
        default = "" if field["required"] else f", default {json.dumps(field.get('default'))}"
        lines.append(f"{python_name(field['name'])} : {field['type']}{default}")
        lines += [f"    {line}" for line in field["description"].splitlines()]
    lines += ["", f"Of the crate {part['crate']} {part['version']}; in a pipeline file::", ""]
    lines += [f"    {line}" for line in part["example"].splitlines()]
    return "\n".join(lines)


def _signature(part):
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    required = [field for field in part["fields"] if field["required"]]
    optional = [field for field in part["fields"] if not field["required"]]
    parameters = [inspect.Parameter(python_name(field["name"]), kind) for field in required]
    for field in optional:
        parameters.append(inspect.Parameter(python_name(field["name"]), kind, default=field.get("default")))
    return inspect.Signature(parameters)


def classes(role):
    """Classes of a role, by name, for its module."""
    made = {}
    for part in parts():
        if part["role"] != role:
            continue
        name = class_name(part["kind"])
        about = {
            "__doc__": _documentation(part),
            "__module__": f"vaglio.{MODULES[role]}",
            "__qualname__": name,
            "__signature__": _signature(part),
            "_kind": part["kind"],
            "_fields": part["fields"],
        }
        made[name] = type(name, (Part,), about)
    return made
