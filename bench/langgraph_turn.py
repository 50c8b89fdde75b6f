"""The turn of `abide-bench turn`, by LangGraph: prints how much CPU one takes, in milliseconds.

Its prebuilt agent asks the same scripted model over the same wire, streaming, calls the same tool ten times, and keeps its
state in SQLite before each step goes on. What Python takes to import everything is not counted.
"""

import sqlite3
import sys
import time
import warnings

warnings.filterwarnings("ignore")

from langchain_core.tools import tool  # noqa: E402
from langchain_openai import ChatOpenAI  # noqa: E402
from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: E402
from langgraph.prebuilt import create_react_agent  # noqa: E402


@tool
def look(path: str, line: int = 0) -> str:
    """Look at a file of the project."""
    return f'"{path}" is as it should be'


def main() -> None:
    url, turns, file = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    model = ChatOpenAI(model="bench", api_key="key", base_url=f"{url}/v1", streaming=True, max_retries=0)
    saver = SqliteSaver(sqlite3.connect(file, check_same_thread=False))
    prompt = "You look at files, and say what you see. " * 50
    agent = create_react_agent(model, [look], prompt=prompt, checkpointer=saver)

    def turn(number: int) -> None:
        settings = {"configurable": {"thread_id": str(number)}, "recursion_limit": 100}
        message = {"messages": [("user", "Look at all ten files.")]}
        result = agent.invoke(message, settings, durability="sync")
        calls = sum(1 for message in result["messages"] if message.type == "tool")
        assert calls == 10, f"{calls} calls"

    # The first one imports and connects.
    turn(0)
    before = time.process_time()
    for number in range(1, turns + 1):
        turn(number)
    print(f"{(time.process_time() - before) * 1000 / turns:.3f}")


if __name__ == "__main__":
    main()
