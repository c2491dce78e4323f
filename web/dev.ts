import { spawn } from 'node:child_process';
import { createServer } from 'vite';
import { generateClient } from '../clients/typescript/generate.ts';
import { writeIcons } from './icons.ts';
import { writeReports } from './reports.ts';
import { writeStyles } from './styles.ts';

// The service with its log, restarted by changes, and the pages with hot reload in front of it.
writeIcons();
writeReports();
writeStyles();
await generateClient();
const service = spawn('node --watch --inspect main.ts | pino-pretty --singleLine --ignore pid,process', {
  shell: true,
  stdio: 'inherit',
});
const pages = await createServer({ configFile: new URL('./vite.config.ts', import.meta.url).pathname });
await pages.listen();
pages.printUrls();
service.once('exit', (code) => process.exit(code ?? 0));
