"""The drawing of Figure 3 of chatterji2021."""

from widenet.papers.chatterji2021.drawings.loss_curves import draw_losses as draw

__all__ = ["draw"]
