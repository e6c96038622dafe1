"""Why a document could not be taken into the library, in words for the person who sent it."""


class DocumentError(Exception):
    """The document cannot be taken in."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(f"{self.__doc__} {detail}".strip())
        self.detail = detail


class UnreadableError(DocumentError):
    """The file is damaged, or is not what its name says."""


class EncryptedError(DocumentError):
    """The file needs a password: remove it and send the file again."""


class NoTextError(DocumentError):
    """There is no text in it."""


class UnknownEncodingError(DocumentError):
    """The encoding of the text is not known: save it as UTF-8 and send it again."""


class TooLargeError(DocumentError):
    """It is larger than is allowed here."""


class UnsupportedError(DocumentError):
    """Files of this kind are not supported."""


class MissingError(DocumentError):
    """There is no such file or folder, or it may not be read."""


class NoDocumentError(DocumentError):
    """The folder holds no file that can be taken in."""
