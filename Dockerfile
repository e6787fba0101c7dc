# One image for the api, the worker and the migrations; the command chooses (docker-compose.yml).
# Debian and not Alpine: Temporal's core and DuckDB are built for glibc.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
FROM ${NODE_IMAGE} AS build
# No package counts its installations here (docs/security.md).
ENV SCARF_ANALYTICS=false DO_NOT_TRACK=1
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY swc.config.json ./
COPY scripts ./scripts
COPY workflows ./workflows
COPY activities ./activities
COPY worker ./worker
COPY src ./src
COPY console ./console
RUN npm run build && node scripts/bundle-workflows.mjs --traced

FROM ${NODE_IMAGE} AS dependencies
ENV SCARF_ANALYTICS=false DO_NOT_TRACK=1
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev
# The packages in the console's bundle are those that its sources import.
COPY console/src ./console/src
COPY scripts/sbom.mjs ./scripts/
RUN node scripts/sbom.mjs > sbom.cdx.json

FROM ${NODE_IMAGE}
# Each of glibc's arenas keeps freed memory: with two of them, and large blocks outside of them, api, worker and graph processes keep
# 100 MB less.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=dependencies /app/sbom.cdx.json ./
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY python ./python
# Graphs live below /app, so that they find its node_modules. Mount your own there, or build an image on this one.
COPY examples ./graphs
ENV GANTRY_CONFIG=/app/graphs/langgraph.json
USER node
EXPOSE 2024
CMD ["node", "dist/src/main.js"]
