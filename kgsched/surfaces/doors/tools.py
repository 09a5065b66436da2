"""All tools, in the order in which they are listed. Those that begin with graph_ are also `POST /graph/<name>`."""

from __future__ import annotations

from kgsched.surfaces.doors import cluster, schedules, tasks, work_items
from kgsched.surfaces.doors.action import Tool

TOOLS = (
    Tool(
        "graph_schedules",
        "Schedules",
        "List, look at, run and change the schedules that enqueue recurring work.",
        schedules.LIST,
        schedules.SHOW,
        schedules.PREVIEW,
        schedules.ENABLE,
        schedules.DISABLE,
        schedules.PRIORITIZE,
        schedules.SET_INTERVAL,
        schedules.RUN_NOW,
        chooses=True,
    ),
    Tool(
        "graph_query",
        "Query the graph",
        "Run one read-only Cypher statement on the whole graph: tasks and schedules, and the knowledge next to them. "
        "The resource kgsched://graph/schema names labels and properties. It has four seconds; `cut` says when there "
        "is more. Statements that write, load files or call other procedures than schema and index reads are refused.",
        cluster.QUERY,
    ),
    Tool(
        "graph_jobs",
        "Jobs",
        "List the maintenance jobs, or run one by name.",
        cluster.JOBS,
        cluster.RUN_JOB,
        chooses=True,
    ),
    Tool(
        "graph_tasks",
        "Tasks",
        "All that can be done with tasks, by `action`.",
        tasks.LIST,
        tasks.SHOW,
        tasks.ENQUEUE,
        tasks.CANCEL,
        tasks.RETRY,
        tasks.PRIORITIZE,
        tasks.WAIT,
        chooses=True,
    ),
    Tool("list_tasks", "List tasks", "List tasks on one line each, newest first, a page at a time.", tasks.LIST),
    Tool("get_task", "Show a task", "Show one task with its payload, result, runs and timeline.", tasks.SHOW),
    Tool(
        "enqueue_task",
        "Enqueue a task",
        "Enqueue a task. The answer is its id at once; get_task tells how it ends. Give an `id` or `key` to make it "
        "safe to repeat.",
        tasks.ENQUEUE,
    ),
    Tool("cancel_task", "Cancel tasks", "End tasks that have not run; those that run are asked to stop.", tasks.CANCEL),
    Tool(
        "retry_task",
        "Retry tasks",
        "Bring back failed, dead-lettered or cancelled tasks, and what was cancelled because of them. They are queued, "
        "not done.",
        tasks.RETRY,
    ),
    Tool("prioritize_task", "Prioritize tasks", "Change the priority of tasks that are not over.", tasks.PRIORITIZE),
    Tool(
        "list_work_items",
        "List work items",
        "List tasks as work items (runnable, running, done, failed, cancelled), newest first.",
        work_items.LIST,
    ),
    Tool(
        "retry_work_item",
        "Retry a work item",
        "Queue a failed or dead-lettered work item again, with attempts back to zero. It is queued, not done.",
        work_items.RETRY,
    ),
    Tool("lanes", "Lanes", "List the lanes and task types, with what waits and runs in each.", cluster.LANES),
)
GRAPH_PREFIX = "graph_"
