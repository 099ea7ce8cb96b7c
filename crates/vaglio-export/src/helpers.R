  rows <- nrow(data)
  refused <- logical(rows)
  checked <- function(cells, x) {
    refused[is.na(x) & !is.nan(x) & !is.na(cells) & cells != ""] <<- TRUE
    x
  }
  number <- function(name) {
    x <- data[[name]]
    if (is.factor(x)) x <- as.character(x)
    checked(x, as.numeric(x))
  }
  text <- function(name) { x <- as.character(data[[name]]); x[!is.na(x) & x == ""] <- NA; x }
  date <- function(name) {
    x <- data[[name]]
    if (inherits(x, "Date")) return(as.numeric(x) * 86400)
    if (inherits(x, "POSIXct")) return(as.numeric(x))
    x <- cells <- trimws(as.character(x))
    day <- "^([0-9]{4}-[0-9]{2}-[0-9]{2})"
    clock <- "([T ]([0-9]{2}:[0-9]{2})(:[0-9]{2}([.,][0-9]+)?)? *(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$"
    x[!grepl(paste0(day, clock), x)] <- NA
    part <- function(number, otherwise) {
      found <- sub(paste0(day, clock), paste0("\\", number), x)
      ifelse(!is.na(found) & found == "", otherwise, found)
    }
    moment <- sub(",", ".", paste0(part(1, ""), " ", part(3, "00:00"), part(4, ":00")))
    zone <- part(6, "Z")
    digits <- substr(paste0(sub(":", "", substring(zone, 2)), "0000"), 1, 4)
    ahead <- as.numeric(substr(digits, 1, 2)) * 3600 + as.numeric(substr(digits, 3, 4)) * 60
    moment <- as.numeric(as.POSIXct(strptime(moment, "%Y-%m-%d %H:%M:%OS", tz = "UTC")))
    checked(cells, ifelse(substr(zone, 1, 1) == "-", moment + ahead, moment - ahead))
  }
  choose <- function(condition, then, otherwise) {
    condition[is.na(condition)] <- FALSE
    ifelse(condition, rep_len(then, length(condition)), rep_len(otherwise, length(condition)))
  }
  filled <- function(x, by) { x[is.na(x)] <- by; x }
  level <- function(x, levels, values, missing, other) {
    found <- values[match(x, levels)]
    found[!is.na(x) & !(x %in% levels)] <- other
    found[is.na(x)] <- missing
    found
  }
  date_part <- function(x, part) {
    when <- as.POSIXlt(x, origin = "1970-01-01", tz = "UTC")
    switch(part, seconds = x, days = x / 86400, year = when$year + 1900, month = when$mon + 1, day = when$mday,
      weekday = (when$wday + 6) %% 7 + 1, day_of_year = when$yday + 1, hour = when$hour, minute = when$min)
  }
