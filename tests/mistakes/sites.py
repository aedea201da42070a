"""Possible mistakes in a C++ source, for scripts/mistakes.

A site is an expression or a statement on one line, and the text that replaces it. Sources are not parsed, because
clang-format's output is regular enough. The build skips replacements that do not compile.
"""

import hashlib
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    path: str
    line: int  # from 1
    begin: int  # of what is replaced, in the line
    end: int
    kind: str
    right: str
    wrong: str
    statement: bool = False

    def hash(self, seed):
        text = f"{seed}:{self.path}:{self.kind}:{self.right}:{self.wrong}:{self.begin}"
        return hashlib.sha256(text.encode()).hexdigest()

    def switched(self, number):
        if self.statement:
            return f"{{ if (!::memoir::mistake({number})) {self.right} }}"
        # Both sides of `? :` must be bool, even if the expression is an optional.
        wrong = f"!!({self.wrong})" if re.fullmatch(r"![\w.:>()-]+", self.right) else self.wrong
        right = f"static_cast<bool>({self.right})" if self.kind == "never" else self.right
        return f"(::memoir::mistake({number}) ? ({wrong}) : ({right}))"


# Binary operators, with the spaces that clang-format puts around them.
OPERATORS = [
    ("comparison", " < ", " <= "), ("comparison", " <= ", " < "), ("comparison", " > ", " >= "),
    ("comparison", " >= ", " > "), ("equality", " == ", " != "), ("equality", " != ", " == "),
    ("logic", " && ", " || "), ("logic", " || ", " && "),
    ("sum", " + ", " - "), ("sum", " - ", " + "), ("product", " * ", " / "), ("product", " / ", " * "),
]  # fmt: skip

STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
NUMBER = re.compile(r"(?<![\w.'])(\d+)(?![\w.'])")
# Lines that contain no expression, or that cannot be switched at run time.
LEFT_ALONE = re.compile(r"^\s*(#|//|\*|template|using|static_assert|case |namespace|enum|inline constexpr|constexpr "
                        r"|static constexpr|typedef|friend|public:|private:)|noexcept|operator|R\"|\bconstexpr\b")
EXPRESSIONS = [
    re.compile(r"^\s*(?:\} else )?(?:if|while) \("),  # to the bracket that closes it
    re.compile(r"^\s*(?:if \(.*\) )?return (?=.*;$)"),  # to the end of the statement
    re.compile(r"^\s*(?:const )?[\w:<>*&., ]*[\w\])] [-+|&]?= (?=.*;$)"),
]
STATEMENT = re.compile(r"^(\s+)([\w.:>\[\]*()-]+?(?:\(.*\)| [-+|&]?= .*|\+\+|--)|(?:\+\+|--)[\w.>\[\]-]+);$")
# The last two change only allocations, and no answer.
NO_STATEMENT = re.compile(r"^(return|throw|break|continue|goto|TRY|static|const|delete|co_|else|if|for|while|switch)\b"
                          r"|^[\w.>()\[\]-]+(?:\.|->)reserve\(|^(?:::)?malloc_trim\(")


def without_strings(line):
    return STRING.sub(lambda found: found.group()[0] + "_" * (len(found.group()) - 2) + found.group()[0], line)


def closing(text, at):
    """Returns the position of the bracket that closes the one before `at`; -1 if it is not on this line."""
    depth = 1
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return -1


def expression_spans(plain):
    for pattern in EXPRESSIONS:
        found = pattern.match(plain)
        if not found:
            continue
        begin = found.end()
        end = closing(plain, begin) if plain[begin - 1] == "(" else len(plain) - 1
        text = plain[begin:end]
        # Declarations and lambdas are no expressions; a comma outside of brackets is a list.
        if end <= begin or re.search(r"[{}\[;]|^\s*(const )?auto|TRY| = ", text):
            continue
        if text.count("(") == text.count(")"):
            yield begin, end, plain[begin - 1] == "("


def wrongs(text, plain, condition):
    """Yields wrong texts for an expression, each with its kind of mistake."""
    for kind, right, wrong in OPERATORS:
        for found in re.finditer(re.escape(right), plain):
            # `<` and `>` of a template have no blanks around them.
            yield kind, text[: found.start()] + wrong + text[found.end():]
    for found in NUMBER.finditer(plain):
        for other in (int(found.group()) + 1, int(found.group()) - 1):
            if other >= 0:
                yield "number", text[: found.start()] + str(other) + text[found.end():]
    for found in re.finditer(r"\b(true|false|min|max)\b", plain):
        other = {"true": "false", "false": "true", "min": "max", "max": "min"}[found.group()]
        if found.group() in ("true", "false") or plain[found.end(): found.end() + 1] in ("(", "<"):
            yield "word", text[: found.start()] + other + text[found.end():]
    for found in re.finditer(r"!(?=[\w(])", plain):
        yield "negation", text[: found.start()] + text[found.end():]
    if condition:
        yield "negation", f"!({text})"
        yield "never", "false"


def sites_of(path, text):
    raw = False
    for number, line in enumerate(text.split("\n"), 1):
        if raw or 'R"' in line:
            raw = ')"' not in line.split('R"')[-1] if 'R"' in line else ')"' not in line
            continue
        if LEFT_ALONE.search(line):
            continue
        code = re.sub(r"\s+// .*$", "", line)
        plain = without_strings(code)
        for begin, end, condition in expression_spans(plain):
            right = code[begin:end]
            for kind, wrong in wrongs(right, plain[begin:end], condition):
                yield Site(path, number, begin, end, kind, right, wrong)
        statement = STATEMENT.match(plain)
        body = plain.strip()
        if statement and not NO_STATEMENT.match(body) and body.count("(") == body.count(")"):
            yield Site(path, number, len(statement.group(1)), len(code), "statement", code.strip(), "", True)


def with_mistakes(text, sites):
    """Returns the source with switches for all (number, site) of `sites`, of which each line may have at most one."""
    lines = text.split("\n")
    for number, site in sites:
        line = lines[site.line - 1]
        lines[site.line - 1] = line[: site.begin] + site.switched(number) + line[site.end:]
    return "\n".join(lines)
