"""The tasks: forty cursors, each in code that makes sense around it."""

from __future__ import annotations

import ast
from collections import Counter
from typing import get_args

import pytest

from models.arena.tasks import CURSOR, TASKS, Language, Tag, parse, task

pytestmark = pytest.mark.unit

# One right answer to each Python task: with it the file must be valid.
ANSWERS = {
    "py-window-max": "best.pop()",
    "py-topological": "for other in graph[node]:\n            visit(other)\n"
    '        state[node] = "done"\n        order.append(node)',
    "py-bisect": "low = middle + 1\n        else:\n            high = middle",
    "py-lru": "self.entries.move_to_end(key)\n        if len(self.entries) > self.capacity:\n"
    "            self.entries.popitem(last=False)",
    "py-stack-pop": "return self.items.pop()",
    "py-group-by": 'totals[order["country"]] += order["amount"]',
    "py-csv-clean": "ValueError:\n                continue",
    "py-flatten": "flat.update(flatten(value, name))",
    "py-log-regex": 'return match["level"], match["message"]',
    "py-merge-intervals": "merged[-1] = (merged[-1][0], max(merged[-1][1], end))",
    "py-retry": "time.sleep(base * 2**attempt * random.uniform(0.5, 1.5))",
    "py-rate-limit": "if len(calls) >= self.limit:\n            return False\n"
    "        calls.append(now)\n        return True",
    "py-sqlite-query": '"SELECT id, name FROM users WHERE email = ?", (email,)',
    "py-config-env": 'port=int(os.environ.get("APP_PORT", "8000")),\n            debug=False,',
    "py-atomic-write": "file.write(text)\n        os.replace(name, path)",
    "py-test-raises": "with pytest.raises(ValueError):\n        account.withdraw(200)",
    "py-test-parametrize": '("", ""),',
    "py-test-mock": 'self.assertEqual(greeting.greet(), "Good morning")',
    "py-docstring": "factor: How many values become one.",
    "py-argparse": '"--quality", type=int, default=90, help="JPEG quality"',
}


def test_there_are_forty_of_all_languages_and_kinds():
    assert len(TASKS) == len({one.id for one in TASKS}) == len({one.title for one in TASKS}) == 40
    assert set(Counter(one.language for one in TASKS)) == set(get_args(Language))
    assert set(Counter(one.tag for one in TASKS)) == set(get_args(Tag))
    assert min(Counter(one.language for one in TASKS).values()) >= 4
    assert min(Counter(one.tag for one in TASKS).values()) >= 3


@pytest.mark.parametrize("one", TASKS, ids=lambda one: one.id)
def test_a_task_is_clean(one):
    text = one.prefix + "x" + one.suffix
    assert CURSOR not in text
    assert "\t" not in text
    assert one.prefix.strip()
    assert max(map(len, text.split("\n"))) <= 100
    assert not any(line != line.rstrip() for line in text.split("\n") if line.strip())
    assert one.suffix == "" or one.suffix.endswith("\n")


@pytest.mark.parametrize("one", [t for t in TASKS if t.language == "Python"], ids=lambda t: t.id)
def test_a_python_task_can_be_solved(one):
    ast.parse(one.prefix + ANSWERS[one.id] + one.suffix)


def test_what_the_stack_answer_does():
    one, space = task("py-stack-pop"), {}
    exec(one.prefix + ANSWERS[one.id] + one.suffix, space)
    stack = space["Stack"]()
    stack.push(3)
    assert stack.pop() == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("%% a | b\nx‸", "is not: id | title"),
        ("%% a | b | cooking\nx‸", "cooking"),
        ("%% a | b | docs\nx", "has 0 cursors"),
        ("%% a | b | docs\n‸x‸", "has 2 cursors"),
    ],
)
def test_a_broken_file_is_named(text, says):
    with pytest.raises(ValueError, match=says.replace("|", r"\|")):
        parse(text, "Python")


def test_the_cut_is_at_the_cursor():
    (one,) = parse("%% a | A b | docs\nx = ‸\ny\n", "Python")
    assert (one.prefix, one.suffix) == ("x = ", "\ny\n")
    assert parse("%% a | A b | docs\nx = ‸\n\n", "Python")[0].suffix == ""


def test_an_unknown_id_is_refused():
    with pytest.raises(ValueError, match="no task 'nope'"):
        task("nope")
