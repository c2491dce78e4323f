import { build } from 'vite';
import { generateClient } from '../clients/typescript/generate.ts';
import { writeIcons } from './icons.ts';
import { writeReports } from './reports.ts';
import { writeStyles } from './styles.ts';

// the pages are compiled against what these write
writeIcons();
writeReports();
writeStyles();
await generateClient();
await build({ configFile: new URL('./vite.config.ts', import.meta.url).pathname, logLevel: 'warn' });
