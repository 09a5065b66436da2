"""The read-only query: what passes, what is refused before it runs, and that nothing ever changes."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kgsched.core.query_guard import check_plan, check_text
from kgsched.core.query_text import blank
from kgsched.errors import BudgetExceeded, InvalidValue, KgschedError, SecurityError
from kgsched.operations.facade import Operations
from kgsched.operations.new_task import EnqueueRequest
from kgsched.operations.query import answer_record
from kgsched.store.guarded_reader import APP
from kgsched.surfaces.cli import words
from kgsched.surfaces.doors import arguments
from kgsched.surfaces.rest.routes import graph
from tests.store.worlds import World

GOOD: list[str] = [
    "MATCH (t:Task) RETURN t.id, t.prio_bucket, t.status",
    "MATCH (t:Task {type:'research_paper_fetch'}) RETURN t.id, t.prio_bucket, t.status",
    "MATCH (a) WHERE a.id STARTS WITH 'article:scholarx:' RETURN count(a)",
    "  \n// a comment\nMATCH (n) RETURN count(n) AS n;  ",
    "match (n) return count(n)",
    "OPTIONAL MATCH (n:Nothing) RETURN n",
    "WITH 1 AS x RETURN x",
    "UNWIND [1, 2, 3] AS x RETURN sum(x)",
    "UNWIND range(1, 100) AS x RETURN count(x)",
    "UNWIND range(0, size(['a', 'b']) - 1) AS x RETURN x",
    "RETURN 'CREATE (n)' AS text",
    "RETURN \"LOAD CSV FROM 'file:///etc/passwd' AS l\" AS text",
    "RETURN 'it\\'s; fine' AS text",
    "MATCH (n) /* DELETE; everything */ RETURN count(n)",
    "RETURN 1 AS `a;b`",
    "RETURN 1 AS `CREATE`",
    "MATCH (n) WHERE n.`LOAD CSV` IS NULL RETURN count(n)",
    "RETURN datetime({epochMillis: 0}) AS t",
    "RETURN datetime.truncate('day', datetime({epochMillis: 0})) AS t",
    "RETURN duration.between(date('2020-01-01'), date('2020-02-01')) AS d",
    "RETURN point.distance(point({x: 0, y: 0}), point({x: 3, y: 4})) AS d",
    "RETURN toUpper('a') + toString(1) AS x",
    "RETURN [x IN range(1, 10) WHERE x % 2 = 0 | x * x] AS xs",
    "MATCH p = (n)-[*0..2]->(m) RETURN length(p) LIMIT 3",
    "MATCH (t:Task) WHERE NOT any(x IN labels(t) WHERE x = 'Old') RETURN count(t)",
    "MATCH (t:Task) RETURN [x IN labels(t) WHERE NOT x IN ['a']] AS ls",
    "MATCH (t:Task) WHERE t.id =~ '(?i)art.*' AND NOT t.type =~ \"a[bc]d?\" OR t.type = '' RETURN t.id",
    "MATCH (t:Task) WHERE t.id = 'a' XOR t.type = 'b' RETURN count(t)",
    "MATCH (t:Task) WHERE EXISTS { (t)-[:DEPENDS_ON]->(:Task) } RETURN count(t)",
    "MATCH (t:Task) RETURN COUNT { (t)-->() } AS n",
    "MATCH (t:Task) CALL (t) { RETURN t.id AS id } RETURN id",
    "CALL () { MATCH (n) RETURN count(n) AS n } RETURN n",
    "CALL db.labels() YIELD label RETURN label",
    "CALL db.labels",
    "CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType",
    "CALL db.propertyKeys() YIELD propertyKey RETURN count(*)",
    "RETURN EXISTS { CALL db.labels() YIELD label RETURN label } AS some",
    "SHOW INDEXES",
    "SHOW INDEXES YIELD name RETURN count(*)",
    "SHOW RANGE INDEXES YIELD name",
    "SHOW CONSTRAINTS",
    "SHOW FUNCTIONS YIELD name",
    "SHOW BUILT IN FUNCTIONS YIELD name",
    "MATCH (n) RETURN n.use, n.terminate, n.call LIMIT 1",
    "MATCH (call:PhoneCall) WHERE call.id IN ['a'] AND call IS NOT NULL RETURN call.id, call AS c ORDER BY call.id",
    "MATCH (use:Case {id: 'a'}) WHERE use.id = 'a' AND use IS NOT NULL RETURN use.id, use {.id} AS u ORDER BY use DESC",
    "MATCH (terminate:Task) RETURN count(terminate) AS terminate",
    "MATCH (n) WITH n AS use MATCH (use)-->(m) RETURN m.id AS use UNION MATCH (n) RETURN n.id AS use LIMIT 1",
    r"MATCH (t:Task) WHERE t.id =~ '^[a-z0-9_.(|)-]+$' OR t.id =~ 'a\\.b\\(c\\)' OR t.id =~ '(?i)FEED.*' RETURN t.id",
    "MATCH (a)-[:A|USE|B]->(b), (c)-[:A | USE]->(d) RETURN count(*)",
    r"MATCH (t:Task) WHERE t.payload CONTAINS 'C:\\users' RETURN t.id",
    "MATCH (t:Task) WHERE t.id =~ '(?i)(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)-(1|2|3|4).*' RETURN t.id",
    "MATCH (n:`Straße`) RETURN count(n)",
    "MATCH (t:Task) RETURN t.id AS id UNION MATCH (s:Schedule) RETURN s.name AS id",
    "MATCH (t:Task) RETURN t ORDER BY t.uid DESC SKIP 1 LIMIT 1",
    "MATCH (t:Task) RETURN [x IN labels(t) WHERE x IN ['Task', 'Paper'] | x + '!'] AS x",
    "MATCH (t:Task) RETURN any(x IN labels(t) WHERE NOT x IN ['Task'] AND t.status IN ['failed']) AS x",
    "MATCH (t:Task) RETURN replace(replace(t.id, '-', ''), ':', ' / ') AS x",
    "MATCH (t:Task) RETURN t.id + ' (' + t.type + ', ' + t.status + '): ' + toString(t.attempts + 1) AS x",
    "MATCH (t:Task) RETURN sum(t.attempts) + sum(t.claims) + count(*) AS x",
    "MATCH (t:Task)((:Task)-[:DEPENDS_ON]->(:Task))+(p:Task) RETURN count(p) AS x",
]

HOSTILE: list[str] = [
    "CREATE (n:Evil) RETURN n",
    "MATCH (n) SET n.x = 1",
    "MATCH (n) REMOVE n.uid",
    "MATCH (n) DETACH DELETE n",
    "MERGE (n:Evil {x: 1}) RETURN n",
    "MATCH (n) CREATE (m:Evil) RETURN m",
    "match (n) with n create (:Evil)",
    "OPTIONAL MATCH (n:Nothing) CREATE (:Evil)",
    "WITH 1 AS x MERGE (:Evil {x: x})",
    "UNWIND [1] AS x FOREACH (y IN [x] | CREATE (:Evil))",
    "CALL () { CREATE (:Evil) } RETURN 1",
    "MATCH (n) CALL (n) { SET n.x = 1 } IN TRANSACTIONS",
    "MATCH (n) CALL (n) { SET n.x = 1 } IN 4 CONCURRENT TRANSACTIONS OF 1 ROWS",
    "CALL { RETURN 1 AS x } IN TRANSACTIONS RETURN x",
    "RETURN 1; CREATE (:Evil)",
    "RETURN 1;;",
    "RETURN 1 /* ; */ ; RETURN 2",
    "CREATE INDEX evil FOR (n:Evil) ON (n.x)",
    "DROP CONSTRAINT task_uid",
    "CREATE CONSTRAINT evil FOR (n:Evil) REQUIRE n.x IS UNIQUE",
    "EXPLAIN MATCH (n) RETURN n",
    "PROFILE MATCH (n) RETURN n",
    "CYPHER 5 MATCH (n) RETURN n",
    "CYPHER runtime=slotted CREATE (n) RETURN n",
    "USE system SHOW USERS",
    "MATCH (n) USE neo4j RETURN n",
    "CALL () { USE neo4j MATCH (n) RETURN n } RETURN n",
    "SHOW USERS",
    "SHOW CURRENT USER",
    "SHOW DATABASES",
    "SHOW SETTINGS",
    "SHOW TRANSACTIONS",
    "SHOW ALL",
    "TERMINATE TRANSACTION 'neo4j-transaction-1'",
    "SHOW TRANSACTIONS YIELD transactionId AS t TERMINATE TRANSACTIONS t YIELD message RETURN message",
    "//\rTERMINATE TRANSACTION 'neo4j-transaction-1' YIELD message\nRETURN message",
    "RETURN 1 AS a //\r, reduce(s = 0, i IN [1, 2, 3] | s + i) AS x",
    "ALTER CURRENT USER SET PASSWORD FROM 'a' TO 'b'",
    "STOP DATABASE neo4j",
    "LOAD CSV FROM 'http://127.0.0.1:{port}/x' AS l RETURN l",
    "WITH 1 AS x LOAD CSV FROM 'http://127.0.0.1:{port}/x' AS l RETURN l",
    "WITH 1 AS x LOAD/* */CSV FROM 'http://127.0.0.1:{port}/x' AS l RETURN l",
    "WITH 1 AS x load\n\tcsv WITH HEADERS FROM 'file:///etc/passwd' AS l RETURN l",
    "WITH 1 AS x L\\u004FAD CSV FROM 'http://127.0.0.1:{port}/x' AS l RETURN l",
    "WITH 1 AS x LOAD\u180eCSV FROM 'http://127.0.0.1:{port}/x' AS l RETURN l",
    "RETURN '\\u0027 CREATE (:Evil) //' AS x",
    "RETURN '\\u00\uff127 CREATE (:Evil) //' AS x",
    "RETURN '\\uu0027 CREATE (:Evil) //' AS x",
    r"RETURN '\u+027 AS q, reduce(s = 0, i IN [1, 2, 3] | s + i) AS x //' AS y",
    r"RETURN '\u-000' AS x",
    r"RETURN '\u 027' AS x",
    "RETURN 1 AS call CALL `dbms.listConfig`() YIELD name RETURN name",
    "CALL dbms.listConnections()",
    "CALL dbms.killConnection('bolt-1')",
    "CALL dbms.listConfig()",
    "CALL db.clearQueryCaches()",
    "CALL db.createLabel('Evil')",
    "CALL `db`.`createLabel`('Evil')",
    "CALL db . createLabel ('Evil')",
    "MATCH (n) CALL db.createLabel('Evil') RETURN n",
    "CALL tx.setMetaData({a: 1})",
    "CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()",
    "RETURN EXISTS { CALL dbms.listConnections() YIELD connectionId RETURN connectionId } AS x",
    "RETURN COLLECT { CALL db.clearQueryCaches() YIELD value RETURN value } AS x",
    "CALL apoc.load.json('http://127.0.0.1:{port}/x')",
    "RETURN apoc.text.repeat('a', 100) AS x",
    "RETURN `apoc`.load.x('y') AS x",
    "RETURN genai.vector.encode('a', 'OpenAI', {token: 'x'}) AS x",
    "RETURN graph.names() AS x",
    "RETURN reduce(s = 'a', i IN range(1, 40) | s + s) AS x",
    "RETURN reduce(s = 0, i IN range(1, 2000000000) | s + i) AS x",
    "RETURN REDUCE (s = 0, i IN [1] | s) AS x",
    "RETURN size([x IN range(1, 2000000000) WHERE false]) AS x",
    "WITH 2000000000 AS n RETURN size([x IN range(1, n) WHERE false]) AS x",
    "RETURN range(1, 99999 * 99999) AS x",
    "RETURN range(1, toInteger('2000000000')) AS x",
    "RETURN size([x IN range(1, 1000000) WHERE any(y IN range(1, 1000000) WHERE y < 0)]) AS x",
    "RETURN [a IN [1] | [b IN [1] | [c IN [1] | c]]] AS x",
    "WITH [1, 2] AS l RETURN [x IN l WHERE any(y IN l WHERE y > x)] AS x",
    "RETURN [x IN [1] | [y IN [2] | x + y]] AS x",
    "WITH [x IN range(0,1000000) | x] AS a, [y IN range(1,1000000) | y] AS b RETURN size([x IN a WHERE x IN b]) AS n",
    "WITH [1] AS a, [2] AS b RETURN [x IN a WHERE x IN (b + [-x])] AS n",
    "WITH [1] AS a, [2] AS b RETURN [x IN a WHERE NOT x IN b[0..1]] AS n",
    "WITH [1] AS a RETURN any(x IN a WHERE x IN [1] + a) AS n",
    "MATCH (t:Task) RETURN [x IN [t.id] | x IN keys(t)] AS n",
    "WITH [1, 2, 3, 4] AS a " + "WITH a + a AS a " * 34 + "RETURN 7 IN a AS n",
    "WITH 'ab' AS a " + "WITH a || a AS a " * 34 + "RETURN size(a) AS n",
    "WITH 'ab' AS a, 1 AS b RETURN " + "+".join(["a"] * 12) + " AS n",
    "RETURN replace('aaaa', 'a', '" + "b" * 300 + "') AS n",
    "RETURN replace(replace('aaaa', 'a', '" + "b" * 20 + "'), 'b', '" + "c" * 20 + "') AS n",
    "MATCH (t:Task) RETURN replace(t.id, 'a', t.payload) AS n",
    "RETURN replace('a', 'a', 'b' + 'c') AS n",
    "RETURN allReduce(s = 0, i IN [1] | s + i, s < 9) AS x",
    "RETURN 'xxx' =~ 'x*x*x*y' AS x",
    "RETURN 'xxx' =~ 'x+x+y' AS x",
    "RETURN 'xxx' =~ '(x|x)*y' AS x",
    "RETURN 'xxx' =~ 'x?x?x?xxx' AS x",
    "RETURN 'x*' =~ 'x{1,9}x{1,9}' AS x",
    "RETURN 'xxx' =~ ('x*' + 'x*') AS x",
    "RETURN 'xxx' =~ 'x*' + 'x*y' AS x",
    "MATCH (t:Task) RETURN t.id =~ t.type AS x",
    "WITH {p: 'x*x*y'} AS m RETURN 'xxx' =~ m.p AS x",
    "RETURN 'xxx' =~ '" + "(a|a)" * 30 + "' AS x",
    "RETURN 'xxx' =~ '" + "(?:a|(a|a))" * 8 + "' AS x",
    "RETURN 'xxx' =~ '" + "([)]|a|a)" * 27 + "' AS x",
    "RETURN 'xxx' =~ '" + r"(\\)|a|a)" * 27 + "' AS x",
    "RETURN 'xxx' =~ '(?x)(a|a) {27}' AS x",
    "RETURN 'xxx' =~ '(?ix:(a|a) {27})' AS x",
    "RETURN 'xxx' =~ '" + r"\\(*" * 8 + "x' AS x",
    "RETURN 'xxx' =~ '" + r"(\\Q)\\E|a|a)" * 22 + "' AS x",
    "RETURN 'xxx' =~ '" + "([a[)]]|a|a)" * 22 + "' AS x",
    "RETURN 'xxx' =~ '" + "([])]|a|a)" * 22 + "' AS x",
    "RETURN 'xxx' =~ '" + "([^])]|a|a)" * 22 + "' AS x",
    "RETURN 'xxx' =~ '" + r"(\\c)|a|a)" * 22 + "' AS x",
    r"RETURN 'xxx' =~ '(a|b)\\1*' AS x",
    r"RETURN 'xxx' =~ '(?=(a|a)*)x' AS x",
    "RETURN 'it''s' = '' AND 'xxx' =~ 'x*x*y' AS x",
    "MATCH (n) WHERE " + " XOR ".join(f"n.a{i} = 1" for i in range(22)) + " RETURN n",
    "MATCH (n) WHERE " + " OR ".join(f"(n.a{i} = 1 AND n.b{i} = 2)" for i in range(60)) + " RETURN n",
    "RETURN 'not ended",
    "MATCH (n) RETURN n /* not ended",
    "RETURN 1 AS `not ended",
    "RETURN 1 AS x\u00ac",
    "",
    "   ",
    ";",
    "(n) RETURN n",
    "{ MATCH (n) RETURN n }",
    "DELETE n",
    "RETURN " + "1+" * 10_000 + "1",
]


@pytest.fixture(scope="module")
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A port on loopback, and what anybody sent to it."""
    heard: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                other, _ = server.accept()
            except OSError:
                return
            heard.append(b"somebody")
            other.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield server.getsockname()[1], heard
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(5)


