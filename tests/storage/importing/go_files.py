"""Session files of the Go program's, as each age of it wrote them."""

import json
from pathlib import Path
from typing import Any

GO_SESSION = "5b0e6c1e-7c1f-4a53-9b41-2f6a1c9d0e77"
CLAUDE = "0d4d2f0a-9f6e-4f0e-8a55-0d1f6d2b8f11"
Json = dict[str, Any]


def write(root: Path, fields: object, name: str = GO_SESSION) -> Path:
    """A file of that name, as the Go program names it."""
    folder = root / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(fields if isinstance(fields, str) else json.dumps(fields), encoding="utf-8")
    return path


def oldest() -> Json:
    """From before the bricks: old words for agents and states, no names, no need."""
    return {
        "id": GO_SESSION,
        "cwd": "/home/ana/shop",
        "created_at": "2026-05-20T09:12:03.418820193+02:00",
        "last_used": "2026-05-20T09:31:55.100231+02:00",
        "state": "CLAUDE_WAITING",
        "claude_session_id": CLAUDE,
        "history": [
            entry("user", "local", "why does login answer 500?", "2026-05-20T09:12:40.1+02:00"),
            entry("assistant", "local", "auth.py:88 reads from None.", "2026-05-20T09:12:58.9+02:00"),
            entry("user", "claude", "redo the session layer", "2026-05-20T09:30:01+02:00"),
            entry("assistant", "claude", "Which of the two?", "2026-05-20T09:31:55.100231+02:00"),
        ],
    }


def between() -> Json:
    """From the two days when the local agent had its old word and Claude the new one."""
    return {
        **oldest(),
        "state": "ESCALATION",
        "current_need": "signed tokens for sessions",
        "need_history": ["an older need"],
        "escalation_brief": "too large for me",
        "last_local_summary": "User: why does login answer 500?",
        "history": [
            entry("user", "local", "why does login answer 500?"),
            entry("assistant", "local", "auth.py:88 reads from None."),
            entry("user", "escalation", "redo the session layer"),
            entry("assistant", "escalation", "Done."),
        ],
    }


def newest() -> Json:
    """As it is written today, with tool calls, thinking, nonces and tokens."""
    return {
        "id": GO_SESSION,
        "name": "auth",
        "cwd": "/home/ana/shop",
        "created_at": "2026-08-20T09:12:03.418820193+02:00",
        "last_used": "2026-08-20T09:31:55.100231+02:00",
        "state": "LOCAL",
        "claude_session_id": CLAUDE,
        "history": [
            {**entry("user", "primary", "why does login answer 500?"), "agent_name": "qwen"},
            {
                **entry("assistant", "primary", "I look."),
                "agent_name": "qwen",
                "thinking": "the trace says so",
                "tool_calls": [
                    {"id": "", "name": "read_file", "arguments": '{"path": "auth.py"}'},
                    {"id": "", "name": "bash", "arguments": "{broken"},
                ],
            },
            entry("tool_result", "primary", "88: user.id"),
            entry("tool_result", "primary", "500"),
            {
                **entry("assistant", "primary", "It is <milk:need:k3x9qa>fix it</milk:need:k3x9qa>None."),
                "agent_name": "qwen",
            },
        ],
        "current_need": "replace cookies with signed tokens",
        "current_need_set_at": 2,
        "escalation_nonce": "p0p0p0",
        "primary_nonce": "k3x9qa",
        "last_claude_summary": "User: redo it\nAssistant (escalation): Two ways.\n",
        "tokens": {
            "claude\u0000escalation": tokens("escalation", 412, 903, cache_read=18_110, cache_creation=2_044),
            "claude\u0000escalation:subagent": tokens("escalation:subagent", 10, 20),
            "qwen\u0000primary": tokens("primary", 5_120, 233),
        },
    }


def entry(role: str, agent: str, content: str, at: str = "2026-08-20T09:12:40.1+02:00") -> Json:
    return {"role": role, "agent": agent, "content": content, "timestamp": at}


def tokens(agent: str, prompt: int, completion: int, **cache: int) -> Json:
    return {"model": "m", "agent": agent, "prompt": prompt, "completion": completion, **cache}
