"""The one error that readers see: a sentence that says what to do."""


class TutorialError(Exception):
    """What the reader can put right; a notebook shows only the sentence."""

    def _render_traceback_(self) -> list[str]:  # read by IPython
        return [str(self)]
