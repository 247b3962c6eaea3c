"""Sorting, searching, dynamic programming and graphs over lists."""

# As people write it:
# ruff: noqa: B007, B905, C417, F821, RUF005

import numpy as np

import relay

from .inputs import runs

NUMBERS = [5, 2, 9, 1, 5, 6]
INFINITY = 10**6


@runs((NUMBERS,), ([],), ([1],))
def quicksort(xs: list[int]):
    def sort(items: list[int]) -> list[int]:
        if len(items) <= 1:
            return items
        pivot, *rest = items
        left = [x for x in rest if x < pivot]
        right = [x for x in rest if x >= pivot]
        return sort(left) + [pivot] + sort(right)

    return sort(xs)


@relay.function
def merge(left: list[int], right: list[int]) -> list[int]:
    if not left:
        return right
    if not right:
        return left
    if left[0] <= right[0]:
        return [left[0]] + merge(left[1:], right)
    return [right[0]] + merge(left, right[1:])


@relay.function
def merge_sort(xs: list[int]) -> list[int]:
    if len(xs) <= 1:
        return xs
    middle = len(xs) // 2
    return merge(merge_sort(xs[:middle]), merge_sort(xs[middle:]))


@runs((NUMBERS,), ([],))
def merge_sorted(xs: list[int]):
    return merge_sort(xs)


@runs((NUMBERS,), ([3],))
def insertion_sort(xs: list[int]):
    out: list[int] = []
    for x in xs:
        i = 0
        while i < len(out) and out[i] < x:
            i += 1
        out.insert(i, x)
    return out


@runs(
    (np.array([5, 2, 9, 1, 5], np.int32),),
)
def bubble_sort(x: relay.Tensor[("n",), "int32"]):
    x = x.copy()
    n = len(x)
    for i in range(n):
        for j in range(n - i - 1):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


@runs(
    (np.array([5, 2, 9, 1, 5], np.int32),),
)
def selection_sort(x: relay.Tensor[("n",), "int32"]):
    x = np.copy(x)
    for i in range(len(x)):
        smallest = i
        for j in range(i + 1, len(x)):
            if x[j] < x[smallest]:
                smallest = j
        x[i], x[smallest] = x[smallest], x[i]
    return x


@runs(([1, 3, 5, 7, 9], 7), ([1, 3, 5], 4))
def binary_search(xs: list[int], target: int):
    lo, hi = 0, len(xs) - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if xs[mid] == target:
            return mid
        if xs[mid] < target:
            lo = mid + 1
        else:
            hi = mid - 1
    return -1


@runs(([2, 7, 11, 15], 26), ([1, 2], 9))
def two_sum(xs: list[int], target: int):
    for i in range(len(xs)):
        for j in range(i + 1, len(xs)):
            if xs[i] + xs[j] == target:
                return i, j
    return -1, -1


@runs(([1, 1, 2, 3, 3, 3],), ([4],))
def run_lengths(xs: list[int]):
    out: list[tuple[int, int]] = []
    current, count = xs[0], 0
    for x in xs:
        if x == current:
            count += 1
        else:
            out.append((current, count))
            current, count = x, 1
    out.append((current, count))
    return out


@runs(
    ([3, 1, 3, 2, 1],),
)
def distinct(xs: list[int]):
    seen: list[int] = []
    for x in xs:
        if x not in seen:
            seen.append(x)
    return seen


@runs(
    ([1, 2, 3],),
)
def prefix_sums(xs: list[int]):
    total = 0
    out = []
    for x in xs:
        total += x
        out += [total]
    return out


@runs((5,), (1,))
def pascal(n: int):
    rows = [[1]]
    for i in range(1, n):
        last = rows[-1]
        rows.append([1] + [last[j] + last[j + 1] for j in range(len(last) - 1)] + [1])
    return rows


@runs(
    ([1, 3, 4], [15, 20, 30], 4),
)
def knapsack(weights: list[int], values: list[int], capacity: int):
    best = [0] * (capacity + 1)
    for w, v in zip(weights, values):
        for c in range(capacity, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[capacity]


@runs(
    ([1, 2, 3, 4, 1], [3, 4, 1, 2, 1]),
)
def longest_common_subsequence(a: list[int], b: list[int]):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@runs(
    ([1, 2, 3, 4], [2, 3, 5]),
)
def edit_distance(a: list[int], b: list[int]):
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        current = [i]
        for j, y in enumerate(b, start=1):
            cost = 0 if x == y else 1
            current.append(min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost))
        previous = current
    return previous[-1]


@runs(
    ([1, 5, 10], 28),
)
def coin_change(coins: list[int], amount: int):
    ways = np.zeros(29, dtype=np.int32)
    ways[0] = 1
    for coin in coins:
        for total in range(coin, amount + 1):
            ways[total] += ways[total - coin]
    return ways[amount]


@runs(([-2, 1, -3, 4, -1, 2, 1, -5, 4],), ([-1],))
def maximum_subarray(xs: list[int]):
    best = current = xs[0]
    for x in xs[1:]:
        current = max(x, current + x)
        best = max(best, current)
    return best


@runs(
    ([(0, 3), (0, 4), (1, 0), (0, 5), (2, 0)],),
)
def stack_machine(code: list[tuple[int, int]]):
    stack: list[int] = []
    for op, value in code:
        if op == 0:
            stack.append(value)
        else:
            b = stack.pop()
            a = stack.pop()
            stack.append(a + b if op == 1 else a * b)
    return stack[-1]


