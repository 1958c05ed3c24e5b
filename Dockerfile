# Any Debian-like image with Python 3.11 or newer and its venv module.
ARG BASE=python:3.13-slim

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore
# Certificates of a network that inspects traffic, where the build runs behind one.
ARG NODE_EXTRA_CA_CERTS=
WORKDIR /src
COPY pyproject.toml requirements.lock ./
COPY .ci/container/locked.py .ci/container/
# Only locked versions are installed, each checked by its hash; the test tools are left out.
RUN python3 -m venv /opt/build \
 && python3 -m venv /opt/vitrine \
 && /opt/build/bin/python .ci/container/locked.py build > /tmp/build.txt \
 && /opt/vitrine/bin/python .ci/container/locked.py > /tmp/run.txt \
 && /opt/build/bin/python -m pip install -q --no-deps --require-hashes -r /tmp/build.txt \
 && /opt/vitrine/bin/python -m pip install -q --no-deps --require-hashes --only-binary :all: -r /tmp/run.txt
COPY . .
# Node, which bundles the front end, is one of the build packages and stays in this stage.
RUN /opt/build/bin/python -m pip wheel -q --no-deps --no-build-isolation -w /tmp/wheel . \
 && /opt/vitrine/bin/python -m pip install -q --no-deps /tmp/wheel/*.whl \
 && /opt/vitrine/bin/python -m pip check \
 && /opt/vitrine/bin/python -m pip uninstall -qy pip setuptools

FROM ${BASE}
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin vitrine \
 && install -d -o vitrine -g vitrine -m 0700 /data
COPY --from=build /opt/vitrine /opt/vitrine
ENV PATH=/opt/vitrine/bin:$PATH \
    HOME=/data \
    PYTHONUNBUFFERED=1 \
    VITRINE_DATA_DIR=/data \
    VITRINE_HOST=0.0.0.0
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8420
# http.client: urllib would send this through a proxy that the environment names.
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["python", "-c", "import os, sys; from http.client import HTTPConnection; c = HTTPConnection('127.0.0.1', int(os.environ.get('VITRINE_PORT', '8420')), timeout=4); c.request('GET', '/healthz'); sys.exit(c.getresponse().status != 200)"]
CMD ["vitrine", "serve"]
