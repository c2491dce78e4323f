import { serve } from './api/serve.ts';
import { boot, ensureFirstAdministrator, loadDemoLandscape } from './boot.ts';
import { failStartup } from './platform/startup.ts';
import { startWorkers } from './workers/runtime.ts';

try {
  const { services, lifecycle } = await boot('estate', { exclusive: true });
  const { config } = services;
  const admin = await ensureFirstAdministrator(services);
  if (admin?.password) {
    // before anything else can fail, since it is printed only once
    console.info(
      [
        `Administrator  ${admin.email}`,
        `Password       ${admin.password}`,
        `Shown once; kept in ${config.dataDir}/first-administrator.txt. Lost it? npm run admin:reset`,
        '',
      ].join('\n'),
    );
  }
  await loadDemoLandscape(services);
  const workers = await startWorkers(services);
  lifecycle.onClose('workers', (remainingMs) => workers.close(remainingMs));
  const api = await serve(services);
  lifecycle.onClose('API', (remainingMs) => api.close(remainingMs));
  console.info(`Estate is ready at ${api.address}   API page: ${api.address}/api/docs`);
} catch (error) {
  failStartup(error);
}
