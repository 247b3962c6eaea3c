"""Roots, integrals, differential equations, linear algebra and number theory."""

# As people write it:
# ruff: noqa: B007, E731, E741, F821

import math

import numpy as np

import relay

from .inputs import runs

Vector = relay.Tensor[("n",)]
Matrix = relay.Tensor[("n", "m")]
Square = relay.Tensor[(3, 3)]
SPD = np.array([[4, 1, 0.5], [1, 3, 0.25], [0.5, 0.25, 2]], np.float32)
POINTS = np.array([0.5, -1.0, 2.0, 3.5, 0.25], np.float32)


@runs((2.0,), (9.0,))
def newton_sqrt(a: float):
    x = a
    while abs(x * x - a) > 1e-4:
        x = 0.5 * (x + a / x)
    return x


@runs(
    (2.0, 1e-4),
)
def newton_with_functions(start: float, tolerance: float):
    f = lambda x: x**3 - 2 * x - 5
    df = lambda x: 3 * x**2 - 2
    x, steps = start, 0
    while abs(step := f(x) / df(x)) > tolerance:
        x -= step
        steps += 1
    return x, steps


@runs(
    (0.0, 3.0),
)
def bisection(lo: float, hi: float):
    def f(x):
        return x * x - 2

    for _ in range(20):
        mid = (lo + hi) / 2
        if f(lo) * f(mid) <= 0:
            hi = mid
        else:
            lo = mid
    return (lo + hi) / 2


@runs(
    (1.0, 2.0),
)
def secant(x0: float, x1: float):
    f = lambda x: math.exp(x) - 4
    for _ in range(6):
        if abs(f(x1) - f(x0)) < 1e-5:
            break
        x0, x1 = x1, x1 - f(x1) * (x1 - x0) / (f(x1) - f(x0))
    return x1


@runs(
    (0.0, 4.0),
)
def golden_section(a: float, b: float):
    ratio = (math.sqrt(5) - 1) / 2

    def f(x):
        return (x - 1.5) ** 2 + 1

    c = b - ratio * (b - a)
    d = a + ratio * (b - a)
    while abs(b - a) > 0.05:
        if f(c) < f(d):
            b = d
        else:
            a = c
        c = b - ratio * (b - a)
        d = a + ratio * (b - a)
    return (a + b) / 2


@runs(
    (0.0, math.pi, 50),
)
def trapezoid(a: float, b: float, n: int):
    h = (b - a) / n
    total = 0.5 * (math.sin(a) + math.sin(b))
    for i in range(1, n):
        total += math.sin(a + i * h)
    return total * h


@runs(
    (0.0, 1.0, 10),
)
def simpson(a: float, b: float, n: int):
    h = (b - a) / n
    xs = [a + i * h for i in range(n + 1)]
    ys = [1 / (1 + x * x) for x in xs]
    return h / 3 * (ys[0] + ys[-1] + 4 * sum(ys[1:-1:2]) + 2 * sum(ys[2:-1:2]))


@runs(
    (1.0, 0.1, 20),
)
def euler_decay(y: float, dt: float, steps: int):
    ys = [y]
    for _ in range(steps):
        y = y - y * dt
        ys.append(y)
    return ys


@runs(
    (np.array([1.0, 0.0], np.float32), 0.1, 10),
)
def runge_kutta(state: relay.Tensor[(2,)], dt: float, steps: int):
    def f(s):
        return np.stack([s[1], -s[0]])

    for _ in range(steps):
        k1 = f(state)
        k2 = f(state + dt / 2 * k1)
        k3 = f(state + dt / 2 * k2)
        k4 = f(state + dt * k3)
        state = state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return state


@runs(
    (np.array([1.0, 0.0], np.float32),),
)
def pendulum(state: relay.Tensor[(2,)]):
    g, length, dt = 9.81, 1.0, 0.01
    for _ in range(10):
        theta, omega = state
        omega = omega - g / length * np.sin(theta) * dt
        state = np.array([theta + omega * dt, omega])
    return state


@runs(
    (10.0, 5.0, 15),
)
def lotka_volterra(prey: float, predators: float, steps: int):
    alpha, beta, gamma, delta = 0.1, 0.02, 0.3, 0.01
    history = [(prey, predators)]
    for _ in range(steps):
        prey, predators = (
            prey + 0.1 * (alpha * prey - beta * prey * predators),
            predators + 0.1 * (delta * prey * predators - gamma * predators),
        )
        history.append((prey, predators))
    return history


@runs(
    (SPD,),
)
def power_iteration(a: Square):
    v = np.ones(3)
    for _ in range(30):
        w = a @ v
        v = w / np.linalg.norm(w)
    return v, v @ a @ v


