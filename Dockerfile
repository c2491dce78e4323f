# The pages are built with the development packages, which the image does not need.
FROM node:24-bookworm-slim AS web
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN node web/build.ts

FROM node:24-bookworm-slim

WORKDIR /app

# Packages change more seldom than sources, so they are a layer of their own. The pinned runtime among the
# development dependencies is left out: the image is the runtime.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force

COPY . .
COPY --from=web /app/web/dist web/dist

# Files of imports and exports. A new volume takes over the owner of this folder.
RUN install -d -o node -g node /data
VOLUME /data

ENV HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
EXPOSE 8080
USER node

HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=6 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/health/ready`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

# node itself is started, not npm, so that SIGTERM reaches it and the process drains before it ends.
CMD ["node", "--min-semi-space-size=8", "--max-semi-space-size=8", "--heap-growing-percent=30", "api/main.ts"]
