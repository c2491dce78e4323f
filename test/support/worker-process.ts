import path from 'node:path';
import { boot } from '../../boot.ts';
import type { JobProcessor } from '../../domain/kernel/jobs/jobs.running.ts';
import { processors } from '../../workers/processors.ts';
import { startWorkers } from '../../workers/runtime.ts';

/** A worker like the one that ships, which carries out the kinds of a test's module as well. */
const given = process.argv[2];
const extra: { processors: JobProcessor[] } = given ? await import(path.resolve(given)) : { processors: [] };
const { services, lifecycle } = await boot('worker', { exclusive: false });
const workers = await startWorkers(services, [...processors, ...extra.processors]);
lifecycle.onClose('workers', (remainingMs) => workers.close(remainingMs));
console.info('worker ready');