@runs(
    (SPD, np.array([1.0, 2.0, 3.0], np.float32)),
)
def jacobi(a: Square, b: relay.Tensor[(3,)]):
    d = np.diag(a)
    x = np.zeros_like(b)
    for _ in range(25):
        x = (b - (a - np.diag(d)) @ x) / d
    return x


@runs(
    (SPD, np.array([1.0, 2.0, 3.0], np.float32)),
)
def gauss_seidel(a: Square, b: relay.Tensor[(3,)]):
    n = len(b)
    x = np.zeros(n)
    for _ in range(10):
        for i in range(n):
            s = sum(a[i, j] * x[j] for j in range(n) if j != i)
            x[i] = (b[i] - s) / a[i, i]
    return x


@runs(
    (SPD, np.array([1.0, 2.0, 3.0], np.float32)),
)
def gaussian_elimination(a: Square, b: relay.Tensor[(3,)]):
    n = a.shape[0]
    m = np.concatenate([a, b.reshape(n, 1)], axis=1)
    for k in range(n):
        for i in range(k + 1, n):
            m[i] -= m[k] * (m[i, k] / m[k, k])
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (m[i, n] - m[i, :n] @ x) / m[i, i]
    return x


@runs(
    (SPD,),
)
def cholesky(a: Square):
    n = a.shape[0]
    l = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = 0.0
            for k in range(j):
                s += l[i, k] * l[j, k]
            if i == j:
                l[i, j] = np.sqrt(a[i, i] - s)
            else:
                l[i, j] = (a[i, j] - s) / l[j, j]
    return l


@runs(
    (SPD,),
)
def gram_schmidt(a: Square):
    q = []
    for row in a:
        v = row
        for u in q:
            v = v - (v @ u) * u
        q.append(v / np.sqrt(v @ v))
    return np.stack(q)


@runs(
    (SPD, np.array([1.0, 2.0, 3.0], np.float32)),
)
def conjugate_gradient(a: Square, b: relay.Tensor[(3,)]):
    x = np.zeros_like(b)
    r = b - a @ x
    p = r
    rs = r @ r
    for _ in range(3):
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r.dot(r)
        if np.sqrt(new) < 1e-6:
            break
        p = r + (new / rs) * p
        rs = new
    return x


@runs((np.array([1.0, -2.0, 3.0], np.float32), 2.0), (np.array([5.0], np.float32), 3.0))
def horner(coefficients: Vector, x: float):
    result = 0.0
    for c in coefficients:
        result = result * x + c
    return result


@runs(
    (np.array([0.0, 1.0, 2.0], np.float32), np.array([1.0, 3.0, 2.0], np.float32), 1.5),
)
def lagrange(xs: relay.Tensor[(3,)], ys: relay.Tensor[(3,)], x: float):
    total = 0.0
    for i in range(len(xs)):
        term = ys[i]
        for j in range(len(xs)):
            if j != i:
                term *= (x - xs[j]) / (xs[i] - xs[j])
        total += term
    return total


@runs((48, 36), (17, 5))
def gcd(a: int, b: int):
    while b:
        a, b = b, a % b
    return a


@runs((30,), (2,))
def primes(n: int):
    found: list[int] = []
    for k in range(2, n):
        if all(k % p != 0 for p in found):
            found.append(k)
    return found


@runs((30,), (3,))
def sieve(n: int):
    is_prime = [True] * (n + 1)
    is_prime[0] = is_prime[1] = False
    i = 2
    while i * i <= n:
        if is_prime[i]:
            for j in range(i * i, n + 1, i):
                is_prime[j] = False
        i += 1
    return [i for i, p in enumerate(is_prime) if p]


@runs((10,), (0,), (1,))
def fibonacci(n: int):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@runs(
    (12,),
)
def recursive_fibonacci(n: int):
    def fib(k: int) -> int:
        return k if k < 2 else fib(k - 1) + fib(k - 2)

    return fib(n)


@runs(
    (3, 13, 1000),
)
def modular_power(base: int, exponent: int, modulus: int):
    result = 1
    while exponent > 0:
        if exponent & 1:
            result = (result * base) % modulus
        base = base * base % modulus
        exponent >>= 1
    return result


@runs((-0.5, 0.25), (2.0, 2.0))
def mandelbrot(cr: float, ci: float):
    zr = zi = 0.0
    for n in range(20):
        if zr * zr + zi * zi > 4.0:
            return n
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
    return 20


