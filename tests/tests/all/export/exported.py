"""Runs an exported model on a table and prints its predictions as JSON, a list for each column.

usage: exported.py FORMAT MODEL DATA.csv FORMULAS.json    (FORMULAS.json: the model exported as JSON, which names the columns)
"""
import csv
import datetime
import json
import math
import runpy
import sqlite3
import sys

MISSING = {"onnx": "onnxruntime", "excel": "formulas", "pmml": "pypmml"}


def rows_of(path, columns):
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield {column["name"]: typed(row[column["name"]], column["holds"]) for column in columns}


def typed(text, holds):
    if text == "":
        return None
    try:
        return float(text) if holds == "number" else text
    except ValueError:
        return text


def seconds(text):
    return math.nan if text is None else (datetime.datetime.fromisoformat(text) - datetime.datetime(1970, 1, 1)) / datetime.timedelta(seconds=1)


def columns_of(found):
    return {name: [row[name] for row in found] for name in (found[0] if found else [])}


def python(model, rows, columns, outputs):
    predict = runpy.run_path(model)["predict"]
    found = []
    for row in rows:
        try:
            found.append(predict(row))
        except ValueError:
            found.append(dict.fromkeys(outputs))
    return columns_of(found)


def sql(model, rows, columns, outputs):
    database = sqlite3.connect(":memory:")
    kinds = {"number": "REAL", "text": "TEXT", "date": "TEXT"}
    quoted = ['"' + column["name"].replace('"', '""') + '"' for column in columns]
    declared = [f"{name} {kinds[column['holds']]}" for name, column in zip(quoted, columns)] or ["nothing REAL"]
    database.execute(f"CREATE TABLE data ({', '.join(declared)})")
    places = ", ".join("?" for _ in declared)
    database.executemany(f"INSERT INTO data VALUES ({places})", [list(row.values()) or [None] for row in rows])
    with open(model, encoding="utf-8") as file:
        cursor = database.execute(file.read())
    names = [column[0] for column in cursor.description]
    found = cursor.fetchall()
    return {name: [row[names.index(name)] for row in found] for name in outputs}


def onnx(model, rows, columns, outputs):
    import numpy
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    given = {}
    for column in columns:
        cells = [row[column["name"]] for row in rows]
        if column["holds"] == "text":
            array = numpy.array(["" if cell is None else cell for cell in cells], dtype=object)
        elif column["holds"] == "date":
            array = numpy.array([seconds(cell) for cell in cells], dtype=numpy.float64)
        else:
            array = numpy.array([math.nan if cell is None else cell for cell in cells], dtype=numpy.float64)
        given[column["name"]] = array.reshape(-1, 1)
    names = [output.name for output in session.get_outputs()]
    found = session.run(names, given)
    # A name that a column has too ends otherwise.
    return {wanted: array.reshape(-1).tolist() for wanted, array in zip(outputs, found)}


def excel(model, rows, columns, outputs):
    import formulas
    import numpy

    with open(model, newline="", encoding="utf-8") as file:
        header, line = list(csv.reader(file))
    assert all(cell == "" for cell in line[: len(columns)]), line
    compiled = [formulas.Parser().ast(text)[1].compile() for text in line[len(columns) :]]
    found = {name: [] for name in outputs}
    for row in rows:
        cells = []
        for column in columns:
            cell = row[column["name"]]
            if column["holds"] == "date" and cell is not None:
                cell = seconds(cell) / 86400 + 25569
            cells.append("" if cell is None else cell)
        for formula in compiled:
            values = [cells[place(name)] for name in formula.inputs or []]
            value = formula(*[numpy.array([[v]], dtype=object) for v in values])
            cells.append(numpy.asarray(value, dtype=object).reshape(-1)[0])
        for name, cell in zip(outputs, cells[-len(outputs) :]):
            found[name].append(None if isinstance(cell, formulas.functions.XlError) else plain(cell))
    return found


def plain(cell):
    return str(cell) if isinstance(cell, str) else float(cell)


def place(cell):
    number = 0
    for letter in cell.split("!")[-1].rstrip("2"):
        number = number * 26 + ord(letter.upper()) - ord("A") + 1
    return number - 1


def pmml(model, rows, columns, outputs):
    import pypmml

    loaded = pypmml.Model.fromFile(model)
    found = []
    for row in rows:
        cells = {}
        for column in columns:
            cell = row[column["name"]]
            if cell is not None:
                cells[column["name"]] = seconds(cell) if column["holds"] == "date" else cell
        found.append({name: loaded.predict(cells)[name] for name in outputs})
    return columns_of(found)


def main():
    _, form, model, data, formulas = sys.argv
    if model == "there":
        # Whether the packages are there that run it.
        __import__(MISSING.get(form, "sqlite3"))
        return
    with open(formulas, encoding="utf-8") as file:
        described = json.load(file)
    columns = described["inputs"]
    outputs = [output["name"] for output in described["outputs"]] + (["label"] if described["label"] else [])
    rows = list(rows_of(data, columns))
    found = globals()[form](model, rows, columns, outputs)
    clean = lambda cell: None if isinstance(cell, float) and not math.isfinite(cell) else cell
    json.dump({name: [clean(cell) for cell in cells] for name, cells in found.items()}, sys.stdout)


main()
