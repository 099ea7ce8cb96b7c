"""A criterion as a program: the concordance of predictions of rows that were held out, in five folds."""

import json
import sys

FOLDS = 5


def say(answer):
    print(json.dumps(answer), flush=True)


def ask(question):
    say(question)
    return json.loads(sys.stdin.readline())


def in_the_wrong_order(predicted, actual):
    """The share of pairs of rows that are predicted in the wrong order, ties counted half."""
    wrong = pairs = 0
    for i in range(len(actual)):
        for j in range(i):
            if actual[i] != actual[j]:
                pairs += 1
                tied = predicted[i] == predicted[j]
                wrong += 0.5 if tied else (predicted[i] > predicted[j]) != (actual[i] > actual[j])
    return wrong / pairs


json.loads(sys.stdin.readline())
say({"vaglio": 1, "data": "json"})

for line in sys.stdin:
    message = json.loads(line)
    if "design" in message:
        target = message["table"]["y0"]
        fold = [row % FOLDS for row in range(len(target))]
        say({"held_out": fold})
        continue
    predicted = [0.0] * len(target)
    for k in range(FOLDS):
        held_out = [row for row, own in enumerate(fold) if own == k]
        training = [row for row, own in enumerate(fold) if own != k]
        question = {"training": training, "held_out": held_out, "columns": message["evaluate"], "lambda": message["lambdas"][0]}
        for row, value in zip(held_out, ask({"retrain": question})["predictions"][0]):
            predicted[row] = value
    say({"score": in_the_wrong_order(predicted, target)})
