# The best subsets of at most so many columns by residual sum of squares: Rscript lm_subsets.R TABLE.csv LARGEST LIBRARY
arguments <- commandArgs(trailingOnly = TRUE)
library(lmSubsets, lib.loc = arguments[3])
table <- as.matrix(read.csv(arguments[1]))
n <- ncol(table) - 1
x <- table[, 1:n]
y <- table[, n + 1]
largest <- as.integer(arguments[2])
clock <- system.time(found <- lmSubsets_fit(x, y, nmax = largest))
best <- found$submodel$SIZE == largest & found$submodel$BEST == 1
chosen <- which(unlist(found$subset[best, ])) - 1
cat(sprintf(
  '{"columns": [%s], "score": %.17g, "seconds": %.6f, "cpu": %.6f, "version": "%s"}\n',
  paste(chosen, collapse = ", "), found$submodel$RSS[best] / length(y), clock[["elapsed"]], clock[["user.self"]] + clock[["sys.self"]],
  packageVersion("lmSubsets", lib.loc = arguments[3])
))
