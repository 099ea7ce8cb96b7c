"""Makes decoy.csv, wide.csv, rare.csv, visits.csv and drift.csv: python made.py"""
import random


def table(name, columns, rows):
    with open(name, "w") as file:
        file.write(",".join(columns) + "\n")
        for row in rows:
            cells = (cell if isinstance(cell, str) else f"{cell:.3f}" for cell in row)
            file.write(",".join(cells) + "\n")


def decoy():
    """y is the sum of a and b; `both` is a noisy copy of that sum; the others are noise."""
    random.seed(3)
    for _ in range(120):
        a, b, *others = (random.gauss(0, 1) for _ in range(12))
        yield a, b, a + b + random.gauss(0, 0.7), *others[:9], a + b + random.gauss(0, 0.5)


def wide():
    """Five of 300 columns, which have a part in common, make y."""
    random.seed(5)
    for _ in range(60):
        common = random.gauss(0, 1)
        x = [0.9 * random.gauss(0, 1) + 0.4 * common for _ in range(300)]
        yield *x, 1.5 * x[0] - 1.2 * x[1] + x[2] - 0.9 * x[3] + 0.8 * x[4] + random.gauss(0, 0.8)


def rare():
    """Every twentieth row is ill; three of twelve columns are higher then."""
    random.seed(7)
    for row in range(400):
        ill = row % 20 == 7
        x = [random.gauss(0, 1) + (1.2 if ill and k < 3 else 0) for k in range(12)]
        yield *(f"{value:.2f}" for value in x), "ill" if ill else "well"


def visits():
    """Twenty-five patients, five visits each: what is measured once says who it is, the dose says how they are."""
    random.seed(11)
    for patient in range(25):
        once = [random.gauss(0, 1) for _ in range(20)]
        level = random.gauss(0, 2)
        for _ in range(5):
            dose, pulse = random.gauss(0, 1), random.gauss(0, 1)
            yield f"p{patient + 1}", dose, pulse, *once, level + 1.5 * dose + random.gauss(0, 0.5)


def drift():
    """Ten years of months: y wanders and follows `price`; nine other columns wander by themselves."""
    random.seed(13)
    level, walks = 0.0, [0.0] * 9
    for month in range(120):
        price = random.gauss(0, 1)
        level += random.gauss(0, 0.6)
        walks = [walk + random.gauss(0, 1) for walk in walks]
        yield f"{2015 + month // 12}-{month % 12 + 1:02d}-01", price, *walks, level - 1.2 * price + random.gauss(0, 0.3)


table("decoy.csv", ["a", "b", "both", *(f"n{k}" for k in range(1, 10)), "y"], decoy())
table("wide.csv", [*(f"x{k}" for k in range(1, 301)), "y"], wide())
table("rare.csv", [*(f"x{k}" for k in range(1, 13)), "state"], rare())
table("visits.csv", ["patient", "dose", "pulse", *(f"m{k}" for k in range(1, 21)), "y"], visits())
table("drift.csv", ["month", "price", *(f"w{k}" for k in range(1, 10)), "y"], drift())
