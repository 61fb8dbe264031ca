"""Floor 7: from the options of `retrieval.embedding` to a model that may be asked, or the reason why none may.

`engine/similarity` asks it once a configuration. A remote model needs all of: the policy, the consent, rules for its
provider, and a port that the host brings. Nothing here makes a remote port, or asks one anything: that it is exactly
what was configured is for `embedders/calls` to find out, within its deadline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from aforesaid.config import PRIVACY
from aforesaid.embedders import BY_NAME
from aforesaid.embedding import (
    CONSENT_MISSING,
    INVALID_DIMENSIONS,
    LOCAL_PROVIDER,
    MODEL_UNKNOWN,
    POLICY_MISSING,
    PORT_MISSING,
    RULES_MISSING,
    Profile,
)

if TYPE_CHECKING:
    from aforesaid.config import Config
    from aforesaid.embedding import Scale
    from aforesaid.ports import EmbeddingPort

_SECTION = "retrieval.embedding."


class Setup(Struct, frozen=True, kw_only=True):
    """What is configured.

    Attributes:
        profile: of the model.
        reason: why it may not be asked, one of `embedding.REASONS`; None if it may.
        scale: how its similarities count; None if nobody has measured the model.
        pool, most, batch, queries: rows that are found, entries that get vectors, texts of a call, requests that are
            remembered.
        seconds: of a call.
    """

    profile: Profile
    reason: str | None
    scale: Scale | None
    pool: int
    most: int
    batch: int
    queries: int
    seconds: float


def read_setup(config: Config, port: EmbeddingPort | None) -> Setup:
    """What a configuration says of vectors, and whether the model may be asked.

    Args:
        config: with `retrieval.semantic` on.
        port: what the host brought; None for nothing.
    """
    model = config.text(_SECTION + "model")
    dimensions = config.integer(_SECTION + "dimensions")
    local = BY_NAME.get(model)
    if local is not None and local.dimensions and config.setting(_SECTION + "dimensions").source == "default":
        dimensions = local.dimensions  # a model that has only one number of dimensions need not be told it
    mode = config.text(_SECTION + "mode")
    profile = Profile(
        provider=config.text(_SECTION + "provider"),
        model=model,
        dimensions=dimensions,
        destination="remote" if mode == "remote" else "local",
    )
    reason = _refuse_remote(config, profile) if mode == "remote" else _refuse_local(profile, port)
    if reason is None and port is None and mode == "remote":
        reason = PORT_MISSING
    return Setup(
        profile=profile,
        reason=reason,
        scale=None if local is None or port is not None else local.scale,
        pool=config.integer(_SECTION + "candidatePool"),
        most=config.integer(_SECTION + "maxSources"),
        batch=min(config.integer(_SECTION + "batchSize"), 512 if local is None or port is not None else local.batch),
        queries=config.integer(_SECTION + "queryCacheSize"),
        seconds=config.integer(_SECTION + "timeoutMs") / 1000,
    )


def _refuse_remote(config: Config, profile: Profile) -> str | None:
    """What is missing of the conditions that the configuration itself must meet."""
    if not config.boolean(PRIVACY):
        return POLICY_MISSING
    if profile.name not in _names(config.get(_SECTION + "remoteProfiles")):
        return CONSENT_MISSING
    if profile.provider not in _names(config.get("privacy.remoteProviders")):
        return RULES_MISSING
    return None


def _refuse_local(profile: Profile, port: EmbeddingPort | None) -> str | None:
    """Why no model of this package will do."""
    if port is not None:
        return None
    if profile.provider != LOCAL_PROVIDER:
        return PORT_MISSING
    local = BY_NAME.get(profile.model)
    if local is None:
        return MODEL_UNKNOWN
    return None if local.accepts(profile.dimensions) else INVALID_DIMENSIONS


def _names(value: object) -> tuple[str, ...]:
    """The items of a list, or the names of an object."""
    return tuple(value) if hasattr(value, "__iter__") else ()
