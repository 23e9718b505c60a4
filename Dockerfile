# An image of rlrun with its bundled plugins, for linux. "make image" builds it, also
# without Docker. Add plugins in an image of your own: FROM rlrun, COPY the executables
# to /usr/local/bin (docs/machines.md).
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o /rlrun ./cmd/rlrun && mkdir -m 1777 /empty

FROM scratch
COPY --from=build /rlrun /usr/local/bin/rlrun
COPY --from=build /empty /tmp
ENV PATH=/usr/local/bin:/usr/bin:/bin HOME=/tmp
ENTRYPOINT ["/usr/local/bin/rlrun"]
