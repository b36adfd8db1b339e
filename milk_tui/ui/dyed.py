"""Colours for the parts of a widget, looked up in the stylesheets when they are needed.

To Textual's component classes this adds only the when: Textual styles all of them anew whenever a class or the focus
changes on the screen, which is too dear for the dozens that a transcript has.
"""

from textual.css.styles import RenderStyles
from textual.dom import DOMNode
from textual.widget import Widget


class Dyed(Widget):
    """A widget whose parts are styled as component classes are, without a `COMPONENT_CLASSES` that names them."""

    def get_component_styles(self, *names: str) -> RenderStyles:
        """What the stylesheets say of the part with these classes. Textual keeps what it makes of the answer."""
        part = DOMNode(classes=" ".join(names))
        part._attach(self)
        self.app.stylesheet.apply(part)
        return part.styles

    def notify_style_update(self) -> None:
        """Draw again: nobody knows whether the parts look as they did."""
        super().notify_style_update()
        self.refresh()
