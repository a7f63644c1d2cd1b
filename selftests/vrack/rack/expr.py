# SPDX-License-Identifier: GPL-2.0
"""Expressions over metrics: calls, numbers, arithmetic, nothing else.

    util(s0.srv)
    rtt_us(p99) - base_rtt_us
    of("verbatim", util) / util          the same seed of another variant
"""
import ast
import inspect
import operator

from .metrics import METRICS, SAMPLED

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
             ast.Div: operator.truediv, ast.USub: operator.neg, ast.UAdd: operator.pos}
FUNCTIONS = {"min": min, "max": max, "abs": abs}


class ExprError(ValueError):
    pass


class NotRun(ExprError):
    """of() names a variant that was left out of this run."""


def parse(text):
    """The expression, checked as far as it can be without a run."""
    try:
        body = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ExprError(f"'{text}' is no expression") from None
    _check(body)
    return body


def evaluate(node, run, others=None):
    """The value for a run; others: variant name -> run of the same seed.

    None when a metric has nothing to tell."""
    try:
        return _value(node, run, others or {})
    except NotRun:
        raise
    except (ValueError, KeyError, TypeError) as error:
        raise ExprError(f"{ast.unparse(node)}: {error}") from None
    except ZeroDivisionError:
        return None


def variants(node):
    """The variants that an expression names with of()."""
    return [_word(call.args[0]) for call in ast.walk(node)
            if isinstance(call, ast.Call) and call.func.id == "of"]


def needs_samples(node):
    """Whether a metric in it is made of samples of flows."""
    return any(name.id in SAMPLED for name in ast.walk(node) if isinstance(name, ast.Name))


def _check(node):
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        _check(node.left)
        _check(node.right)
    elif isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        _check(node.operand)
    elif isinstance(node, ast.Name):
        _check_call(node.id, [], {})
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        _check_named_call(node)
    elif not (isinstance(node, ast.Constant) and isinstance(node.value, (int, float))):
        raise ExprError(f"'{ast.unparse(node)}' cannot stand in an expression")


def _check_named_call(node):
    if node.func.id in FUNCTIONS:
        for argument in node.args:
            _check(argument)
    elif node.func.id == "of":
        if len(node.args) != 2 or node.keywords:
            raise ExprError("of(VARIANT, EXPRESSION) expected")
        _word(node.args[0])
        _check(node.args[1])
    else:
        _check_call(node.func.id, [_word(argument) for argument in node.args],
                    {keyword.arg: _word(keyword.value) for keyword in node.keywords})


def _check_call(name, args, kwargs):
    if name not in METRICS:
        raise ExprError(f"there is no metric '{name}' (--list-metrics names them)")
    try:
        inspect.signature(METRICS[name]).bind(None, *args, **kwargs)
    except TypeError as error:
        raise ExprError(f"{name}: {error}") from None


def _word(node):
    """An argument: a number, or a name with dots taken as text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, str)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_word(node.operand)
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_word(node.value)}.{node.attr}"
    raise ExprError(f"'{ast.unparse(node)}' is neither a number nor a name (quote it)")


def _value(node, run, others):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.BinOp):
        return _apply(OPERATORS[type(node.op)], _value(node.left, run, others),
                      _value(node.right, run, others))
    if isinstance(node, ast.UnaryOp):
        return _apply(OPERATORS[type(node.op)], _value(node.operand, run, others))
    if isinstance(node, ast.Name):
        return METRICS[node.id](run)
    return _call(node, run, others)


def _apply(function, *values):
    return None if None in values else function(*values)


def _call(node, run, others):
    name = node.func.id
    if name in FUNCTIONS:
        return _apply(FUNCTIONS[name], *(_value(item, run, others) for item in node.args))
    if name == "of":
        variant = _word(node.args[0])
        if variant not in others:
            raise NotRun(f"variant '{variant}' was not run")
        return _value(node.args[1], others[variant], others)
    return METRICS[name](run, *(_word(item) for item in node.args),
                         **{item.arg: _word(item.value) for item in node.keywords})
