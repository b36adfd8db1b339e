"""What the local agent may do on this machine.

`session_tools.Tools` is the set for one session; `registry.TOOLS` is the table of all tools. A tool prepares a call,
which gives the question the user is asked, and then runs exactly what was prepared.
"""
