import { boot } from '../boot.ts';
import { failStartup } from '../platform/startup.ts';
import { startWorkers } from './runtime.ts';

try {
  const { services, lifecycle } = await boot('worker', { exclusive: false });
  const workers = await startWorkers(services);
  lifecycle.onClose('workers', (remainingMs) => workers.close(remainingMs));
  services.log.info('the worker is ready');
} catch (error) {
  failStartup(error);
}
