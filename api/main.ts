import { boot, welcomeFirstAdministrator } from '../boot.ts';
import { failStartup } from '../platform/startup.ts';
import { serve } from './serve.ts';

try {
  const { services, lifecycle } = await boot('api', { exclusive: false });
  const api = await serve(services);
  lifecycle.onClose('API', () => api.close());
  await welcomeFirstAdministrator(services);
  services.log.info({ address: api.address }, 'the API is ready');
} catch (error) {
  failStartup(error);
}
