"""Writes the examples that are not plain text: the chapters on expenses (PDF) and security (DOCX)."""
# ruff: noqa: INP001 - a script beside the documents that it makes, not a package

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from docx import Document
from docx.document import Document as WordDocument
from fpdf import FPDF

HANDBOOK = Path(__file__).parent / "handbook"
MADE = datetime(2025, 3, 3, 9, 0, tzinfo=UTC)
"""Stands in both files in place of the time of writing, so that they come out the same each time."""

EXPENSES = """
# Expenses

## What is paid back

Marrowby Instruments pays back what you spend for your work, if it was needed, reasonable and shown by a
receipt. The limits for hotels and meals on journeys stand in the chapter on business travel; this chapter is
about everything else and about how you get your money.

A receipt shows the date, the seller, what was bought and the tax. A photograph taken with your phone is
enough; you may throw the paper away after 30 days. For purchases below £10 without a receipt, a line in the
Claims tool that says what it was will do.

## How to claim

Enter a claim in the Claims tool within 60 days of the purchase. Claims that come later than 60 days are paid
only when the finance lead agrees. Your team lead approves claims of up to £500, the head of your department
those of up to £2,500, and the finance lead all above.

Approved claims are paid with the next salary if they are approved by the 20th of the month. Ask finance
(claims@marrowby.example) for an advance when you expect to spend more than £400 on one journey.

## Limits

These limits hold per person and include tax:

| Expense | Limit | Approval |
| Team dinner | £45 a head, 4 times a year | team lead |
| Dinner with customers | £70 a head | team lead, with the guests' names |
| Books and online courses | £350 a year | none |
| Conference with ticket and journey | £1,800 a year | head of department |
| Screen, chair and desk at home | £600 once in 4 years | team lead |
| Mobile phone plan | £25 a month | none |
| Broadband at home | £20 a month, from two home days a week | none |

Gifts to customers may cost up to £40 and are listed in the gift register. Gifts to officials are never paid.

## Company cards

A company card is given to people who spend more than £300 a month for Marrowby. Its limit is £2,000 a month
unless finance sets another. Cash may not be drawn with it. If a receipt is missing for more than 45 days, the
card is blocked until it is there.

Report a lost card to the bank at once (the number is printed in the app) and to finance on the same day.

## What is not paid

Marrowby does not pay for:

- parking fines and speeding tickets
- alcohol, except with a dinner for customers
- upgrades of seats or rooms
- software that is not on the list in the security chapter
- travel between your home and your usual office
"""

SECURITY = """
# Information security

## Passwords and sign-in

Every password at Marrowby has at least 14 characters and is kept in the password manager, Lockbarn. Passwords
need not be changed at fixed intervals; they are changed within a day when they may have become known to
someone else. Sharing an account is not allowed.

Signing in needs a second factor: a hardware key or the Lockbarn app. Codes by text message are not accepted.
Each person gets two hardware keys, one to carry and one to keep at home.

## Laptops and phones

Laptops are encrypted and lock themselves after 5 minutes. Install updates within 7 days; after 14 days the
laptop loses its access to the network. Private phones may be used for mail and chat when they have a six-
digit PIN and are enrolled in device management.

Report a lost or stolen device to the service desk within 4 hours, on +44 113 496 0182 or in the channel
#help-security. It is then locked and wiped from afar. You are not blamed for a report, only for silence.

## Classes of information

Every document belongs to one of four classes:

| Class | Example | May be shared with |
| Public | data sheets, job offers | everyone |
| Internal | this handbook, team notes | everyone at Marrowby |
| Confidential | customer contracts, salaries | named people, encrypted |
| Restricted | calibration keys, health data | named people, on Marrowby devices only |

A document without a mark counts as internal. Confidential paper goes into the grey bins, which are shredded
every Thursday.

## Suspicious messages

When a message asks for money, passwords or haste:

- Do not click and do not answer.
- Press the button Report in your mail program; the security team looks at reports within 30 minutes between
  07:00 and 19:00.
- If you have already clicked or typed a password, call the service desk at once and change the password.

Changes of a supplier's bank account are confirmed by a call to a number that we already know, never to one in
the message. Two people from finance sign them off.

## Visitors and doors

Visitors sign in at the front desk, wear a yellow badge and are not left alone. Your own badge opens the doors
from 06:00 to 21:00; for other hours ask your team lead. A new badge costs you nothing the first time and £15
after that.

## Software and data outside

Only software on the list at intranet/software may be installed. A request for another program is answered
within 5 working days. Company data may not be put into private storage or into online services that are not
on the list. Backups run every night at 01:30 and are kept for 35 days.
"""


def blocks(text: str) -> Iterator[str]:
    """Headings, paragraphs, list items and tables, unwrapped."""
    for block in text.strip().split("\n\n"):
        if block.startswith("|"):
            yield block
        else:
            yield from re.sub(r"\n(?!- )\s*", " ", block).split("\n")


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def pdf(text: str) -> bytes:
    """A PDF with a title and larger headings."""
    paper = FPDF(format="A4")
    paper.creation_date = MADE
    paper.set_margin(22)
    paper.set_auto_page_break(auto=True, margin=25)
    paper.add_page()
    for block in blocks(text):
        if block.startswith("|"):
            _pdf_table(paper, rows(block))
        elif block.startswith("## "):
            _pdf_line(paper, block.removeprefix("## "), size=14, bold=True)
        elif block.startswith("# "):
            paper.set_title(block.removeprefix("# "))
            _pdf_line(paper, block.removeprefix("# "), size=20, bold=True)
        else:
            _pdf_line(paper, block, size=10.5)
    return bytes(paper.output())


def _pdf_line(paper: FPDF, text: str, *, size: float, bold: bool = False) -> None:
    paper.set_font("helvetica", style="B" if bold else "", size=size)
    paper.multi_cell(0, size * 0.5, text, new_x="LMARGIN", new_y="NEXT", align="L")
    paper.ln(2.5)


def _pdf_table(paper: FPDF, cells: list[list[str]]) -> None:
    paper.set_font("helvetica", size=9)
    with paper.table(cells, col_widths=(53, 62, 51), line_height=6, padding=1, text_align="LEFT"):
        pass
    paper.ln(3)


def docx(text: str) -> bytes:
    """A Word document with the styles for title, headings, lists and tables."""
    document = Document()
    document.core_properties.created = document.core_properties.modified = MADE
    for block in blocks(text):
        if block.startswith("|"):
            _docx_table(document, rows(block))
        elif block.startswith("## "):
            document.add_heading(block.removeprefix("## "), 1)
        elif block.startswith("# "):
            document.core_properties.title = block.removeprefix("# ")
            document.add_heading(block.removeprefix("# "), 0)
        elif block.startswith("- "):
            document.add_paragraph(block.removeprefix("- "), style="List Bullet")
        else:
            document.add_paragraph(block)
    written = io.BytesIO()
    document.save(written)
    return _dated(written.getvalue())


def _docx_table(document: WordDocument, cells: list[list[str]]) -> None:
    table = document.add_table(rows=0, cols=len(cells[0]), style="Table Grid")
    for row in cells:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text


def _dated(archive: bytes) -> bytes:
    """The same zip archive with all of its members of one date."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name, MADE.timetuple()[:6]), old.read(name), zipfile.ZIP_DEFLATED)
    return written.getvalue()


if __name__ == "__main__":
    (HANDBOOK / "expenses.pdf").write_bytes(pdf(EXPENSES))
    (HANDBOOK / "security.docx").write_bytes(docx(SECURITY))
