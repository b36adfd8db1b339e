"""Text to rows: Markdown and literal text drawn at a width, a piece at a time.

    pieces      where a growing text can be cut so that each piece is parsed and drawn by itself
    parser      markdown-it, set up once and imported when first needed
    render      a piece of Markdown to rows; inline, tables and highlight draw its parts
    literal     the same two steps for text that is not Markdown
    rows        a row, and how a line is broken into rows
    palette     rows to strips: the only module here that knows colours

All are pure functions of text and width. Rows name their styles, so a change of theme draws nothing again.
"""
