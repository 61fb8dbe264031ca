"""Floor 7: the options of plans, as the planner wants them. `engine` calls it for each plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aforesaid.planning.values import PlanOptions

if TYPE_CHECKING:
    from aforesaid.config import Config


def plan_options(config: Config) -> PlanOptions:
    """`context.*` and the class of text that nothing else classifies."""
    return PlanOptions(
        mode=config.text("context.mode"),  # type: ignore[arg-type]  # the table checked it
        target_ratio=config.number("context.targetFillRatio"),
        soft_ratio=config.number("context.softLimitRatio"),
        hard_ratio=config.number("context.hardLimitRatio"),
        recent_tail_tokens=config.integer("context.recentTailTokens"),
        max_retrieved_tokens=config.integer("context.maxRetrievedHistoryTokens"),
        max_project_tokens=config.integer("context.maxProjectTokens"),
        max_summary_tokens=config.integer("context.maxSummaryTokens"),
        placement=config.text("context.supplementalPlacement"),  # type: ignore[arg-type]  # the table checked it
        classification=config.text("privacy.defaultClassification"),
    )
