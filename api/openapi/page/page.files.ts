import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { sha256 } from '../../../platform/crypto.ts';

/** Swagger UI from `@fastify/swagger-ui`, served from here so that the page works offline. */
const files: Record<string, { from: string; mediaType: string }> = {
  'page.html': { from: './page.html', mediaType: 'text/html; charset=utf-8' },
  'page.css': { from: './page.css', mediaType: 'text/css; charset=utf-8' },
  'page.js': { from: './page.js', mediaType: 'text/javascript; charset=utf-8' },
  'page.svg': { from: './page.svg', mediaType: 'image/svg+xml' },
  'swagger-ui.css': {
    from: '@fastify/swagger-ui/static/swagger-ui.css',
    mediaType: 'text/css; charset=utf-8',
  },
  'swagger-ui-bundle.js': {
    from: '@fastify/swagger-ui/static/swagger-ui-bundle.js',
    mediaType: 'text/javascript; charset=utf-8',
  },
};

export interface PageFile {
  content: Buffer;
  mediaType: string;
  etag: string;
}

/** Returns the files of the API page by name; each is read on the first request and cached. */
export function createPageFiles(): (name: string) => Promise<PageFile | undefined> {
  const read = new Map<string, Promise<PageFile>>();
  return async (name) => {
    const file = Object.hasOwn(files, name) ? files[name] : undefined;
    if (!file) return undefined;
    if (!read.has(name)) read.set(name, load(file.from, file.mediaType));
    return read.get(name);
  };
}

async function load(from: string, mediaType: string): Promise<PageFile> {
  const content = await readFile(fileURLToPath(import.meta.resolve(from)));
  return { content, mediaType, etag: `"${sha256(content).slice(0, 32)}"` };
}
