import { useOneArena } from '../platform/one-arena.ts';

useOneArena();
// all else is loaded once, by the process that stays
const [{ boot }, { failStartup }, { tidy }, { startWorkers }] = await Promise.all([
  import('../boot.ts'),
  import('../platform/startup.ts'),
  import('../platform/heap.ts'),
  import('./runtime.ts'),
]);

try {
  const { services, lifecycle } = await boot('worker', { exclusive: false });
  const workers = await startWorkers(services);
  lifecycle.onClose('workers', (remainingMs) => workers.close(remainingMs));
  tidy();
  services.log.info('the worker is ready');
} catch (error) {
  failStartup(error);
}
