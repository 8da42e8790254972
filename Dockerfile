# syntax=docker/dockerfile:1
# Unisono and what it needs, in the versions of the lock files. docs/docker.md describes it.
#     docker build --tag unisono:cpu .
#     docker build --tag unisono:cuda --build-arg DEVICES=cuda .

FROM python:3.12-slim AS wheel
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /wheel
COPY requirements/lock-build-py312.txt ./
RUN pip install --no-deps --require-hashes --requirement lock-build-py312.txt
COPY pyproject.toml README.md LICENSE ./
COPY examples examples
COPY src src
RUN pip wheel --no-deps --no-build-isolation --wheel-dir dist .

FROM python:3.12-slim
# "cpu" or "cuda". CUDA's libraries are pip packages: of the machine, only the driver is needed.
ARG DEVICES=cpu
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore \
    NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    PYTHONUNBUFFERED=1
# A layer of its own, of 0.7 GB, or 4.4 GB with CUDA, which a change of Unisono does not touch.
COPY requirements/lock-${DEVICES}-py312.txt /opt/unisono/lock.txt
RUN pip install --no-deps --require-hashes --requirement /opt/unisono/lock.txt
RUN --mount=type=bind,from=wheel,source=/wheel/dist,target=/dist \
    pip install --no-deps /dist/*.whl && unisono --version
RUN useradd --create-home --uid 1000 unisono && install --directory --owner=unisono /app /runs
USER 1000
WORKDIR /app
CMD ["unisono", "doctor"]
