"""What goes wrong at Slack when a test wants it to."""

from dataclasses import dataclass, field


@dataclass(kw_only=True, eq=False)
class Fault:
    """How one call, or the next few, of a method go wrong."""

    method: str
    error: str | None = None
    """Slack's refusal with this code."""
    status: int | None = None
    """An HTTP status with a body that is not Slack's."""
    retry_after: int | None = None
    hang: bool = False
    """No response at all, until the client gives up."""
    drop: bool = False
    """The connection is cut."""
    late: bool = False
    """The call takes effect first, and then goes wrong: what was posted stays posted."""
    delay: float = 0.0
    """Seconds before the response; on its own the call succeeds."""
    times: int | None = 1
    """None: for good."""
    skip: int = 0
    """So many calls go well first."""
    struck: int = 0


@dataclass(kw_only=True)
class Faults:
    """Faults in waiting, by method."""

    waiting: list[Fault] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)
    """Methods that this workspace's Slack does not have: `unknown_method`."""

    def next(
        self,
        method: str,
        *,
        error: str | None = None,
        status: int | None = None,
        retry_after: int | None = None,
        hang: bool = False,
        drop: bool = False,
        late: bool = False,
        delay: float = 0.0,
        times: int | None = 1,
        skip: int = 0,
    ) -> Fault:
        """The next call of `method` (after `skip` good ones, `times` in a row) goes wrong as said."""
        fault = Fault(
            method=method,
            error=error,
            status=status,
            retry_after=retry_after,
            hang=hang,
            drop=drop,
            late=late,
            delay=delay,
            times=times,
            skip=skip,
        )
        self.waiting.append(fault)
        return fault

    def clear(self) -> None:
        self.waiting.clear()
        self.unknown.clear()

    def strike(self, method: str) -> Fault | None:
        """The fault that this call meets."""
        for fault in self.waiting:
            if fault.method not in {method, "*"}:
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            fault.struck += 1
            if fault.times is not None:
                fault.times -= 1
                if not fault.times:
                    self.waiting.remove(fault)
            return fault
        return None
