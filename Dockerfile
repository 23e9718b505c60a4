# An image of rlrun with its bundled plugins, for linux. "make image" builds it, also
# without Docker. Plugins come with an image of your own (docs/machines.md).
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
# A copied directory loses its mode, but those in it keep theirs.
RUN mkdir -p /image/usr/local/bin /image/usr/share/doc/rlrun && mkdir -m 1777 /image/tmp && \
    cp LICENSE cmd/rlrun/internal/licensescmd/notices.txt /image/usr/share/doc/rlrun/ && \
    CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /image/usr/local/bin/rlrun ./cmd/rlrun

FROM scratch
LABEL org.opencontainers.image.title=rlrun org.opencontainers.image.licenses=MIT
COPY --from=build /image /
ENV PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp
ENTRYPOINT ["/usr/local/bin/rlrun"]
