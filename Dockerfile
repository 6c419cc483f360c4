# The campaign site, or the command: `docker run --rm -v "$PWD:/work" cranfield eval qrels.txt a.run`.
FROM python:3.12-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY pyproject.toml CMakeLists.txt README.md LICENSE NOTICE ./
COPY src src
RUN pip wheel --no-cache-dir --wheel-dir /wheels '.[postgres,report,sheets]'

FROM python:3.12-slim-bookworm
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    pip install --no-cache-dir --no-index --find-links /wheels 'cranfield[postgres,report,sheets]' \
    && useradd --create-home --uid 10001 cranfield \
    && install -d -o cranfield -m 700 /site && install -d -o cranfield /work
USER cranfield
WORKDIR /work
VOLUME /site
EXPOSE 8000
ENTRYPOINT ["cranfield"]
CMD ["site", "serve", "/site", "--host", "0.0.0.0"]
