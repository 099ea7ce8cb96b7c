"""RLScore's GreedyRLS: forward selection by leave-one-out squared error.

python greedy_rls.py ../data/diabetes_train.csv > greedy_rls.txt
"""
import sys

# ANCHOR: select
import numpy as np
import pandas as pd
from rlscore.learner import GreedyRLS

train = pd.read_csv(sys.argv[1])
x, y = train.drop(columns="target"), train["target"]
x = (x - x.mean()) / x.std(ddof=0)

learner = GreedyRLS(x.to_numpy(), y.to_numpy(float), 5, regparam=10.0, bias=1.0)
for column, loss in zip(learner.selected, learner.performances):
    print(f"{x.columns[column]:<4} {loss:.6f}")
# ANCHOR_END: select
