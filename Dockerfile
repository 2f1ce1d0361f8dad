# syntax=docker/dockerfile:1
FROM oven/bun:1.4.5-debian AS build
WORKDIR /build
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile
COPY tsconfig.json schema.sql README.md CHANGELOG.md LICENSE ./
COPY fixtures fixtures
COPY clients clients
COPY packaging packaging
COPY docs docs
COPY scripts scripts
COPY src src
# `wellhead version` prints these: the build has no Git history.
ARG BUILD_COMMIT
ARG BUILD_DAY
RUN BUILD_COMMIT=$BUILD_COMMIT BUILD_DAY=$BUILD_DAY bun scripts/build.ts

FROM debian:12-slim
RUN groupadd --system --gid 10001 wellhead \
 && useradd --system --uid 10001 --gid wellhead --home-dir /data --shell /usr/sbin/nologin wellhead \
 && install -d -o wellhead -g wellhead -m 0700 /data
COPY --from=build /build/dist/wellhead /usr/local/bin/wellhead
COPY --from=build /build/dist/wellhead.notices.txt /usr/local/share/doc/wellhead/notices.txt
USER wellhead
WORKDIR /data
VOLUME /data
ENV WELLHEAD_DATA_DIR=/data WELLHEAD_SERVER_HOST=0.0.0.0
EXPOSE 8470
# The binary checks its own health: the image needs no curl.
HEALTHCHECK --interval=10s --timeout=4s --start-period=5s CMD ["wellhead", "healthcheck"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["wellhead"]
CMD ["serve"]
