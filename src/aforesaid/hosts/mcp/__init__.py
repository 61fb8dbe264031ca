"""Floor 8: the MCP server: the history tools for any host that speaks the protocol.

`server` binds `tools` to the SDK, which is an extra and costs a second to import; `callers` finds out which session
calls.
"""
