import { useOneArena } from '../platform/one-arena.ts';

useOneArena();
// all else is loaded once, by the process that stays
const [{ boot, welcomeFirstAdministrator, welcomeNewcomer }, { failStartup }, { tidy }, { serve }] =
  await Promise.all([
    import('../boot.ts'),
    import('../platform/startup.ts'),
    import('../platform/heap.ts'),
    import('./serve.ts'),
  ]);

try {
  const { services, lifecycle } = await boot('api', { exclusive: false });
  await welcomeFirstAdministrator(services);
  await welcomeNewcomer(services);
  const api = await serve(services);
  lifecycle.onClose('API', (remainingMs) => api.close(remainingMs));
  tidy();
  services.log.info({ address: api.address }, 'the API is ready');
} catch (error) {
  failStartup(error);
}
