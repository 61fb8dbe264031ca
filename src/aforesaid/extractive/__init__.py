"""Floor 5: the extractive history view: verbatim words of a session that matter for a request and that the model lost.

    snapshot --shelf--> exchanges --survey--> scored bundles --composition--> view, within its bytes

`engine` calls `survey.look`, then `composition.compose`; between the two a host's classifier may say how salient
bundles are (`salience`). Nothing is generated and nothing is claimed to be true. `docs/view.md` gives the rules.
"""
