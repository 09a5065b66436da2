"""The HTTP door: REST, and MCP over streamable HTTP."""
