import pg from 'pg';
import { copyLandscape } from '../bench/landscape/copy.ts';
import { openApp } from '../support/harness.ts';
import { testPages } from './pages.ts';

const { t } = await openApp();
const client = new pg.Client({ connectionString: t.services.config.databaseUrl });
await client.connect();
await copyLandscape(client, { cards: 100_000, relations: 300_000, seed: 42 });
await client.end();
await testPages(t, 'large');
