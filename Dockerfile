# One image for the api, the worker and the migrations; the command chooses (docker-compose.yml).
# Debian and not Alpine: Temporal's core and DuckDB are built for glibc.
FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY swc.config.json ./
COPY scripts ./scripts
COPY workflows ./workflows
COPY activities ./activities
COPY worker ./worker
COPY src ./src
RUN npm run build && node scripts/bundle-workflows.mjs --traced

FROM node:22-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:22-bookworm-slim
# Each of glibc's arenas keeps freed memory of its own: two are enough, and a worker is 30 MB smaller.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
# Graphs live below /app, so that they find its node_modules. Mount your own there, or build an image on this one.
COPY examples ./graphs
ENV GANTRY_CONFIG=/app/graphs/langgraph.json
USER node
EXPOSE 2024
CMD ["node", "dist/src/main.js"]
