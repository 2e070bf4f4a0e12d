"""The commands of `matroid-bandits` and the operations of the service, from the program itself."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

    from matroid_bandits.service.dashboard.reference import Field, Part, Route, Shape

# What `matroid-bandits ... --help` says is wrapped at this width on every machine.
WIDTH = 88


def prose(text: str) -> list[nodes.Node]:
    """A text of the help, with code where it has backticks or quotes."""
    found: list[nodes.Node] = []
    for position, part in enumerate(re.split(r"`([^`]+)`", text)):
        if part:
            found.append(nodes.literal("", part) if position % 2 else nodes.Text(part))
    return found


class CommandLine(SphinxDirective):
    """A section for every command."""

    def run(self) -> list[nodes.Node]:
        from matroid_bandits.cli import _parser  # noqa: PLC0415 - after conf.py has run

        parser = _parser()
        (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
        helps = {action.dest: action.help for action in commands._choices_actions}
        lines, sections = [], []
        for name, command in commands.choices.items():
            link = nodes.reference("", "", nodes.literal("", name), refid=f"command-{name}")
            lines.append(row([link], prose(helps.get(name) or "")))
            section = nodes.section(ids=[f"command-{name}"])
            section += nodes.title("", f"matroid-bandits {name}")
            section += list(described(command))
            self.state.document.note_explicit_target(section)
            sections.append(section)
        return [table_of(["command", "what it does"], lines), *sections]


def described(parser: argparse.ArgumentParser) -> Iterator[nodes.Node]:
    """What `--help` shows: usage, description, arguments, example."""
    if parser.description:
        text = parser.description % {"prog": parser.prog}
        for paragraph in text.split("\n\n"):
            yield nodes.paragraph("", "", *prose(paragraph))
    formatter = parser.formatter_class(prog=parser.prog, width=WIDTH)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups)
    usage = formatter.format_help().strip()
    yield nodes.literal_block(usage, usage, language="text")
    for group in parser._action_groups:
        shown = [action for action in group._group_actions if is_shown(action)]
        if shown:
            yield nodes.rubric("", (group.title or "options").capitalize())
            yield arguments(parser, shown)
    if parser.epilog and parser.formatter_class is argparse.RawDescriptionHelpFormatter:
        yield nodes.literal_block(parser.epilog, parser.epilog, language="text")
    elif parser.epilog:
        label, colon, command = parser.epilog.partition(": ")
        if colon and command.startswith("matroid-bandits"):
            yield nodes.paragraph("", label.capitalize() + ":")
            yield nodes.literal_block(command, command, language="sh")
        else:
            yield nodes.paragraph("", "", *prose(parser.epilog))


def is_shown(action: argparse.Action) -> bool:
    return action.help != argparse.SUPPRESS and "--help" not in action.option_strings


def arguments(parser: argparse.ArgumentParser, shown: list[argparse.Action]) -> nodes.Node:
    """A list of arguments; commands of a command are described within it."""
    formatter = parser.formatter_class(prog=parser.prog)
    table = nodes.definition_list(classes=["options"])
    for action in shown:
        term = nodes.term("", "", *invocation(parser, action))
        text = formatter._expand_help(action) if action.help else ""
        words = nodes.definition("", nodes.paragraph("", "", *prose(text)))
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                words += nodes.rubric("", f"{parser.prog} {name}")
                words += list(described(inner))
        table += nodes.definition_list_item("", term, words)
    return table


def invocation(parser: argparse.ArgumentParser, action: argparse.Action) -> list[nodes.Node]:
    """How an argument is written."""
    formatter = parser.formatter_class(prog=parser.prog)
    default = formatter._get_default_metavar_for_optional(action)
    if not action.option_strings:
        name = action.metavar if isinstance(action.metavar, str) else action.dest
        return [nodes.literal("", name)]
    value = "" if action.nargs == 0 else " " + formatter._format_args(action, default)
    return [nodes.literal("", ", ".join(action.option_strings) + value)]


class HttpOperations(SphinxDirective):
    """A section for every operation and every object, from the OpenAPI document of the service."""

    def run(self) -> list[nodes.Node]:
        # Both need the extra `service`.
        from matroid_bandits.service import create_app  # noqa: PLC0415
        from matroid_bandits.service.dashboard.reference import read_reference  # noqa: PLC0415

        reference = read_reference(create_app(":memory:").openapi())
        shapes = {shape.anchor: shape for shape in reference.shapes}
        lines, sections = [], []
        for route in (route for _, routes in reference.groups for route in routes):
            link = nodes.literal("", f"{route.method} {route.path}")
            lines.append(
                row([nodes.reference("", "", link, refid=route.anchor)], prose(route.summary))
            )
            address = nodes.paragraph("", "", link.deepcopy(), nodes.Text(". "))
            address += prose(route.description)
            content: list[nodes.Node] = [address]
            if route.parameters:
                content.append(fields(route.parameters))
            for body in route.bodies:
                sent = nodes.paragraph("", "The body, in JSON: ", *linked(body.kind))
                content += [sent, fields(body.fields)]
            content.append(answers(route, shapes))
            sections.append(self.section(route.anchor, route.summary, content))
        objects: list[nodes.Node] = []
        for shape in shapes.values():
            content = [nodes.paragraph("", "", *prose(shape.description)), fields(shape.fields)]
            objects.append(self.section(shape.anchor, shape.name, content))
        sections.append(self.section("objects", "Objects in requests and answers", objects))
        return [table_of(["request", "what it does"], lines), *sections]

    def section(self, name: str, title: str, content: list[nodes.Node]) -> nodes.section:
        section = nodes.section("", nodes.title("", title), *content, ids=[name])
        self.state.document.note_explicit_target(section)
        return section


def linked(kind: list[Part]) -> list[nodes.Node]:
    """The type of a value, with links to the objects in it."""
    return [
        nodes.reference("", part.text, refid=part.anchor) if part.anchor else nodes.Text(part.text)
        for part in kind
    ]


def fields(rows: list[Field]) -> nodes.table:
    """Parameters, or the fields of an object."""
    lines = []
    for one in rows:
        notes = "; ".join(one.notes)
        text = " ".join(part for part in (one.description, notes and f"({notes})") if part)
        where = [] if one.place == "body" else [nodes.Text(f" (in the {one.place})")]
        name = [nodes.literal("", one.name), *where]
        required = [nodes.Text("yes" if one.is_required else "no")]
        lines.append(row(name, linked(one.kind), required, prose(text)))
    return table_of(["name", "type", "required", "what it is"], lines)


def answers(route: Route, shapes: dict[str, Shape]) -> nodes.table:
    """What comes back, by status; FastAPI's words for success say less than those of the object."""
    lines = []
    for one in route.responses:
        kinds = [body.kind for body in one.bodies if body.kind[0].anchor]
        text = one.description
        if text == "Successful Response":
            text = shapes[kinds[0][0].anchor].description.split("\n")[0] if kinds else "It worked."
        form = linked(kinds[0]) if kinds else [nodes.Text(", ".join(b.media for b in one.bodies))]
        lines.append(row([nodes.literal("", one.status)], prose(text), form))
    return table_of(["status", "meaning", "answer"], lines)


def table_of(titles: list[str], lines: list[nodes.row]) -> nodes.table:
    """A table with the titles of its columns."""
    group = nodes.tgroup("", cols=len(titles))
    group += [nodes.colspec(colwidth=100 // len(titles)) for _ in titles]
    group += nodes.thead("", row(*([nodes.Text(title)] for title in titles)))
    group += nodes.tbody("", *lines)
    return nodes.table("", group, classes=["operations"])


def row(*cells: list[nodes.Node]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", *cell)) for cell in cells))


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directives `command-line` and `http-operations`."""
    app.add_directive("command-line", CommandLine)
    app.add_directive("http-operations", HttpOperations)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
