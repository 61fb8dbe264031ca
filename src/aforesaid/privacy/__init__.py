"""Floor 4: what a provider may see: levels, markers, rules, and verdicts on texts.

`engine` takes a `judge.Judge` of the configuration for the provider that is called; `withholding` asks it about rows
before an excerpt is cut, and again when their source was read. Only this package makes `Cleared`. Pure; it reads no
file and never logs a text. `docs/privacy.md` gives the rules and says what they do not promise.
"""
