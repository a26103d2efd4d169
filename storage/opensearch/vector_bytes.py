"""Vectors rounded to a byte a dimension, as new indexes store them and as a query to such an index has to be."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_BYTE = 127


def round_to_bytes(vector: "NDArray[np.float32]") -> list[int]:
    """Returns numbers from -127 to 127 with the direction of the vector, which is all that a cosine compares.

    The largest component becomes 127 or -127. `vector` is not zero.
    """
    import numpy as np

    return np.rint(vector * (_MAX_BYTE / np.abs(vector).max())).astype(np.int8).tolist()
