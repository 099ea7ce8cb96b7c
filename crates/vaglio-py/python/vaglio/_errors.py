"""Exceptions, with the location of the fault."""


class VaglioError(Exception):
    """Base of all errors of vaglio.

    The attributes locate the error; unknown ones are ``None``.

    Attributes
    ----------
    file : str or None
        The faulty file.
    line, character : int or None
        Position in a pipeline file, from 1.
    field : str or None
        Dotted path of the setting, such as ``search.max_features``.
    row : int or None
        Row of the data, from 1.
    column, value : str or None
        Column of the data, and the cell's value.
    name, suggestion : str or None
        An unknown name, and the one that may have been meant.
    """

    def __init__(self, message, **about):
        super().__init__(message)
        for name in ("file", "line", "character", "field", "row", "column", "value", "name", "suggestion"):
            setattr(self, name, about.get(name))

    def __reduce__(self):
        return _again, (type(self), self.args[0], vars(self))


def _again(kind, message, about):
    return kind(message, **about)


class SettingError(VaglioError, ValueError):
    """Settings that are invalid, alone or with these data: exit code 2 of the program."""


class DataError(VaglioError, ValueError):
    """Unreadable data or models, or a non-finite cell: exit code 3 of the program."""


class NumericalError(VaglioError, ArithmeticError):
    """Overflow, underflow or a failed factorization: exit code 4 of the program."""
