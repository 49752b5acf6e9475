#!/usr/bin/env python3
"""Makes C of the page: embed.py OUT.c PAGE.html STYLE.css LIBRARY.js LICENCE SCRIPT.js...

In PAGE.html the words @STYLE@, @LIBRARY@ (with its licence before it) and @SCRIPT@ are replaced;
at @TITLE@, @NOSCRIPT@ and @DATA@ the page is cut into the parts of parts.h.
"""
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def inline(script, path):
    """A script as the content of its element, which no text of its own may end."""
    if re.search(r"</script|<!--", script, re.IGNORECASE):
        sys.exit(f"{path}: holds </script or <!--, which would end its element")
    return script


def array(name, text):
    data = text.encode("utf-8")
    lines = [
        ",".join(str(byte) for byte in data[k : k + 32]) for k in range(0, len(data), 32)
    ]
    return f"static const unsigned char {name}[] = {{\n" + ",\n".join(lines) + "};\n"


def main(out, page, style, library, licence, *scripts):
    licence_text = read(licence).replace("*/", "* /")
    script = "".join(inline(read(path), path) for path in scripts)
    filled = {
        "@STYLE@": read(style),
        "@LIBRARY@": f"/*\n{licence_text}*/\n{inline(read(library), library)}",
        "@SCRIPT@": f'"use strict";\n(() => {{\n{script}}})();\n',
    }
    text = re.sub("@STYLE@|@LIBRARY@|@SCRIPT@", lambda mark: filled[mark[0]], read(page))
    parts = re.split("@TITLE@|@NOSCRIPT@|@DATA@", text)
    if len(parts) != 4:
        sys.exit(f"{page}: must hold @TITLE@, @NOSCRIPT@ and @DATA@ once each")
    with open(out, "w", encoding="utf-8") as file:
        file.write(f"// Made by embed.py from {len(scripts)} scripts: not to be edited.\n")
        file.write('#include "harness/report/parts.h"\n\n')
        for k, part in enumerate(parts):
            file.write(array(f"part_{k}", part))
        places = ", ".join(f"{{part_{k}, sizeof part_{k}}}" for k in range(4))
        file.write(f"const ss_page_part ss_page_parts[SS_PAGE_PARTS] = {{{places}}};\n")


main(*sys.argv[1:])
