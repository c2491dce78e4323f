import { boot, ensureFirstAdministrator, loadDemoLandscape } from '../boot.ts';
import { failStartup } from '../platform/startup.ts';
import { serve } from './serve.ts';

try {
  const { services, lifecycle } = await boot('api', { exclusive: false });
  await ensureFirstAdministrator(services);
  await loadDemoLandscape(services);
  const api = await serve(services);
  lifecycle.onClose('API', (remainingMs) => api.close(remainingMs));
  services.log.info({ address: api.address }, 'the API is ready');
} catch (error) {
  failStartup(error);
}
