# docker build -t parley . && docker run -p 8080:8080 -v parley:/home/parley/data -e PARLEY_WEB_TOKEN=… parley
FROM python:3.13-slim AS build
COPY --from=ghcr.io/astral-sh/uv:0.13 /uv /bin/uv
ENV UV_COMPILE_BYTECODE=1 UV_LINK_MODE=copy UV_PYTHON_DOWNLOADS=never UV_PROJECT_ENVIRONMENT=/opt/parley
WORKDIR /src
COPY pyproject.toml uv.lock ./
RUN uv sync --frozen --no-default-groups --no-install-project
COPY . .
RUN uv sync --frozen --no-default-groups --no-editable
# What the image contains: docker run --rm --entrypoint cat parley /opt/parley/parley.cdx.json
RUN uv export --frozen --no-default-groups --preview-features sbom-export --format cyclonedx1.5 --quiet \
    --output-file /opt/parley/parley.cdx.json

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 parley && install -d -o parley -g parley -m 700 /home/parley/data
COPY --from=build /opt/parley /opt/parley
ENV PATH=/opt/parley/bin:$PATH PARLEY_HOME=/home/parley/data PARLEY_HOST=0.0.0.0 PYTHONUNBUFFERED=1
USER parley
WORKDIR /home/parley
VOLUME /home/parley/data
EXPOSE 8080
HEALTHCHECK --start-period=20s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/healthz', timeout=3)"]
ENTRYPOINT ["parley"]
CMD ["serve"]
