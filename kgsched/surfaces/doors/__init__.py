"""What can be asked through REST and MCP, declared once for both."""
