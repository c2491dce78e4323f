import { loadDemo } from '../../domain/app/demo/demo.load.ts';
import { openApp } from '../support/harness.ts';
import { testPages } from './pages.ts';

const { t } = await openApp();
await loadDemo(await t.ctx(), '2026-01-15');
await testPages(t, 'demo');
