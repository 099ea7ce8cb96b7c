"""How far work is, as a bar or for a function of the user's."""

import contextlib
import sys


@contextlib.contextmanager
def of_run(progress):
    """What shows progress: a callable as it is; ``True`` is a bar of tqdm where it is installed, else a line on standard error."""
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
