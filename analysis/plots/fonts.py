"""Finds fonts for the characters of titles and labels that DejaVu Sans, matplotlib's own font, does not have.

The fonts looked at are those whose names begin with "Noto Sans" (Debian: fonts-noto-core, fonts-noto-cjk), in
alphabetical order, so the same fonts give the same figure.
"""

import os

from matplotlib import font_manager
from matplotlib.ft2font import FT2Font

FIRST = "DejaVu Sans"


def characters_of(path):
    return set(FT2Font(path).get_charmap())


def noto_fonts():
    """Returns (name, path) of the upright Noto Sans fonts of regular weight."""
    manager = font_manager.fontManager
    known = {entry.fname for entry in manager.ttflist}
    for path in font_manager.findSystemFonts():  # those installed after matplotlib made its list
        if os.path.basename(path).startswith("NotoSans") and path not in known:
            try:
                manager.addfont(path)
            except (OSError, RuntimeError):
                continue
    return sorted({(entry.name, entry.fname) for entry in manager.ttflist
                   if entry.name.startswith("Noto Sans") and entry.style == "normal" and entry.weight == 400
                   and os.path.exists(entry.fname)})


def fonts_for(texts):
    """Returns the fonts that these texts need, in order, and the characters that no installed font has."""
    missing = {ord(c) for text in texts for c in text if c.isprintable() and not c.isspace()}
    missing -= characters_of(font_manager.findfont(FIRST))
    names = [FIRST]
    for name, path in noto_fonts() if missing else []:
        found = missing & characters_of(path)
        if found:
            names.append(name)
            missing -= found
    return names, "".join(chr(c) for c in sorted(missing))
