# Two stages: what builds stays behind. Nothing is downloaded that requirements/runtime.txt does not name with its hash.
FROM python:3.12-slim AS build
WORKDIR /app
RUN python -m venv /opt/crag
COPY requirements/runtime.txt requirements/
RUN /opt/crag/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements/runtime.txt
COPY pyproject.toml README.md ./
COPY bot bot
COPY crag_graph crag_graph
COPY migrations migrations
COPY examples examples
# Editable, so that the migrations are found beside the packages.
RUN /opt/crag/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation --editable . \
    && /opt/crag/bin/python -m compileall -q bot crag_graph migrations

FROM python:3.12-slim
RUN useradd --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin crag \
    && install --directory --owner crag --group crag --mode 0700 /data
COPY --from=build /opt/crag /opt/crag
COPY --from=build /app /app
WORKDIR /app
ENV PATH=/opt/crag/bin:$PATH \
    HOME=/data \
    PYTHONUNBUFFERED=1 \
    CRAG_DATA_DIR=/data \
    CRAG_HOST=0.0.0.0
USER crag
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["crag"]
CMD ["serve"]
