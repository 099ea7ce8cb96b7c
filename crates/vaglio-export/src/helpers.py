def _number(row, name):
    value = row.get(name)
    return math.nan if value is None or value == "" else float(value)


def _text(row, name):
    value = row.get(name)
    return None if value is None or value == "" or value != value else str(value)


def _date(row, name):
    value = row.get(name)
    if value is None or value == "" or value != value:
        return None
    if isinstance(value, str):
        return _moment(value)
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    return value.replace(tzinfo=None) - (value.utcoffset() or datetime.timedelta(0))


def _moment(text):
    form = r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(?:[.,](\d+))?\s*(Z|[+-]\d\d(?::?\d\d)?)?)?"
    found = re.fullmatch(form, text.strip())
    if found is None:
        raise ValueError("no date as in ISO 8601: " + repr(text))
    day, clock, second, fraction, zone = found.groups()
    whole = day + "T" + (clock or "00:00") + (second or ":00") + "." + (fraction or "")[:6].ljust(6, "0")
    moment = datetime.datetime.fromisoformat(whole)
    if zone in (None, "Z"):
        return moment
    digits = zone[1:].replace(":", "").ljust(4, "0")
    ahead = datetime.timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return moment + ahead if zone[0] == "-" else moment - ahead


def _filled(value, by):
    return by if _missing(value) else value


def _ln(value):
    return math.log(value) if value > 0 else math.nan


def _ln1p(value):
    return math.log1p(value) if value > -1 else math.nan


def _level(value, levels, missing, other):
    return missing if _missing(value) else levels.get(value, other)


def _missing(value):
    return value is None or value != value


def _part(date, part):
    if date is None:
        return math.nan
    since = date - datetime.datetime(1970, 1, 1)
    seconds = since.days * 86400 + since.seconds + since.microseconds / 1e6
    return float({
        "seconds": seconds,
        "days": seconds / 86400,
        "year": date.year,
        "month": date.month,
        "day": date.day,
        "weekday": date.isoweekday(),
        "day_of_year": date.timetuple().tm_yday,
        "hour": date.hour,
        "minute": date.minute,
    }[part])


def _between(value, x, y):
    if math.isnan(value):
        return value
    after = bisect.bisect_right(x, value)
    if after == 0 or after == len(x):
        return y[0] if after == 0 else y[-1]
    share = (value - x[after - 1]) / (x[after] - x[after - 1])
    return y[after - 1] + share * (y[after] - y[after - 1])
