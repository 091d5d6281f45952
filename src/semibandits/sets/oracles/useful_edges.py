"""The edges that lie on a simple path between two nodes of a graph, as far as that is quickly told.

The same edges as `graphs.network` keeps, which is written independently; here any two nodes may be asked for.
"""

from typing import Any

from semibandits.types import Arrays, Solver


def solver(data: Arrays, n_items: int, directed: bool) -> Solver:
    """`data` as that of `dijkstra`. The question is 1 for each item that may be used, else 0; then the two nodes.

    Behind the items the answer has a 1, or a 0 where some edges are of use in one direction only: no path is so long
    that it could take them in the other one.
    """
    nodes = data[0].size // 2
    kernel, integers = (on_walks, 3 * nodes + n_items) if directed else (in_block, 5 * nodes + 3 * n_items)
    return Solver(kernel, data, integers=integers, own_work=False)


def on_walks(question: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """With direction: the edges on walks from source to target that are no longer than a path can be."""
    first, arcs = data
    nodes = len(first) // 2
    n_items = len(question) - 2
    source, target = int(question[n_items]), int(question[n_items + 1])
    behind, ahead, queue = integers[:nodes], integers[nodes : 2 * nodes], integers[2 * nodes : 3 * nodes]
    marks = integers[3 * nodes : 3 * nodes + n_items]
    count_hops(question, first, arcs, source, target, 0, behind, queue)
    count_hops(question, first, arcs, target, source, nodes, ahead, queue)
    for item in range(n_items):
        marks[item] = 0
    for node in range(nodes):
        if behind[node] >= 0 and node != target:
            for arc in range(first[node], first[node + 1]):
                other, item = arcs[2 * arc], arcs[2 * arc + 1]
                onward = question[item] != 0.0 and other != source and ahead[other] >= 0
                if onward and behind[node] + 1 + ahead[other] < nodes:
                    marks[item] = 1
    return write_items(out, marks, n_items, 1)


def count_hops(usable: Any, first: Any, arcs: Any, start: int, end: int, offset: int, hops: Any, queue: Any) -> None:
    """How many arcs lead at least from the start to each node, none of them from the end, or back to the start.

    -1: none do. `offset` is how many nodes there are, to go back along the arcs, or 0.
    """
    for node in range(len(first) // 2):
        hops[node] = -1
    hops[start] = 0
    queue[0] = start
    size = 1
    next = 0
    while next < size:
        node = queue[next]
        next += 1
        if node != end:
            for arc in range(first[offset + node], first[offset + node + 1]):
                other = arcs[2 * arc] - offset
                if hops[other] < 0 and usable[arcs[2 * arc + 1]] != 0:
                    hops[other] = hops[node] + 1
                    queue[size] = other
                    size += 1


def in_block(question: Any, out: Any, data: Arrays, numbers: Any, integers: Any) -> int:
    """Without direction: those in one biconnected block with an edge from source to target that is added (Tarjan 1972).

    Depth first from that edge: a part that reaches back no further than to the node by which it hangs on is a block of
    its own, and dropped.
    """
    first, arcs = data
    nodes = len(first) // 2
    n_items = len(question) - 2
    source, target = int(question[n_items]), int(question[n_items + 1])
    depth, lowest, ahead = integers[:nodes], integers[nodes : 2 * nodes], integers[2 * nodes : 3 * nodes]
    before, stack = integers[3 * nodes : 4 * nodes], integers[4 * nodes : 5 * nodes]
    kept = integers[5 * nodes : 5 * nodes + 2 * n_items]
    marks = integers[5 * nodes + 2 * n_items : 5 * nodes + 3 * n_items]
    for node in range(nodes):
        depth[node] = -1
    depth[source] = 0
    depth[target] = lowest[target] = 1
    ahead[target] = first[target]
    before[target] = 0
    stack[0] = target
    size = 1
    count = 0
    while size > 0:
        node = stack[size - 1]
        here = depth[node]
        arc = ahead[node]
        end = first[node + 1]
        down = -1
        while arc < end and down < 0:
            other, item = arcs[2 * arc], arcs[2 * arc + 1]
            arc += 1
            if question[item] != 0.0:
                known = depth[other]
                if known < 0:
                    down = other
                    before[other] = count
                if known < here:
                    kept[count] = item
                    count += 1
                if 0 <= known < lowest[node]:
                    lowest[node] = known
        ahead[node] = arc
        if down >= 0:
            depth[down] = lowest[down] = here + 1
            ahead[down] = first[down]
            stack[size] = down
            size += 1
        else:
            size -= 1
            if size > 0:
                above = stack[size - 1]
                lowest[above] = min(lowest[above], lowest[node])
                if lowest[node] >= depth[above]:
                    count = before[node]
    for item in range(n_items):
        marks[item] = 0
    for i in range(count):
        marks[kept[i]] = 1
    count_hops(marks, first, arcs, source, target, 0, depth, stack)
    count_hops(marks, first, arcs, target, source, nodes, lowest, stack)
    both = 1
    for node in range(nodes):
        if depth[node] >= 0 and node != target:
            for arc in range(first[node], first[node + 1]):
                other = arcs[2 * arc]
                if other != source and marks[arcs[2 * arc + 1]] == 1 and depth[node] + 1 + lowest[other] >= nodes:
                    both = 0
    return write_items(out, marks, n_items, both)


def write_items(out: Any, marks: Any, n_items: int, both: int) -> int:
    size = 0
    for item in range(n_items):
        if marks[item] == 1:
            out[size] = item
            size += 1
    out[size] = both
    return size + 1