async def _count(world: World) -> list[int]:
    text = "MATCH (n) WITH count(n) AS nodes OPTIONAL MATCH ()-[r]->() RETURN nodes, count(r) AS links"
    row = (await world.cypher(text))[0]
    labels = (await world.cypher("CALL db.labels() YIELD label RETURN count(*) AS n"))[0]["n"]
    schema = len(await world.store.graph.query("SHOW CONSTRAINTS")) + len(await world.store.graph.query("SHOW INDEXES"))
    return [row["nodes"], row["links"], labels, schema]


async def test_all_good_statements_run(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue_many([EnqueueRequest("read", id="a"), EnqueueRequest("read", id="b", after=["a"])])
    before = await _count(world)
    for text in GOOD:
        await operations.query(text)
    assert await _count(world) == before


async def test_all_hostile_statements_are_refused_and_change_nothing(
    operations: Operations, world: World, listener: tuple[int, list[bytes]]
) -> None:
    port, heard = listener
    await operations.tasks.enqueue(EnqueueRequest("read", id="a"))
    before = await _count(world)
    for text in HOSTILE:
        with pytest.raises((SecurityError, InvalidValue)) as caught:
            await operations.query(text.replace("{port}", str(port)))
        assert "\n" not in str(caught.value).strip() or isinstance(caught.value, InvalidValue), text
    assert await _count(world) == before
    assert heard == []


def test_there_are_enough_of_both() -> None:
    assert len(GOOD) >= 40
    assert len(HOSTILE) >= 60


@pytest.mark.parametrize(
    "text", [one for one in HOSTILE if one.startswith(("EXPLAIN", "CREATE", "LOAD", "USE", "DELETE"))]
)
def test_the_plain_ones_are_refused_before_the_server_hears_of_them(text: str) -> None:
    with pytest.raises(SecurityError, match="refused"):
        check_text(text)


@pytest.mark.parametrize(
    ("query_type", "plan"),
    [
        ("w", {"operatorType": "EmptyResult"}),
        ("rw", {"operatorType": "ProduceResults"}),
        ("s", {"operatorType": "CreateIndex"}),
        (None, {"operatorType": "ProduceResults"}),
        ("r", None),
        ("r", {"operatorType": "ProduceResults@neo4j", "children": [{"operatorType": "LoadCSV@neo4j"}]}),
        ("r", {"operatorType": "ShowUsers@neo4j"}),
        ("r", {"operatorType": "ProcedureCall@neo4j", "args": {"Details": "dbms.listConnections() :: (x)"}}),
        ("r", {"operatorType": "ProcedureCall@neo4j"}),
        ("r", {"operatorType": "Apply", "children": [{"operatorType": "SetProperty"}]}),
        ("r", {"operatorType": "TransactionForeach"}),
        ("r", {"operatorType": "ProduceResults@neo4j", "children": [{"operatorType": "TerminateTransactions@neo4j"}]}),
    ],
)
def test_a_plan_that_is_no_plain_read_is_refused(query_type: str | None, plan: dict[str, Any] | None) -> None:
    with pytest.raises(SecurityError):
        check_plan(query_type, plan)


def test_quoted_text_is_blanked_and_positions_of_keywords_stay_apart() -> None:
    assert blank("RETURN 'a;\\'b' + \"c\" AS `x``y` // d\n/* e */ LIMIT 1").split() == [
        *("RETURN", "''", "+", "''", "AS", "\u00ac", "LIMIT", "1"),
    ]


async def test_parameters_are_values_never_text(operations: Operations) -> None:
    text = "x' CREATE (:Evil) //"
    answer = await operations.query("RETURN $a AS a, $b.c AS c", {"a": text, "b": {"c": [1, None]}})
    assert answer.rows == ({"a": text, "c": [1, None]},)
    with pytest.raises(SecurityError):
        await operations.query("UNWIND range(1, $n) AS x RETURN count(x)", {"n": 10**9})
    with pytest.raises(InvalidValue, match="limit is 65536"):
        await operations.query("RETURN $a AS a", {"a": "x" * 70_000})


async def test_more_rows_than_asked_for_are_cut_and_marked(operations: Operations) -> None:
    answer = await operations.query("UNWIND range(1, 60) AS x RETURN x")
    assert (len(answer.rows), answer.cut) == (50, "rows")
    whole = await operations.query("UNWIND range(1, 60) AS x RETURN x", rows=60)
    assert (len(whole.rows), whole.cut) == (60, None)
    for rows in (0, 1001):
        with pytest.raises(InvalidValue):
            await operations.query("RETURN 1 AS x", rows=rows)


async def test_large_rows_are_cut_by_bytes(operations: Operations) -> None:
    answer = await operations.query("UNWIND range(1, 50) AS x RETURN x, $text AS text", {"text": "y" * 10_000})
    assert answer.cut == "bytes"
    assert 1 <= len(answer.rows) <= 6


async def test_a_query_that_takes_too_long_is_stopped_and_the_next_one_runs(world: World) -> None:
    long = "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN count(*) AS n"
    with pytest.raises(BudgetExceeded, match=r"longer than 0\.5 s"):
        await world.store.guarded.run(long, {}, rows=10, size=1000, seconds=0.5)
    assert (await world.store.guarded.run("RETURN 1 AS x", {}, rows=10, size=1000)).rows == ({"x": 1},)


async def test_nothing_new_is_run_while_the_server_still_stops_the_last_query(world: World) -> None:
    long = "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN count(*) AS n"
    with pytest.raises(BudgetExceeded):
        await world.store.guarded.run(long, {}, rows=10, size=1000, seconds=0.5)
    async with world.store.client.raw_session(read=True, fetch_size=1) as session:
        tx = await session.begin_transaction(metadata={"app": APP})
        found = "SHOW TRANSACTIONS YIELD transactionId AS id, metaData WHERE metaData.app = $app"
        await world.cypher(f"{found} TERMINATE TRANSACTIONS id YIELD message RETURN message", app=APP)
        with pytest.raises(BudgetExceeded, match="still stopping"):
            await world.store.guarded.run("RETURN 1 AS x", {}, rows=10, size=1000)
        await tx.rollback()
    assert (await world.store.guarded.run("RETURN 1 AS x", {}, rows=10, size=1000)).rows == ({"x": 1},)


def test_a_pattern_in_a_parameter_is_judged_too() -> None:
    assert check_text("RETURN 'a' =~ $p", {"p": "(?i)a.*"})
    for params in ({"p": "x*x*y"}, {"p": 1}, {"p": ["a"]}, {}):
        with pytest.raises(SecurityError, match=r"=~|regular"):
            check_text("RETURN 'xxx' =~ $p", params)


async def test_guarded_queries_run_one_at_a_time(world: World) -> None:
    text = "UNWIND range(1, 1000000) AS x RETURN count(x) AS n"
    answers = await asyncio.gather(*(world.store.guarded.run(text, {}, rows=1, size=1000) for _ in range(3)))
    assert [one.rows for one in answers] == [({"n": 1_000_000},)] * 3


def test_a_list_in_a_parameter_may_be_looked_into_while_it_is_short() -> None:
    text = "MATCH (t:Task) RETURN [x IN labels(t) WHERE x IN $known] AS x"
    assert check_text(text, {"known": ["a"] * 1000})
    for known in (["a"] * 1001, "a", None):
        with pytest.raises(SecurityError, match="IN inside a loop"):
            check_text(text, {"known": known})
    assert check_text("RETURN replace('a', 'a', $text) AS x", {"text": "b" * 256})
    with pytest.raises(SecurityError, match="256 times"):
        check_text("RETURN replace('a', 'a', $text) AS x", {"text": "b" * 257})


async def test_the_statements_of_help_and_documents_run(operations: Operations) -> None:
    shown = re.search(r'"([^"]+)"', words.QUERY_USAGE)
    assert shown is not None
    examples = arguments.Query.model_fields["query"].examples
    assert examples
    for text in (shown[1], *examples, *(str(one["query"]) for one in graph.EXAMPLES["graph_query"])):
        await operations.query(text)


async def test_a_mistake_is_told_where_the_caller_wrote_it(operations: Operations) -> None:
    for text, place in (("RETURN nosuch", "line 1, column 8"), ("MATCH (t)\nRETURN t, nosuch", "line 2, column 11")):
        with pytest.raises(InvalidValue) as caught:
            await operations.query(text)
        assert place in str(caught.value)
        assert "EXPLAIN" not in str(caught.value)


async def test_a_mistake_in_the_query_is_the_callers(operations: Operations) -> None:
    for text in ("MATCH (n RETURN n", "RETURN nosuch", "RETURN $missing AS x", "RETURN nosuch(1) AS x"):
        with pytest.raises(KgschedError) as caught:
            await operations.query(text)
        assert caught.value.exit_code == 2


async def test_values_of_the_graph_become_json(operations: Operations, world: World) -> None:
    await world.cypher("CREATE (:P {n: 1})-[:L {w: 2.5}]->(:Q), (:V {at: datetime('2030-01-01T00:00Z'), x: 0.0/0.0})")
    answer = await operations.query("MATCH p = (a:P)-[l]->(b:Q) RETURN a, l, p, [1, null] AS xs")
    a, b, link = (
        {"labels": ["P"], "properties": {"n": 1}},
        {"labels": ["Q"], "properties": {}},
        {"type": "L", "properties": {"w": 2.5}},
    )
    assert answer_record(answer) == {
        "columns": ["a", "l", "p", "xs"],
        "rows": [{"a": a, "l": link, "p": {"nodes": [a, b], "relationships": [link]}, "xs": [1, None]}],
        "count": 1,
        "cut": None,
    }
    values = (await operations.query("MATCH (v:V) RETURN v.at AS at, v.x AS x")).rows[0]
    assert values == {"at": "2030-01-01T00:00:00.000000000+00:00", "x": "nan"}
    (beyond,) = (await operations.query("RETURN date({year: 12345}) AS far, 1 AS near")).rows
    assert (beyond["near"], "Python" in beyond["far"]) == (1, True)
