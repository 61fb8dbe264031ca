"""Floor 3: names of languages, in which an answer is asked for: "in English please", "auf Deutsch". Data only.

`query.words` looks for them behind `shapes.BEFORE_A_TONGUE`.
"""

from __future__ import annotations

from typing import Final

NAMES: Final = tuple(
    """
english italian german french spanish portuguese dutch russian chinese japanese korean thai arabic hebrew hindi polish turkish
swedish finnish danish norwegian greek czech ukrainian romanian hungarian vietnamese mandarin
inglese italiano tedesco francese spagnolo portoghese olandese russo cinese giapponese coreano arabo ebraico polacco turco svedese
finlandese danese greco
deutsch englisch italienisch französisch spanisch portugiesisch niederländisch russisch chinesisch japanisch koreanisch
anglais français italien allemand espagnol portugais russe chinois japonais
inglés español italiano alemán francés portugués ruso chino japonés inglês português alemão francês espanhol
engels nederlands duits frans spaans русском английском русски английски
""".split()
)