@runs(
    (np.array([[0, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]], np.int32), 1),
)
def game_of_life(board: relay.Tensor[(5, 5), "int32"], steps: int):
    for _ in range(steps):
        neighbours = sum(
            np.roll(np.roll(board, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)
        )
        board = np.where((neighbours == 3) | ((board == 1) & (neighbours == 2)), 1, 0)
    return board


@runs(
    (np.array([0, 0, 10, 0, 0, 0], np.float32), 5),
)
def heat_equation(u: relay.Tensor[(6,)], steps: int):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@runs(
    (POINTS,),
)
def discrete_fourier(x: Vector):
    n = len(x)
    k = np.arange(n)
    angle = -2 * np.pi * np.outer(k, k) / n
    return np.cos(angle) @ x, np.sin(angle) @ x


@runs(
    (np.array([1.0, 2.0, 3.0, 4.0], np.float32), np.array([2.0, 4.1, 6.2, 7.9], np.float32)),
)
def least_squares_line(x: Vector, y: Vector):
    n = len(x)
    mx, my = x.mean(), y.mean()
    slope = ((x - mx) * (y - my)).sum() / ((x - mx) ** 2).sum()
    intercept = my - slope * mx
    residuals = y - (slope * x + intercept)
    return slope, intercept, 1 - (residuals**2).sum() / ((y - my) ** 2).sum(), n


@runs(
    (np.array([1.1, 0.9, 1.3, 1.0], np.float32),),
)
def kalman(measurements: Vector):
    estimate, variance = 0.0, 1.0
    estimates = []
    for z in measurements:
        gain = variance / (variance + 0.1)
        estimate = estimate + gain * (z - estimate)
        variance = (1 - gain) * variance
        estimates.append(estimate)
    return estimates, variance


@runs(
    (POINTS, 3),
)
def moving_average(x: relay.Tensor[(5,)], window: int):
    out = []
    for i in range(len(x) - window + 1):
        total = 0.0
        for j in range(window):
            total += x[i + j]
        out.append(total / window)
    return out


@runs(
    (POINTS, np.array([0.25, 0.5, 0.25], np.float32)),
)
def convolve(x: relay.Tensor[(5,)], kernel: relay.Tensor[(3,)]):
    n, k = x.shape[0], kernel.shape[0]
    y = np.zeros(n - k + 1, dtype=np.float32)
    for i in range(n - k + 1):
        y[i] = np.sum(x[i : i + k] * kernel)
    return y


@runs((12345,), (0,))
def digit_sum(n: int):
    total = 0
    while n > 0:
        n, digit = divmod(n, 10)
        total += digit
    return total


@runs((6,), (28,), (12,))
def is_perfect(n: int):
    return sum(d for d in range(1, n) if n % d == 0) == n


@runs(
    (20, 7),
)
def linear_congruential(n: int, seed: int):
    inside = 0
    for _ in range(n):
        seed = (1103 * seed + 12345) % 32768
        x = seed / 32768
        seed = (1103 * seed + 12345) % 32768
        y = seed / 32768
        if x * x + y * y <= 1.0:
            inside += 1
    return 4 * inside / n


@runs(
    (np.array([[1, 2], [3, 4]], np.float32), 5),
)
def matrix_power(m: relay.Tensor[(2, 2)], n: int):
    result = np.eye(2)
    while n > 0:
        if n % 2 == 1:
            result = result @ m
        m = m @ m
        n //= 2
    return result


@runs((1.0,), (-3.0,))
def quadratic_roots(c: float):
    a, b = 1.0, -2.0
    d = b * b - 4 * a * c
    if d < 0:
        return 0, (0.0, 0.0)
    root = math.sqrt(d)
    return (1 if d == 0 else 2), ((-b - root) / (2 * a), (-b + root) / (2 * a))


@runs(
    (np.array([3.0, 4.0], np.float32),),
)
def gradient_descent(x: relay.Tensor[(2,)]):
    target = np.array([1.0, -1.0])
    losses = []
    lr = 0.1
    for step in range(10):
        gradient = 2 * (x - target)
        x = x - lr * gradient
        losses.append(((x - target) ** 2).sum())
    return x, losses[-1]


@runs(
    (np.array([[0, 1], [3, 4], [6, 8]], np.float32),),
)
def pairwise_distances(x: relay.Tensor[(3, 2)]):
    difference = x[:, np.newaxis, :] - x[np.newaxis, :, :]
    return np.sqrt((difference**2).sum(axis=-1))


@runs(
    (POINTS,),
)
def statistics(x: Vector):
    mean = np.mean(x)
    variance = np.mean((x - mean) ** 2)
    z = (x - mean) / np.sqrt(variance + 1e-8)
    skew = np.mean(z**3)
    return {"mean": mean, "std": np.sqrt(variance), "skew": skew}["skew"], np.median(x), x.max() - x.min()
