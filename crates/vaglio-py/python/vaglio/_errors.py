"""What goes wrong, with the place where it does."""


class VaglioError(Exception):
    """Base of all errors of vaglio.

    What locates an error is in its attributes; those that are not known are ``None``.

    Attributes
    ----------
    file : str or None
        The file that is at fault.
    line, character : int or None
        Where in a pipeline file, from 1.
    field : str or None
        The dotted path of the setting, such as ``search.max_features``.
    row : int or None
        The row of the data, from 1.
    column, value : str or None
        The column of the data, and the cell.
    name, suggestion : str or None
        A name that nothing bears, and the one that was meant, perhaps.
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
    """Settings that cannot be, alone or with the data at hand: exit code 2 of the program."""


class DataError(VaglioError, ValueError):
    """Data or a model that cannot be read, or a cell that is not finite: exit code 3 of the program."""


class NumericalError(VaglioError, ArithmeticError):
    """Over- or underflow, or a factorization that failed: exit code 4 of the program."""
