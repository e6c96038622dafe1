"""Why a document could not be taken into the library, in words for the person who sent it."""

from typing import ClassVar

from crag_graph.phrases import Phrase


class DocumentError(Exception):
    """The document cannot be taken in; the message says why in the language that is spoken."""

    problem: ClassVar = Phrase("The document cannot be taken in.")

    def __init__(self, detail: Phrase | str = "", **values: object) -> None:
        """`detail`: what more is to be said, in our words with `values`, or in those of whoever failed."""
        self.detail = detail(**values) if isinstance(detail, Phrase) else detail
        super().__init__(f"{self.problem()} {self.detail}".strip())


class UnreadableError(DocumentError):
    problem: ClassVar = Phrase("The file is damaged, or is not what its name says.")


class EncryptedError(DocumentError):
    problem: ClassVar = Phrase("The file needs a password: remove it and send the file again.")


class NoTextError(DocumentError):
    problem: ClassVar = Phrase("There is no text in it.")


class UnknownEncodingError(DocumentError):
    problem: ClassVar = Phrase("The encoding of the text is not known: save it as UTF-8 and send it again.")


class TooLargeError(DocumentError):
    problem: ClassVar = Phrase("It is larger than is allowed here.")


class UnsupportedError(DocumentError):
    problem: ClassVar = Phrase("Files of this kind are not supported.")


class MissingError(DocumentError):
    problem: ClassVar = Phrase("There is no such file or folder, or it may not be read.")


class NoDocumentError(DocumentError):
    problem: ClassVar = Phrase("The folder holds no file that can be taken in.")
