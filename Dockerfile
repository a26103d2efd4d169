# docker build -t parley . && docker run -p 8080:8080 -v parley:/home/parley/data -e PARLEY_WEB_TOKEN=… parley
# With a read-only root file system: docker run --read-only --tmpfs /tmp …; compose.yaml does so.
#
# The base image is named by tag, because its digest changes with each security fix. To pin it (docs/operations.md):
# docker build --build-arg PYTHON_IMAGE=python:3.13-slim-trixie@sha256:… -t parley .
ARG PYTHON_IMAGE=python:3.13-slim-trixie

FROM ${PYTHON_IMAGE} AS build
# uv from PyPI, for x86-64 and ARM: nothing else is installed than what these hashes and those of uv.lock allow.
RUN printf '%s ' uv==0.13.9 \
      --hash=sha256:d7f459fe4fd247d830351c75686d3996ace3c6f3f728eb0e85a30b7ada0cef19 \
      --hash=sha256:5435c5ce14a56431208ca0996416d310f1598e8c2c8ba707688985a16bb82dbe > /tmp/uv.txt \
 && pip install --no-cache-dir --require-hashes --no-deps -r /tmp/uv.txt
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_NO_CACHE=1 UV_PROJECT_ENVIRONMENT=/opt/parley
WORKDIR /src
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-default-groups --no-install-project
COPY . .
# What the image contains: docker run --rm --entrypoint cat parley /opt/parley/parley.cdx.json
RUN uv sync --frozen --no-default-groups --no-editable \
 && uv export --frozen --no-default-groups --preview-features sbom-export --format cyclonedx1.5 --quiet \
    --output-file /opt/parley/parley.cdx.json

FROM ${PYTHON_IMAGE}
# The user has no shell and a number, so that an orchestrator can see that it is not root.
RUN useradd --create-home --uid 10001 --shell /usr/sbin/nologin parley \
 && install -d -o parley -g parley -m 700 /home/parley/data
COPY --from=build /opt/parley /opt/parley
# Everything is compiled. Libraries that want to keep something do it in /tmp.
ENV PATH=/opt/parley/bin:$PATH PARLEY_HOME=/home/parley/data PARLEY_HOST=0.0.0.0 PARLEY_LOG=stderr \
    PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=/tmp/cache
USER 10001:10001
WORKDIR /home/parley
VOLUME /home/parley/data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen('http://127.0.0.1:' + os.environ.get('PARLEY_PORT', '8080') + '/healthz', timeout=3)"]
ENTRYPOINT ["parley"]
CMD ["serve"]
