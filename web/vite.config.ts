import { createReadStream, createWriteStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress, createGzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const here = import.meta.dirname;

/** Where the service runs while pages are developed. */
const service = process.env.ESTATE_URL ?? 'http://127.0.0.1:8080';

/** Writes each text of the build compressed beside it, as it is sent. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    async writeBundle({ dir }) {
      const folder = path.join(dir!, 'assets');
      const names = (await readdir(folder)).filter((name) => /\.(js|css|svg|json)$/.test(name));
      await Promise.all(
        names.flatMap((name) => {
          const file = path.join(folder, name);
          const brotli = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });
          return [
            pipeline(createReadStream(file), brotli, createWriteStream(`${file}.br`)),
            pipeline(createReadStream(file), createGzip({ level: 9 }), createWriteStream(`${file}.gz`)),
          ];
        }),
      );
    },
  };
}

/** Lets the browser read and compile the pages' frame while the entry asks the service. */
function preloaded(): Plugin {
  return {
    name: 'preloaded',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const chunks = Object.values(bundle).filter((one) => one.type === 'chunk');
        const frame = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith('/src/app.tsx'))!;
        return [frame.fileName, ...frame.imports]
          .filter((name) => !html.includes(name))
          .map((name) => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `/${name}` },
            injectTo: 'head' as const,
          }));
      },
    },
  };
}

export default defineConfig({
  root: here,
  plugins: [react(), compressed(), preloaded()],
  build: {
    outDir: path.join(here, 'dist'),
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: {
          // what most pages share is one file, not one for each set of pages that share something
          groups: [
            { name: 'entry', test: /preload-helper/, priority: 1 },
            { name: 'shared', test: /node_modules/, minShareCount: 9 },
            { name: 'kit', test: /web\/src\/(kit|messages)\//, minShareCount: 9 },
          ],
        },
      },
      // else the build succeeds, and the page that needs the package fails in the browser
      onwarn(warning, warn) {
        if (warning.code === 'UNRESOLVED_IMPORT') throw new Error(warning.message);
        warn(warning);
      },
    },
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: { '/api': { target: service, changeOrigin: false } },
  },
});