@runs(
    ([[1, 2], [3], [3], []], 0),
)
def breadth_first(graph: list[list[int]], start: int):
    distance = [-1] * len(graph)
    distance[start] = 0
    queue = [start]
    while queue:
        node = queue.pop(0)
        for neighbour in graph[node]:
            if distance[neighbour] < 0:
                distance[neighbour] = distance[node] + 1
                queue.append(neighbour)
    return distance


@runs(
    (np.array([[0, 4, 1, 0], [4, 0, 2, 5], [1, 2, 0, 8], [0, 5, 8, 0]], np.int32), 0),
)
def dijkstra(graph: relay.Tensor[("n", "n"), "int32"], source: int):
    n = len(graph)
    distance = [INFINITY] * n
    visited = [False] * n
    distance[source] = 0
    for _ in range(n):
        u = -1
        for v in range(n):
            if not visited[v] and (u == -1 or distance[v] < distance[u]):
                u = v
        visited[u] = True
        for v in range(n):
            if graph[u, v] > 0:
                distance[v] = min(distance[v], distance[u] + graph[u][v])
    return distance


@runs(
    (np.array([[0, 3, 100], [100, 0, 1], [2, 100, 0]], np.float32),),
)
def floyd_warshall(d: relay.Tensor[("n", "n")]):
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d


@runs(
    ([(0, 1), (2, 3), (1, 3)], 5),
)
def connected_components(edges: list[tuple[int, int]], n: int):
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            x = parent[x]
        return x

    for a, b in edges:
        ra, rb = find(a), find(b)
        if ra != rb:
            parent[ra] = rb
    return sum(1 for i in range(n) if parent[i] == i)


@runs((4,), (5,))
def queens(n: int):
    def place(row: int, columns: list[int]) -> int:
        if row == n:
            return 1
        count = 0
        for c in range(n):
            if all(c != d and abs(c - d) != row - r for r, d in enumerate(columns)):
                count += place(row + 1, columns + [c])
        return count

    return place(0, [])


@runs(
    (3,),
)
def hanoi(n: int):
    def move(k: int, a: int, b: int, c: int) -> list[tuple[int, int]]:
        if k == 0:
            return []
        return move(k - 1, a, c, b) + [(a, b)] + move(k - 1, c, b, a)

    moves = move(n, 0, 2, 1)
    return len(moves), moves


@runs(
    ([3, 0, 2, 0, 1, 3],),
)
def counting_sort(xs: list[int]):
    counts = [0] * (max(xs) + 1)
    for x in xs:
        counts[x] += 1
    out: list[int] = []
    for value, count in enumerate(counts):
        out.extend([value] * count)
    return out


@runs(
    ([1, 2, 3, 4, 5, 6],),
)
def evens_and_odds(xs: list[int]):
    evens = [x for x in xs if x % 2 == 0]
    odds = [x for x in xs if x % 2]
    return list(zip(evens, odds)), [a * b for a, b in zip(evens, odds)]


@runs(([1, 2, 3, 4],), ([],))
def higher_order(xs: list[int]):
    squares = list(map(lambda x: x * x, xs))
    small = list(filter(lambda x: x < 10, squares))
    return squares, small, sum(map(lambda x: x + 1, small))


@runs(
    (NUMBERS,),
)
def sorted_lists(xs: list[int]):
    return sorted(xs), sorted(xs, reverse=True), sorted(xs, key=lambda x: -x), sorted(xs)[len(xs) // 2]


@runs(
    ([(3, 1.5), (1, 2.5), (2, 0.5)],),
)
def sorted_pairs(pairs: list[tuple[int, float]]):
    by_second = sorted(pairs, key=lambda p: p[1])
    return by_second, min(pairs, key=lambda p: p[0]), max(pairs, key=lambda p: p[1])[0]


@runs(
    ([[1, 2, 3], [4, 5, 6]],),
)
def transposed(rows: list[list[int]]):
    columns = [[row[j] for row in rows] for j in range(len(rows[0]))]
    flat = [x for row in rows for x in row]
    return columns, flat, sum(sum(row) for row in rows)


@runs(
    ([3, 1, 2],),
)
def accumulates(xs: list[int]):
    from_end = []
    for x in reversed(xs):
        from_end.insert(0, x + (from_end[0] if from_end else 0))
    return from_end


@runs(([1, 2, 3, 2, 1],), ([1, 2],))
def is_palindrome(xs: list[int]):
    return xs == xs[::-1]


@runs(
    ([1, 2, 3],),
)
def powerset_sums(xs: list[int]):
    sums = [0]
    for x in xs:
        sums = sums + [s + x for s in sums]
    return sums


@runs(([4, 2, 8], 2), ([4, 2, 8], 3))
def list_methods(xs: list[int], wanted: int):
    ys = xs.copy()
    ys.append(wanted)
    return ys.index(wanted), ys.count(2), len(ys), ys


@runs(
    ([0.1, 0.7, 0.2],),
)
def argmax_of_list(xs: list[float]):
    best = 0
    for i, x in enumerate(xs):
        if x > xs[best]:
            best = i
    return best, max(range(len(xs)), key=lambda i: xs[i]), xs.index(max(xs))


@runs(
    ([2, 3], 4),
)
def rotates(xs: list[int], k: int):
    k %= len(xs)
    first, *middle = xs
    *_, last = xs
    return xs[k:] + xs[:k], first, middle, last


@runs(
    ([1.0, 2.0, 4.0],),
)
def mean_and_deviation(xs: list[float]):
    mean = sum(xs) / len(xs)
    return mean, (sum((x - mean) ** 2 for x in xs) / (len(xs) - 1)) ** 0.5
