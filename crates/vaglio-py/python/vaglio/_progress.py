"""Progress as a bar or for a user's function."""

import contextlib
import sys


@contextlib.contextmanager
def of_run(progress):
    """Progress display: a callable is used directly; ``True`` is a tqdm bar if installed, else a line on standard
    error."""
    if progress is None or progress is False or callable(progress):
        yield progress or None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _line
        print(file=sys.stderr)
        return
    with tqdm() as bar:

        def show(what, done, of, loss):
            bar.total, bar.n = of, done
            bar.set_description(what, refresh=False)
            if loss is not None:
                bar.set_postfix(loss=f"{loss:.6g}", refresh=False)
            bar.refresh()

        yield show


def _line(what, done, of, loss):
    of_loss = "" if loss is None else f", loss {loss:.6g}"
    print(f"\r{what}: {done:.0f} of {of:.0f}{of_loss}   ", end="", file=sys.stderr, flush=True)
